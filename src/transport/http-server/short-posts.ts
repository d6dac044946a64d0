import { LiveSet } from '../../async/live-set.js';
import type { Connection, ServedFacts } from '../../exchange/connection.js';
import type { Decoded, DecodedRequest } from '../../wire/json-rpc.js';
import type { HttpEndpointSettings } from './options.js';
import { PostConnection, type PostOptions } from './post-connection.js';
import { asStateless } from './stateless-legacy.js';
import { busy, respondError, respondRefusals, type Visit } from './visit.js';

/** POSTs that stand for themselves, each a connection of its own: all modern ones, and legacy ones without a session. */
export class ShortPosts {
  readonly #settings: HttpEndpointSettings;
  readonly #isFull: (visit: Visit, message: Decoded) => boolean;
  readonly #open = new LiveSet<PostConnection>();
  readonly #now: () => number;
  #streams = 0;

  /** `isFull` has answered when it is true. */
  constructor(settings: HttpEndpointSettings, isFull: (visit: Visit, message: Decoded) => boolean) {
    this.#settings = settings;
    this.#now = () => settings.clock.now();
    this.#isFull = isFull;
  }

  /** Calls at work; subscriptions are not. */
  get inFlight(): number {
    return this.#open.size - this.#streams;
  }

  modern(
    request: DecodedRequest,
    visit: Visit,
    accept: (connection: Connection) => void,
    knows: ServedFacts['knows'],
  ): void {
    const post = this.#postOf(visit, [request], knows, undefined, undefined);
    if (request.method !== 'subscriptions/listen') {
      if (!this.#isFull(visit, request)) this.#begin(post, accept);
      return;
    }
    const { maxStreams } = this.#settings;
    if (this.#streams >= maxStreams)
      return busy(visit, `All ${maxStreams} subscriptions are taken`, request.id);
    const connection = this.#begin(post, accept);
    if (connection.isOver) return;
    this.#streams += 1;
    void connection.closed.then(() => {
      this.#streams -= 1;
    });
  }

  /** A legacy client without a session: its handshake is made for it. */
  stateless(
    message: Decoded,
    revision: string | undefined,
    visit: Visit,
    accept: (connection: Connection) => void,
  ): void {
    const post = asStateless(message, revision);
    switch (post.kind) {
      case 'refused':
        return respondError(visit, 400, undefined, post.error);
      case 'done':
        return respondRefusals(visit, post.refusals, post.isBatch);
      case 'calls': {
        const { messages, swallow, batch } = post;
        if (this.#isFull(visit, message)) return;
        this.#begin(this.#postOf(visit, messages, undefined, swallow, batch), accept);
      }
    }
  }

  keepAlive(now: number, everyMs: number): void {
    for (const post of this.#open.values()) if (now - post.lastAt >= everyMs) post.keepAlive(now);
  }

  /** One literal that names every member: copies by spreading were a fifth of what a request costs. */
  #postOf(
    { exchange, principal, headers }: Visit,
    messages: readonly Decoded[],
    knows: PostOptions['knows'],
    swallow: PostOptions['swallow'],
    batch: PostOptions['batch'],
  ): PostOptions {
    return { exchange, principal, headers, messages, knows, swallow, batch, now: this.#now };
  }

  #begin(options: PostOptions, accept: (connection: Connection) => void): PostConnection {
    const connection = new PostConnection(options);
    accept(connection);
    // Most are answered at once.
    if (connection.isOver) return connection;
    this.#open.add(connection);
    void connection.closed.then(() => this.#open.delete(connection));
    return connection;
  }
}
