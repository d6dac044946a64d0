/** One HTTP request and its answer, whatever library carries it. Header names are lower case. */
export interface HttpExchange {
  readonly method: string;
  /** Path and query. */
  readonly target: string;
  /** The same as the client wrote it, where `target` is not that: what is told relative to it depends on its slashes. */
  readonly written?: string | undefined;
  /** Where the request came in: true on a loopback address, undefined where that is not known. */
  readonly isLocal: boolean | undefined;
  /** The address of the client, where that is known. */
  readonly remote?: string | undefined;
  header(name: string): string | undefined;
  /** Reads the body, once. */
  body(maxBytes: number): Promise<HttpBody>;
  /** Answers at once. A body in parts is that of all parts one after the other. */
  respond(status: number, headers: HttpHeaders, body?: string | readonly string[]): void;
  /** Answers piece by piece. */
  stream(status: number, headers: HttpHeaders): HttpStream;
  /** Calls back, once, when the client has gone before the answer was complete. */
  onGone(callback: () => void): void;
  /** Calls back, once, when the answer is complete or the client has gone. */
  onOver(callback: () => void): void;
}

export type HttpHeaders = Readonly<Record<string, string>>;

export type HttpBody =
  | { readonly kind: 'bytes'; readonly bytes: Buffer }
  | { readonly kind: 'too-large' }
  /** The client went away, or took too long. */
  | { readonly kind: 'gone' };

export interface HttpStream {
  /** How much waits to be taken by the client. */
  readonly waiting: number;
  write(text: string): void;
  /** Writes out what waits, then ends the answer. */
  end(): void;
  onDrain(callback: () => void): void;
}
