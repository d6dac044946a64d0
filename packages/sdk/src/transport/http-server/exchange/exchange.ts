import type { RequestFacts } from '../../../exchange/call.js';

/** One HTTP request and its answer, independent of the HTTP library. Header names are in lower case. */
export interface HttpExchange {
  readonly method: string;
  /** Path and query. */
  readonly target: string;
  /** `target` as the client wrote it, where that differs. Relative references depend on its slashes. */
  readonly written?: string | undefined;
  /** Whether the request arrived on a loopback address; undefined where that is not known. */
  readonly isLocal: boolean | undefined;
  /** The address of the client, where that is known. */
  readonly remote?: string | undefined;
  header(name: string): string | undefined;
  /** All that a handler may read of the request. */
  facts(): RequestFacts;
  /** Reads the body, once. A callback: a promise for each request is a measurable part of a small call. */
  body(maxBytes: number, onBody: (body: HttpBody) => void): void;
  /** Sends the whole answer. The parts of a body are sent one after the other. */
  respond(status: number, headers: HttpHeaders, body?: string | readonly string[]): void;
  /** Begins an answer that is written piece by piece. */
  stream(status: number, headers: HttpHeaders): HttpStream;
  /** Calls back once, when the client has gone before the answer was complete. */
  onGone(callback: () => void): void;
  /** Calls back once, when the answer is complete or the client has gone. */
  onOver(callback: () => void): void;
}

export type HttpHeaders = Readonly<Record<string, string>>;

export type HttpBody =
  | { readonly kind: 'bytes'; readonly bytes: Buffer }
  | { readonly kind: 'too-large' }
  /** The client went away, or took too long. */
  | { readonly kind: 'gone' };

export interface HttpStream {
  /** How much the client has yet to take. */
  readonly waiting: number;
  write(text: string): void;
  /** Writes out what waits, then ends the answer. */
  end(): void;
  onDrain(callback: () => void): void;
}

/** The facts of a request that has only headers. */
export function plainFacts(headers: Iterable<readonly [string, string]>): RequestFacts {
  return { headers: Object.fromEntries(headers), scopes: undefined, claims: undefined, sessionId: undefined };
}
