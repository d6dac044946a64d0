import type { HttpBody, HttpExchange, HttpHeaders, HttpStream } from './exchange.js';
import type { GrantWatch } from './grant-watch.js';
import type { Grant } from './options.js';

/**
 * An exchange of a caller whose token can end. When it does, the streams that it opened end as if the client had gone,
 * with a comment that says why; its next request is refused.
 */
export class GrantedExchange implements HttpExchange {
  readonly grant: Grant;
  readonly #inner: HttpExchange;
  readonly #watch: GrantWatch;
  #gone: (() => void)[] | undefined;
  #stream: HttpStream | undefined;

  constructor(inner: HttpExchange, grant: Grant, watch: GrantWatch) {
    this.#inner = inner;
    this.grant = grant;
    this.#watch = watch;
  }

  get method(): string {
    return this.#inner.method;
  }

  get target(): string {
    return this.#inner.target;
  }

  get written(): string | undefined {
    return this.#inner.written;
  }

  get isLocal(): boolean | undefined {
    return this.#inner.isLocal;
  }

  get remote(): string | undefined {
    return this.#inner.remote;
  }

  /** Nothing but news comes on it: a call that runs may finish with a token that has expired meanwhile. */
  get isSubscription(): boolean {
    return this.method === 'GET' || this.header('mcp-method')?.trim() === 'subscriptions/listen';
  }

  header(name: string): string | undefined {
    return this.#inner.header(name);
  }

  body(maxBytes: number): Promise<HttpBody> {
    return this.#inner.body(maxBytes);
  }

  respond(status: number, headers: HttpHeaders, body?: string | readonly string[]): void {
    this.#inner.respond(status, headers, body);
  }

  stream(status: number, headers: HttpHeaders): HttpStream {
    const stream = this.#inner.stream(status, headers);
    this.#stream = stream;
    this.#watch.add(this);
    this.#inner.onGone(() => this.#watch.delete(this));
    return {
      get waiting() {
        return stream.waiting;
      },
      write: (text) => stream.write(text),
      end: () => {
        this.#watch.delete(this);
        stream.end();
      },
      onDrain: (callback) => stream.onDrain(callback),
    };
  }

  onGone(callback: () => void): void {
    let isTold = false;
    const once = () => {
      if (isTold) return;
      isTold = true;
      callback();
    };
    this.#gone ??= [];
    this.#gone.push(once);
    this.#inner.onGone(once);
  }

  onOver(callback: () => void): void {
    this.#inner.onOver(callback);
  }

  /** The token is good no longer. */
  end(why: string): void {
    this.#watch.delete(this);
    this.#stream?.write(`: ${why}\n\n`);
    this.#stream?.end();
    for (const callback of this.#gone ?? []) callback();
  }
}
