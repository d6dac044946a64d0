import { LiveSet } from '../../../async/live-set.js';
import { isLegacyRevision } from '../../../era/revisions.js';
import type { RequestEnvelope } from '../../../exchange/call.js';
import { clientKey } from '../../../exchange/client-key.js';
import type { Connection, ServedFacts } from '../../../exchange/connection.js';
import { FairShare } from '../../../exchange/fair-share.js';
import type { TakenSlot } from '../../../exchange/fair-slots.js';
import type { Decoded, DecodedRequest, JsonRpcErrorBody, JsonRpcMessage } from '../../../wire/json-rpc.js';
import type { RequestLimiter } from '../admission/request-limits.js';
import { type AdmittedRequest, busy, respondError, respondRefusals } from '../exchange/admitted-request.js';
import type { HttpEndpointSettings } from '../options.js';
import { batchProblem, contentsOf } from './batch.js';
import { PostConnection, type PostOptions } from './post-connection.js';

/** POSTs that are connections of their own: all modern ones, and legacy ones without a session. */
export class StatelessPosts {
  readonly #settings: HttpEndpointSettings;
  readonly #limiter: RequestLimiter;
  readonly #open = new LiveSet<PostConnection>();
  readonly #now: () => number;
  /** Subscriptions. They last, and can be ended in favour of another client. */
  readonly #streams = new FairShare<PostConnection>();

  constructor(settings: HttpEndpointSettings, limiter: RequestLimiter) {
    this.#settings = settings;
    this.#now = () => settings.clock.now();
    this.#limiter = limiter;
  }

  modern(
    request: DecodedRequest,
    envelope: RequestEnvelope,
    admitted: AdmittedRequest,
    accept: (connection: Connection) => void,
    knows: ServedFacts['knows'],
  ): void {
    const post = this.#postOf(admitted, [request], envelope, knows, undefined, undefined);
    if (request.method === 'subscriptions/listen') return this.#listen(request, admitted, post, accept);
    const slot = this.#limiter.enter(admitted, request, undefined);
    if (!slot) return;
    const connection = new PostConnection(post);
    accept(connection);
    this.#keep(connection, slot, 1);
  }

  /** Serves a legacy client without a session. The server makes the handshake for it. */
  stateless(
    message: Decoded,
    revision: string | undefined,
    admitted: AdmittedRequest,
    accept: (connection: Connection) => void,
  ): void {
    const post = asStateless(message, revision);
    switch (post.kind) {
      case 'refused':
        return respondError(admitted, 400, undefined, post.error);
      case 'done':
        return respondRefusals(admitted, post.refusals, post.isBatch);
      case 'calls': {
        const { messages, swallow, batch } = post;
        const count = batch?.expected ?? 1;
        const slot = this.#limiter.enter(admitted, message, undefined, count);
        if (!slot) return;
        const connection = new PostConnection(
          this.#postOf(admitted, messages, undefined, undefined, swallow, batch),
        );
        accept(connection);
        this.#keep(connection, slot, count);
      }
    }
  }

  keepAlive(now: number, everyMs: number): void {
    for (const post of this.#open.values()) if (now - post.lastAt >= everyMs) post.keepAlive(now);
  }

  /** Keeps what is not answered at once, as most are. The slots are held until the last answer. */
  #keep(connection: PostConnection, slot: TakenSlot, count: number): void {
    if (connection.isOver) return this.#limiter.leave(slot, count);
    this.#open.add(connection);
    connection.onOver(() => {
      this.#open.delete(connection);
      this.#limiter.leave(slot, count);
    });
  }

  #listen(
    request: DecodedRequest,
    admitted: AdmittedRequest,
    options: PostOptions,
    accept: (connection: Connection) => void,
  ): void {
    const { maxStreams } = this.#settings;
    const { principal, exchange } = admitted;
    const who = clientKey({ principal, remote: exchange.remote });
    const isFull = this.#streams.size >= maxStreams;
    const displaced = isFull ? this.#displacedBy(who) : undefined;
    if (isFull && !displaced) {
      return busy(admitted, `All ${maxStreams} subscriptions are taken`, request.id);
    }
    const connection = new PostConnection(options);
    accept(connection);
    if (connection.isOver) return;
    // Only now: a subscription that is refused must not end another one.
    displaced?.close();
    this.#open.add(connection);
    this.#streams.set(who, connection);
    connection.onOver(() => {
      this.#open.delete(connection);
      this.#streams.delete(who, connection);
    });
  }

  /** The oldest subscription of the client that has most, if that is more than this client will have. */
  #displacedBy(who: string): PostConnection | undefined {
    const displacement = this.#streams.displacedBy(who);
    if (displacement.kind !== 'from') return undefined;
    const [oldest] = this.#streams.itemsOf(displacement.who);
    return oldest;
  }

  /** One literal with every member: copies by spreading took a fifth of the time of a request. */
  #postOf(
    { exchange, principal, headers }: AdmittedRequest,
    messages: readonly Decoded[],
    envelope: RequestEnvelope | undefined,
    knows: PostOptions['knows'],
    swallow: PostOptions['swallow'],
    batch: PostOptions['batch'],
  ): PostOptions {
    return { exchange, principal, headers, messages, envelope, knows, swallow, batch, now: this.#now };
  }
}

/** A POST of a legacy client without a session, as a connection of its own. */
type StatelessPost =
  | { readonly kind: 'refused'; readonly error: JsonRpcErrorBody }
  /** It has no requests; only errors for what could not be delivered are answered. */
  | { readonly kind: 'done'; readonly refusals: readonly string[]; readonly isBatch: boolean }
  | {
      readonly kind: 'calls';
      readonly messages: readonly Decoded[];
      /** True for the answer to the handshake that the server made. It is not sent. */
      readonly swallow: ((answer: JsonRpcMessage) => boolean) | undefined;
      readonly batch: { readonly expected: number; readonly refusals: readonly string[] } | undefined;
    };

/** Adds the handshake that the era demands. The client declares no capabilities, so it cannot be asked anything. */
function asStateless(message: Decoded, revision: string | undefined): StatelessPost {
  // Without the header, it is the revision that had no such header.
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

/** Matches only the first answer: the client may use the same id. */
function firstAnswerOf(id: string): (answer: JsonRpcMessage) => boolean {
  let swallowed = false;
  return (answer) => {
    if (swallowed || 'method' in answer || answer.id !== id) return false;
    swallowed = true;
    return true;
  };
}

const HANDSHAKE = 'isthmus:handshake';
