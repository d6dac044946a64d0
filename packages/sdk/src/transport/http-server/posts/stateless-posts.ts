import { LiveSet } from '../../../async/live-set.js';
import { isLegacyRevision } from '../../../era/revisions.js';
import { clientKey } from '../../../exchange/client-key.js';
import type { Connection, ServedFacts } from '../../../exchange/connection.js';
import { FairShare } from '../../../exchange/fair-share.js';
import type { Decoded, DecodedRequest, JsonRpcErrorBody, JsonRpcMessage } from '../../../wire/json-rpc.js';
import type { RequestsAtWork } from '../admission/request-limits.js';
import { type AdmittedRequest, busy, respondError, respondRefusals } from '../exchange/admitted-request.js';
import type { HttpEndpointSettings } from '../options.js';
import { batchProblem, contentsOf } from './batch.js';
import { PostConnection, type PostOptions } from './post-connection.js';

/** POSTs that stand for themselves, each a connection of its own: all modern ones, and legacy ones without a session. */
export class StatelessPosts {
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
    visit: AdmittedRequest,
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
    visit: AdmittedRequest,
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
    visit: AdmittedRequest,
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
    visit: AdmittedRequest,
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
    { exchange, principal, headers }: AdmittedRequest,
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

/** A POST of a legacy client that has no session, as a connection of its own can take it. */
type StatelessPost =
  | { readonly kind: 'refused'; readonly error: JsonRpcErrorBody }
  /** There is nothing to answer but what could not even be delivered. */
  | { readonly kind: 'done'; readonly refusals: readonly string[]; readonly isBatch: boolean }
  | {
      readonly kind: 'calls';
      readonly messages: readonly Decoded[];
      /** The answer to the handshake that was made in the client's name goes no further. */
      readonly swallow: ((answer: JsonRpcMessage) => boolean) | undefined;
      readonly batch: { readonly expected: number; readonly refusals: readonly string[] } | undefined;
    };

/**
 * The handshake that the era demands is made in the client's name; it has declared nothing, so it cannot be asked
 * anything.
 */
function asStateless(message: Decoded, revision: string | undefined): StatelessPost {
  // Without the header it is the revision that had none.
  const protocolVersion = isLegacyRevision(revision) ? revision : '2025-03-26';
  const problem = batchProblem(message, protocolVersion);
  if (problem) return { kind: 'refused', error: problem };
  const { isBatch, requests, messages, refusals } = contentsOf(message);
  if (requests.length === 0) return { kind: 'done', refusals, isBatch };
  const batch = isBatch ? { expected: requests.length, refusals } : undefined;
  if (requests[0]!.method === 'initialize') return { kind: 'calls', messages, swallow: undefined, batch };
  const params = { protocolVersion, capabilities: {}, clientInfo: { name: 'unknown', version: '0' } };
  return {
    kind: 'calls',
    messages: [
      { kind: 'request', id: HANDSHAKE, method: 'initialize', params },
      { kind: 'notification', method: 'notifications/initialized', params: undefined },
      ...messages,
    ],
    swallow: firstAnswerOf(HANDSHAKE),
    batch,
  };
}

/** Only the first: the client may use the same id. */
function firstAnswerOf(id: string): (answer: JsonRpcMessage) => boolean {
  let swallowed = false;
  return (answer) => {
    if (swallowed || 'method' in answer || answer.id !== id) return false;
    swallowed = true;
    return true;
  };
}

const HANDSHAKE = 'isthmus:handshake';
