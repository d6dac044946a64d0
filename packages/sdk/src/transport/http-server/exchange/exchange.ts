import type { RequestFacts } from '../../../exchange/call.js';
import type { JsonObject } from '../../../wire/json-rpc.js';

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
  /** The trusted proxy that has named the client. Undefined: the request came from `remote` itself. */
  readonly via?: string | undefined;
  /** A trusted proxy has sent it for this client. */
  cameFor?(client: string): void;
  header(name: string): string | undefined;
  /** Whether a header that may only come once came more often. */
  isRepeated?(name: string): boolean;
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
  /** Bytes are the answer of another process, as it came. */
  write(text: string | Uint8Array): void;
  /** Writes out what waits, then ends the answer. */
  end(): void;
  /** Breaks the answer off, so that the client sees that it is not whole. */
  cut(): void;
  onDrain(callback: () => void): void;
}

/** The facts of a request. `headers` is called when the headers are wanted, because few calls look at them. */
export class ExchangeFacts implements RequestFacts {
  readonly #read: () => Iterable<readonly [string, string]>;
  #headers: Readonly<Record<string, string>> | undefined;
  readonly scopes: readonly string[] | undefined;
  readonly clientId: string | undefined;
  readonly claims: JsonObject | undefined;
  readonly sessionId: string | undefined;
  readonly handedOnBy: string | undefined;

  constructor(
    read: () => Iterable<readonly [string, string]>,
    { scopes, clientId, claims, sessionId, handedOnBy }: Partial<Omit<RequestFacts, 'headers'>> = {},
  ) {
    this.#read = read;
    this.scopes = scopes;
    this.clientId = clientId;
    this.claims = claims;
    this.sessionId = sessionId;
    this.handedOnBy = handedOnBy;
  }

  get headers(): Readonly<Record<string, string>> {
    this.#headers ??= Object.fromEntries(this.#read());
    return this.#headers;
  }
}

/** The same facts of a request that belongs to a session. */
export function factsInSession(facts: RequestFacts, sessionId: string): RequestFacts {
  const { scopes, clientId, claims, handedOnBy } = facts;
  const more = { scopes, clientId, claims, sessionId, handedOnBy };
  return new ExchangeFacts(() => Object.entries(facts.headers), more);
}
