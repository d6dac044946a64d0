import type { LogLevelName, LogRow } from './logs.js';
import type { EpochMs, EraName, JsonText, Seq, ServerQuery } from './words.js';

export interface CallRequest {
  readonly method: string;
  readonly params: JsonText;
  readonly server?: string;
  /** Default 60,000. */
  readonly timeoutMs?: number;
  /** Progress renews the timeout, up to this. Default one hour. */
  readonly maxTimeoutMs?: number;
  /** The server is asked for logs of this call. */
  readonly logLevel?: LogLevelName;
  /** Makes the call with a client of the other era, through a bridge. */
  readonly lens?: boolean;
}

/** Inspect: sends exactly these bytes on the connection to the server, and waits for nothing. */
export interface BytesRequest {
  readonly bytes: string;
}

export interface Begun {
  /** 0 for bytes. */
  readonly call: number;
}

export interface CallsQuery extends ServerQuery {
  readonly state?: 'open' | 'done';
  readonly tool?: string;
  readonly caller?: string;
  readonly outcome?: OutcomeName;
  /** Calls before this one. */
  readonly before?: number;
  /** At most 500. Default 100. */
  readonly limit?: number;
}

export interface CallsPage {
  readonly calls: readonly CallRow[];
  /** There are older ones. */
  readonly more: boolean;
}

export type OutcomeName = 'ok' | 'tool_error' | 'error' | 'cancelled' | 'input_required';

export interface CallRow {
  readonly id: number;
  readonly server?: string;
  readonly method: string;
  readonly tool?: string;
  readonly prompt?: string;
  readonly uri?: string;
  readonly client?: {
    readonly era: EraName;
    readonly revision: string;
    readonly principal?: string;
    readonly name?: string;
  };
  readonly upstream?: {
    readonly era: EraName;
    /** Empty where only the era is known. */
    readonly revision: string;
    readonly pid?: number;
    readonly generation?: number;
  };
  /** `waiting`: for a free place. `asking`: for an answer to a question. */
  readonly state: 'waiting' | 'running' | 'asking' | 'done';
  /** The place in the line, from 1, while `waiting`. */
  readonly place?: number;
  readonly began: EpochMs;
  /** How long it took. Absent until it is over. */
  readonly ms?: number;
  readonly outcome?: OutcomeName;
  /** `tool_error`, `-32602`, `TIMED_OUT` … */
  readonly errorType?: string;
  readonly code?: number;
  readonly message?: string;
  /** Of an error of ours: whether the request may have reached the server. */
  readonly sent?: 'no' | 'maybe';
  readonly progress?: ProgressView;
  readonly lens?: boolean;
  /** The page made it, not a client of the gateway. */
  readonly own: boolean;
  readonly replica?: string;
}

export interface ProgressView {
  readonly progress: number;
  readonly total?: number;
  readonly message?: string;
}

export interface CallDetail extends CallRow {
  /** As it was typed, or as it came. Payloads of clients of a gateway need `record`. */
  readonly params?: JsonText;
  readonly progressed: readonly (ProgressView & { readonly at: EpochMs })[];
  readonly logs: readonly LogRow[];
  readonly questions: readonly AnsweredQuestion[];
  readonly frames: readonly Seq[];
  /** The result as it came. Over 1 MiB its beginning; `resultBytes` is the whole length. */
  readonly result?: JsonText;
  readonly resultBytes?: number;
  readonly error?: { readonly code: number | string; readonly message: string; readonly data?: unknown };
  /** Whether `structuredContent` fits the `outputSchema` of the tool. */
  readonly structured?: { readonly matches: boolean; readonly problem?: string };
}

/** A server asks. `params` are those of `elicitation/create` or `sampling/createMessage`. */
export interface QuestionView {
  readonly id: number;
  readonly kind: 'form' | 'url' | 'sampling';
  /** 0: it belongs to no call. */
  readonly call: number;
  readonly server?: string;
  /** The name that the server gives itself, and the tool that led to it. */
  readonly asker: string;
  readonly tool?: string;
  readonly params: Readonly<Record<string, unknown>>;
  readonly since: EpochMs;
}

/** Of a form or a page: `action`, with `content` where it is accepted. Of sampling: `result`. Of each: `error`. */
export type QuestionAnswer =
  | { readonly action: 'accept' | 'decline' | 'cancel'; readonly content?: JsonText }
  | { readonly result: JsonText }
  | { readonly error: { readonly code: number; readonly message: string } };

export interface AnsweredQuestion extends QuestionView {
  readonly over?: { readonly at: EpochMs; readonly why: 'answered' | 'withdrawn' | 'ended' };
  /** As it was sent. */
  readonly answer?: JsonText;
}
