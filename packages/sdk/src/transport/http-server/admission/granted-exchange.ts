import type { HttpBody, HttpExchange, HttpHeaders, HttpStream } from '../exchange/exchange.js';
import type { CredentialState, Grant } from '../options.js';

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

/** The open streams of callers whose tokens can end: looked after from time to time. */
export class GrantWatch {
  readonly #open = new Set<GrantedExchange>();
  #reviewing = false;

  add(exchange: GrantedExchange): void {
    this.#open.add(exchange);
  }

  delete(exchange: GrantedExchange): void {
    this.#open.delete(exchange);
  }

  /** Ends the streams of tokens that have expired, and all that revoked tokens have opened. */
  async review(sessions: Iterable<GrantedSession>): Promise<void> {
    // One look at a time, however long a file takes to be read.
    if (this.#reviewing) return;
    this.#reviewing = true;
    try {
      for (const exchange of [...this.#open]) {
        const standing = await standingOf(exchange.grant);
        if (standing === 'revoked' || (standing === 'expired' && exchange.isSubscription)) {
          exchange.end(ENDED[standing]);
        }
      }
      // A session whose token has expired waits for its client to come back with a fresh one.
      for (const session of [...sessions]) {
        if (session.grant && (await standingOf(session.grant)) === 'revoked') session.close();
      }
    } finally {
      this.#reviewing = false;
    }
  }
}

export interface GrantedSession {
  /** What its last request was allowed with. */
  readonly grant: Grant | undefined;
  close(): void;
}

/** What cannot be found out at the moment changes nothing. */
async function standingOf(grant: Grant): Promise<CredentialState> {
  try {
    return (await grant.standing?.()) ?? 'good';
  } catch {
    return 'good';
  }
}

const ENDED = {
  expired: 'the token has expired: authorize again',
  revoked: 'the token was revoked: authorize again',
} as const;
