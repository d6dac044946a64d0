/**
 * Two kinds of failure, which callers can tell apart (ERR-010): a `ProtocolError` travels on the wire and has a number as
 * its code; an `IsthmusError` happened on this side and has a word as its code.
 */

/** A JSON-RPC error. Throw it in a handler to answer with exactly this code. */
export class ProtocolError extends Error {
  override readonly name = 'ProtocolError';
  readonly code: number;
  readonly data: unknown;
  /** The HTTP status of the answer, if that was an error status. */
  readonly status: number | undefined;

  constructor(code: number, message: string, data?: unknown, status?: number) {
    super(message);
    this.code = code;
    this.data = data;
    this.status = status;
  }
}

export type LocalErrorCode =
  /** An option or a definition is invalid; the message says which. */
  | 'INVALID_OPTION'
  /** The peer cannot do what was asked of it (legacy; in the modern era this is error -32021). */
  | 'CAPABILITY_MISSING'
  /** The peer answered a question with an error; the `cause` is what it sent. */
  | 'REFUSED_BY_PEER'
  /** The connection ended before the answer came. */
  | 'CONNECTION_CLOSED'
  /** No answer within the time allowed. */
  | 'TIMED_OUT'
  /** The caller no longer wants the answer. */
  | 'CANCELLED'
  /** A bounded resource is used up. */
  | 'BUSY'
  /** The server needs credentials, or rejects those that were sent (401, 403). */
  | 'UNAUTHORIZED'
  /** The answer was an HTTP status without a JSON-RPC message; the error has the status. */
  | 'HTTP_STATUS'
  /** The address cannot be listened on or reached. */
  | 'ADDRESS_UNAVAILABLE'
  /** A value cannot be written as JSON. */
  | 'NOT_ENCODABLE'
  /** The server's process ended; the message has its exit code and the last lines of its stderr. */
  | 'CHILD_EXITED'
  /** The system refused to start the server's process; the `cause` has its code (ENOENT, EACCES, EAGAIN …). */
  | 'CANNOT_START'
  /** The server's process ended too often in a row and is not restarted automatically. */
  | 'CRASH_LOOP'
  /** The server is switched off. */
  | 'DISABLED'
  /** Client and server have no revision in common; the message lists the revisions of each. */
  | 'NO_COMMON_REVISION'
  /** The answer breaks the protocol or the tool's output schema. */
  | 'INVALID_RESULT'
  /** The answer was longer than the limit for a line. */
  | 'RESULT_TOO_LARGE'
  /** The server asked for input more often than allowed. */
  | 'TOO_MANY_ROUNDS'
  /** The server asked for something that this client did not declare. */
  | 'CANNOT_ANSWER'
  /** The era of the peer does not have this feature. */
  | 'NOT_IN_THIS_ERA';

/** Whether a request may have reached the peer before it failed: only `no` makes a retry safe. */
export type Sent = 'no' | 'maybe';

export interface IsthmusErrorOptions {
  readonly cause?: unknown;
  readonly sent?: Sent | undefined;
  readonly evidence?: readonly string[] | undefined;
  readonly generation?: number | undefined;
  readonly stderrTail?: string | undefined;
  readonly status?: number | undefined;
  readonly scopes?: readonly string[] | undefined;
}

/** A failure on this side of the wire, with a stable code. */
export class IsthmusError extends Error {
  override readonly name = 'IsthmusError';
  readonly code: LocalErrorCode;
  /** Set if the failure concerns a request. */
  readonly sent: Sent | undefined;
  /** The outcome of each step, if connecting took several. */
  readonly evidence: readonly string[] | undefined;
  /** The number of the process start in which it happened, if a host counts them. */
  readonly generation: number | undefined;
  /** The HTTP status, if there was one. */
  readonly status: number | undefined;
  /** The last lines that the server's process wrote to stderr, if the failure concerns a process. */
  readonly stderrTail: string | undefined;
  /** The scopes that the server wants for the request, if the login does not have them. */
  readonly scopes: readonly string[] | undefined;

  constructor(code: LocalErrorCode, message: string, options?: IsthmusErrorOptions) {
    super(message, options);
    this.code = code;
    this.sent = options?.sent;
    this.evidence = options?.evidence;
    this.generation = options?.generation;
    this.status = options?.status;
    this.stderrTail = options?.stderrTail;
    this.scopes = options?.scopes;
  }

  /** A copy of this error with more details. */
  with(options: Omit<IsthmusErrorOptions, 'cause'>): IsthmusError {
    const { sent, evidence, generation, stderrTail, status, scopes } = this;
    const known = { sent, evidence, generation, stderrTail, status, scopes };
    return new IsthmusError(this.code, this.message, { ...known, cause: this.cause, ...options });
  }
}

/** Why a file cannot be used, in words where the error of the system is a common one. It may have the path. */
export function fileReason(thrown: unknown): string {
  const { code } = (thrown ?? {}) as NodeJS.ErrnoException;
  return FILE_REASONS[code ?? ''] ?? messageOf(thrown);
}

/**
 * Why a file cannot be read, without the path that the system puts into its message: the path may be a secret that was
 * given in the place of a path by mistake.
 */
export function reasonWithoutPath(thrown: unknown): string {
  const { code, syscall } = (thrown ?? {}) as NodeJS.ErrnoException;
  if (typeof code !== 'string' || typeof syscall !== 'string') return 'it is not a file path';
  return FILE_REASONS[code] ?? messageOf(thrown).split(`, ${syscall}`)[0]!;
}

const FILE_REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file',
  ENOTDIR: 'there is no such file',
  EISDIR: 'it is a folder',
  EACCES: 'permission denied',
  EPERM: 'permission denied',
};

/** The message of any thrown value. Never a stack, and never throws itself. */
export function messageOf(thrown: unknown): string {
  try {
    if (thrown instanceof Error) return String(thrown.message) || String(thrown.name);
    if (typeof thrown === 'string') return thrown;
    if (thrown === undefined) return 'unknown error';
    return typeof thrown === 'object' ? JSON.stringify(thrown) : String(thrown);
  } catch {
    return 'unknown error (the thrown value cannot be printed)';
  }
}
