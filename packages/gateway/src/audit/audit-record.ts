/** How a call ended, for the audit log. */
export type AuditOutcome =
  | 'ok'
  | 'input_required'
  | 'tool_error'
  | 'error'
  | 'cancelled'
  /** The person did not agree: to open a page, to a consent, or to a login. */
  | 'declined'
  /** The call has become a task. Another line says how the task ended. */
  | 'task'
  /** The end of a task. A cancelled one is `cancelled`. */
  | 'completed'
  | 'failed'
  /** The rules do not let the caller do this. */
  | 'denied'
  /** The token does not have the scopes. */
  | 'insufficient_scope'
  /** The caller has sent no credential, or none that is valid here. */
  | 'unauthenticated';

/** One line of the audit log: who did what, where, and how it ended. It has no arguments unless they were asked for. */
export interface AuditRecord {
  /** ISO 8601, when it ended. */
  readonly time: string;
  /** The trace that the call belongs to, or an id of its own. A refused client gets it, too. The end of a task has that of its call. */
  readonly correlationId: string;
  /** Undefined: callers are not authenticated. */
  readonly principal: string | undefined;
  /** The OAuth client of the token. */
  readonly clientId: string | undefined;
  readonly remote: string | undefined;
  readonly server: string | undefined;
  /** Of the call; `connect/identity`, `connect/consent` and `connect/login` for a page at which a caller logs in to a server; `console/enter`. */
  readonly method: string | undefined;
  readonly tool: string | undefined;
  readonly prompt: string | undefined;
  readonly uri: string | undefined;
  readonly outcome: AuditOutcome;
  /** What went wrong: `-32602`, `TIMED_OUT`, `The token has expired`. */
  readonly error: string | undefined;
  /** The scopes that were needed and missing. With a consent and a login: those that the person was shown. */
  readonly scopes: readonly string[] | undefined;
  readonly durationMs: number | undefined;
  /** How many refusals it stands for, after the one that has the same correlation id. */
  readonly count?: number | undefined;
  /** JSON without secrets, and cut where it is long. */
  readonly arguments?: string | undefined;
}

/** Takes the records of a gateway. */
export interface AuditSink {
  /** Whether anything reads the records now. It is asked with every call, so it must be cheap. */
  isActive(): boolean;
  write(record: AuditRecord): void;
  /** Settles when what was written is safe, or after a bounded time. */
  close(): Promise<void>;
}

/** What the stages of a gateway need to write records. */
export interface CallAudit {
  /** Whether records are wanted now. */
  isActive(): boolean;
  write(record: AuditRecord): void;
  /** Writes down a refusal, or counts it together with others. Returns the id by which the log knows it. */
  refuse(record: AuditRecord): string;
  /** The arguments of a call, if they are wanted: as JSON without secrets. */
  argumentsOf?(params: unknown): string | undefined;
}
