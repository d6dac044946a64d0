import { LiveSet } from '../../async/live-set.js';
import { clientKey } from '../../exchange/client-key.js';
import type { Connection, ServedFacts } from '../../exchange/connection.js';
import { FairShare } from '../../exchange/fair-share.js';
import type { Decoded, DecodedRequest } from '../../wire/json-rpc.js';
import type { HttpEndpointSettings } from './options.js';
import { PostConnection, type PostOptions } from './post-connection.js';
import type { RequestsAtWork } from './requests-at-work.js';
import { asStateless } from './stateless-legacy.js';
import { busy, respondError, respondRefusals, type Visit } from './visit.js';

/** POSTs that stand for themselves, each a connection of its own: all modern ones, and legacy ones without a session. */
export class ShortPosts {
  readonly #settings: HttpEndpointSettings;
  readonly #atWork: RequestsAtWork;
  readonly #open = new LiveSet<PostConnection>();
  readonly #now: () => number;
  /** Subscriptions: they last, and can be taken back. */
  readonly #streams = new FairShare<PostConnection>();

  constructor(settings: HttpEndpointSettings, atWork: RequestsAtWork) {
    this.#settings = settings;
    this.#now = () => settings.clock.now();
    this.#atWork = atWork;
  }

  modern(
    request: DecodedRequest,
    visit: Visit,
    accept: (connection: Connection) => void,
    knows: ServedFacts['knows'],
  ): void {
    const post = this.#postOf(visit, [request], knows, undefined, undefined);
    if (request.method === 'subscriptions/listen') this.#listen(request, visit, post, accept);
    else this.#work(request, visit, post, accept, 1);
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
        const options = this.#postOf(visit, messages, undefined, swallow, batch);
        this.#work(message, visit, options, accept, batch?.expected ?? 1);
      }
    }
  }

  keepAlive(now: number, everyMs: number): void {
    for (const post of this.#open.values()) if (now - post.lastAt >= everyMs) post.keepAlive(now);
  }

  /** A call, or several: they have places until the last is answered. */
  #work(
    message: Decoded,
    visit: Visit,
    options: PostOptions,
    accept: (connection: Connection) => void,
    count: number,
  ): void {
    const place = this.#atWork.enter(visit, message, undefined, count);
    if (!place) return;
    const connection = this.#begin(options, accept);
    if (connection.isOver) this.#atWork.leave(place, count);
    else void connection.closed.then(() => this.#atWork.leave(place, count));
  }

  #listen(
    request: DecodedRequest,
    visit: Visit,
    options: PostOptions,
    accept: (connection: Connection) => void,
  ): void {
    const { maxStreams } = this.#settings;
    const { principal, exchange } = visit;
    const who = clientKey({ principal, remote: exchange.remote });
    const isFull = this.#streams.size >= maxStreams;
    const displaced = isFull ? this.#displacedBy(who) : undefined;
    if (isFull && !displaced) {
      return busy(visit, `All ${maxStreams} subscriptions are taken`, request.id);
    }
    const connection = this.#begin(options, accept);
    if (connection.isOver) return;
    // Only now: one that is refused must not cost anybody a subscription.
    displaced?.close();
    this.#streams.set(who, connection);
    void connection.closed.then(() => this.#streams.delete(who, connection));
  }

  /** The oldest subscription of the client that has most, if that is more than this client will have. */
  #displacedBy(who: string): PostConnection | undefined {
    const displacement = this.#streams.displacedBy(who);
    if (displacement.kind !== 'from') return undefined;
    const [oldest] = this.#streams.itemsOf(displacement.who);
    return oldest;
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
