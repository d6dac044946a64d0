import type { RequestFacts } from '../../../exchange/call.js';
import { decodeLine } from '../../../wire/codec.js';
import {
  ExchangeFacts,
  type HttpBody,
  type HttpExchange,
  type HttpHeaders,
  type HttpStream,
} from '../exchange/exchange.js';
import type { CredentialState, Grant } from '../options.js';

/**
 * An exchange of a caller whose token can end. When the token ends, the streams that it opened end as if the client had
 * gone, with a comment that gives the reason.
 */
export class GrantedExchange implements HttpExchange {
  readonly grant: Grant;
  readonly #inner: HttpExchange;
  readonly #watch: GrantWatch;
  #gone: (() => void)[] | undefined;
  #stream: HttpStream | undefined;
  #isWait = false;

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

  get via(): string | undefined {
    return this.#inner.via;
  }

  /**
   * It only waits for what happens elsewhere: for notifications, or for the end of a task, which goes on. A running call, in
   * contrast, may finish after its token has expired.
   */
  get isWait(): boolean {
    if (this.#isWait || this.method === 'GET') return true;
    return this.header('mcp-method')?.trim() === 'subscriptions/listen';
  }

  header(name: string): string | undefined {
    return this.#inner.header(name);
  }

  facts(): RequestFacts {
    const { scopes, claims, clientId } = this.grant;
    return new ExchangeFacts(() => Object.entries(this.#inner.facts().headers), { scopes, claims, clientId });
  }

  body(maxBytes: number, onBody: (body: HttpBody) => void): void {
    this.#inner.body(maxBytes, (body) => {
      if (body.kind === 'bytes') this.#look(body.bytes);
      onBody(body);
    });
  }

  /** Legacy requests do not have their method in a header. */
  #look(body: Buffer): void {
    if (!body.includes(TASK_WAIT)) return;
    const message = decodeLine(body);
    this.#isWait = message.kind === 'request' && message.method === TASK_WAIT;
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
      cut: () => {
        this.#watch.delete(this);
        stream.cut();
      },
      onDrain: (callback) => stream.onDrain(callback),
    };
  }

  onGone(callback: () => void): void {
    let wasCalled = false;
    const once = () => {
      if (wasCalled) return;
      wasCalled = true;
      callback();
    };
    this.#gone ??= [];
    this.#gone.push(once);
    this.#inner.onGone(once);
  }

  onOver(callback: () => void): void {
    this.#inner.onOver(callback);
  }

  /** Ends its streams: the token has ended. */
  end(why: string): void {
    this.#watch.delete(this);
    this.#stream?.write(`: ${why}\n\n`);
    this.#stream?.end();
    for (const callback of this.#gone ?? []) callback();
  }
}

/** Checks from time to time whether the tokens behind open streams are still good. */
export class GrantWatch {
  readonly #open = new Set<GrantedExchange>();
  /** Whose checks are under way. */
  readonly #checking = new Set<object>();

  add(exchange: GrantedExchange): void {
    this.#open.add(exchange);
  }

  delete(exchange: GrantedExchange): void {
    this.#open.delete(exchange);
  }

  /** Ends the streams of tokens that have expired, and all that revoked tokens have opened. */
  async review(sessions: Iterable<GrantedSession>): Promise<void> {
    const streams = this.#check(this.#open, (exchange, standing) => {
      const isOver = standing === 'revoked' || (standing === 'expired' && exchange.isWait);
      if (isOver && this.#open.has(exchange)) exchange.end(ENDED[standing]);
    });
    // A session whose token has expired stays: its client may come back with a fresh token.
    const all = this.#check(sessions, (session, standing) => {
      if (standing === 'revoked') session.close();
    });
    await Promise.all([streams, all]);
  }

  /** A check may read a file, or ask an authorization server. A slow one must not hold up those of others. */
  async #check<T extends { readonly grant: Grant | undefined }>(
    all: Iterable<T>,
    act: (each: T, standing: CredentialState) => void,
  ): Promise<void> {
    const due = [...all].reverse();
    const work = async () => {
      for (let each = due.pop(); each; each = due.pop()) {
        if (!each.grant || this.#checking.has(each)) continue;
        this.#checking.add(each);
        const standing = await standingOf(each.grant);
        this.#checking.delete(each);
        act(each, standing);
      }
    };
    await Promise.all(Array.from({ length: Math.min(AT_ONCE, due.length) }, work));
  }
}

export interface GrantedSession {
  /** The credential of its last request. */
  readonly grant: Grant | undefined;
  close(): void;
}

/** A check that fails changes nothing. */
async function standingOf(grant: Grant): Promise<CredentialState> {
  try {
    return (await grant.standing?.()) ?? 'good';
  } catch {
    return 'good';
  }
}

const AT_ONCE = 64;
const TASK_WAIT = 'tasks/result';

const ENDED = {
  expired: 'the token has expired: authorize again',
  revoked: 'the token was revoked: authorize again',
} as const;
