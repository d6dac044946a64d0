import { randomBytes } from 'node:crypto';
import { createDeferred } from '../../../async/deferred.js';
import { clientKey } from '../../../exchange/client-key.js';
import type { Connection, ConnectionEnd, Receiver } from '../../../exchange/connection.js';
import { FairShare } from '../../../exchange/fair-share.js';
import type { TakenSlot } from '../../../exchange/fair-slots.js';
import { IdMap } from '../../../exchange/id-map.js';
import { decodeLine, encodeMessage } from '../../../wire/codec.js';
import {
  type Decoded,
  type DecodedRequest,
  isRequestId,
  type JsonRpcMessage,
} from '../../../wire/json-rpc.js';
import { withTraceOf } from '../../trace-headers.js';
import { isJson } from '../admission/guard.js';
import type { BodyReservation, RequestsAtWork } from '../admission/request-limits.js';
import { type AdmittedRequest, busy, respondError } from '../exchange/admitted-request.js';
import { EventWriter, messageEvent } from '../exchange/event-writer.js';
import type { HttpEndpointSettings } from '../options.js';
import { batchProblem, contentsOf, inFlight, revisionIn } from '../posts/batch.js';

/** The transport of 2024-11-05: one stream that everything comes back on, and a place to post to. */
export class SseConnections {
  readonly #settings: HttpEndpointSettings;
  readonly #atWork: RequestsAtWork;
  readonly #open = new Map<string, SseConnection>();
  readonly #shares = new FairShare<SseConnection>();

  constructor(settings: HttpEndpointSettings, atWork: RequestsAtWork) {
    this.#settings = settings;
    this.#atWork = atWork;
  }

  async handle(
    place: 'sse' | 'message',
    visit: AdmittedRequest,
    accept: (connection: Connection) => void,
  ): Promise<void> {
    const { exchange, headers } = visit;
    const method = place === 'sse' ? 'GET' : 'POST';
    if (exchange.method !== method) return exchange.respond(405, { ...headers, allow: method });
    if (place === 'sse') this.#begin(visit, accept);
    else await this.#message(visit);
  }

  keepAlive(now: number): void {
    for (const connection of this.#open.values()) connection.keepAlive(now, this.#settings.keepAliveMs);
  }

  #begin(visit: AdmittedRequest, accept: (connection: Connection) => void): void {
    const { exchange, principal, headers } = visit;
    const { maxSessions, clock, sse } = this.#settings;
    const who = clientKey({ principal, remote: exchange.remote });
    if (this.#shares.size >= maxSessions && !this.#makeRoom(who)) {
      return exchange.respond(503, { ...headers, 'retry-after': '1' });
    }
    const id = randomBytes(24).toString('base64url');
    const connection = new SseConnection(visit, id, this.#atWork, () => clock.now());
    this.#open.set(id, connection);
    this.#shares.set(who, connection);
    void connection.closed.then(() => {
      this.#open.delete(id);
      this.#shares.delete(who, connection);
    });
    accept(connection);
    const [from] = (exchange.written ?? exchange.target).split('?') as [string];
    connection.tellEndpoint(`${relativePath(from, sse!.messagePath)}?sessionId=${id}`);
  }

  /** A client that has more of them than this one gives one up: the one that was not used for longest. */
  #makeRoom(who: string): boolean {
    const displacement = this.#shares.displacedBy(who);
    if (displacement.kind !== 'from') return false;
    let found: SseConnection | undefined;
    for (const each of this.#shares.itemsOf(displacement.who)) {
      if (!found || isLessUseful(each, found)) found = each;
    }
    if (found) this.#shares.delete(displacement.who, found);
    found?.close();
    return found !== undefined;
  }

  async #message(visit: AdmittedRequest): Promise<void> {
    const { exchange, principal, headers } = visit;
    if (!isJson(exchange.header('content-type'))) return exchange.respond(415, headers);
    const id = new URLSearchParams(exchange.target.split('?')[1] ?? '').get('sessionId') ?? '';
    const connection = this.#open.get(id);
    if (!connection || connection.principal !== principal) return exchange.respond(404, headers);
    const { bodies, maxBodyBytes } = this.#settings;
    const room = bodies.enter(visit, maxBodyBytes);
    if (!room) return;
    const body = await exchange.body(maxBodyBytes);
    if (body.kind === 'gone') return;
    if (body.kind === 'too-large') return exchange.respond(413, headers);
    room.shrinkTo(body.bytes.length);
    const message = withTraceOf(decodeLine(body.bytes), (name) => exchange.header(name));
    connection.post({ ...visit, room }, message, body.bytes.length);
  }
}

class SseConnection implements Connection {
  readonly label = 'http+sse';
  readonly principal: string | undefined;
  readonly remote: string | undefined;
  readonly life = Promise.resolve();
  readonly closed: Promise<ConnectionEnd>;
  readonly #end = createDeferred<ConnectionEnd>();
  readonly #writer: EventWriter;
  readonly #now: () => number;
  readonly #id: string;
  readonly #atWork: RequestsAtWork;
  /** Of the requests that wait for their answers. */
  #posts = new IdMap<SsePost>();
  /** Known with the answer to initialize. */
  #revision: string | undefined;
  lastUsedAt: number;
  /** Requests that came while the receiver had enough to do. */
  #held: { readonly message: DecodedRequest; readonly bytes: number }[] = [];
  #heldBytes = 0;
  #isHeld = false;
  #receiver: Receiver | undefined;
  #over = false;

  constructor(
    { exchange, principal, headers }: AdmittedRequest,
    id: string,
    atWork: RequestsAtWork,
    now: () => number,
  ) {
    this.principal = principal;
    this.#id = id;
    this.#atWork = atWork;
    this.lastUsedAt = now();
    this.remote = exchange.remote;
    this.closed = this.#end.promise;
    this.#now = now;
    this.#writer = new EventWriter(exchange, headers, now(), () => {
      if (!this.congested) this.#receiver?.drained();
    });
    exchange.onGone(() => this.#shut({ kind: 'lost' }));
  }

  get congested(): boolean {
    return this.#writer.waiting > CONGESTED_AT;
  }

  tellEndpoint(where: string): void {
    this.#writer.write(`event: endpoint\ndata: ${where}\n\n`, this.#now());
  }

  /** Requests that wait for their answers. */
  get atWork(): number {
    return this.#posts.size;
  }

  /** What was posted to it. The answers to its requests come on the stream. */
  post(visit: AdmittedRequest, message: Decoded, bytes: number): void {
    const { exchange, headers } = visit;
    // It may have ended while the body came: what is taken for it now would never be given back.
    if (this.#over) return exchange.respond(404, headers);
    this.lastUsedAt = this.#now();
    const problem = batchProblem(message, this.#revision);
    if (problem) return respondError(visit, 400, undefined, problem);
    const { isBatch, requests, messages, refusals } = contentsOf(message);
    const twice = requests.find(({ id }) => this.#posts.has(id));
    if (twice) return respondError(visit, 400, twice.id, inFlight(twice.id));
    if (requests.length > 0 && !this.#enter(visit, message, requests)) return;
    exchange.respond(202, headers);
    if (!isBatch) return this.#deliver(message, bytes);
    for (const refusal of refusals) this.#writer.write(messageEvent(refusal), this.#now());
    for (const item of messages) this.#deliver(item, bytes / messages.length);
  }

  /** Takes places for the requests. False: there are none, and that was the answer. */
  #enter(visit: AdmittedRequest, message: Decoded, requests: readonly DecodedRequest[]): boolean {
    if (this.#heldBytes > MAX_HELD_BYTES) {
      const id = message.kind === 'request' ? message.id : undefined;
      busy(visit, 'The requests of this connection that wait take too much room', id);
      return false;
    }
    const place = this.#atWork.enter(visit, message, this.#id, requests.length);
    if (!place) return false;
    visit.room?.keep();
    const post: SsePost = { place, room: visit.room, open: requests.length };
    for (const { id } of requests) this.#posts.set(id, post);
    return true;
  }

  #deliver(message: Decoded, bytes: number): void {
    // What the client called off gets no answer, and is not begun.
    if (message.kind === 'notification' && message.method === 'notifications/cancelled') {
      this.#drop(message.params?.['requestId']);
    }
    if (this.#isHeld && message.kind === 'request') {
      this.#held.push({ message, bytes });
      this.#heldBytes += bytes;
    } else this.#receiver?.receive(message, undefined, bytes);
  }

  #drop(id: unknown): void {
    const at = this.#held.findIndex(({ message }) => message.id === id);
    if (at >= 0) this.#heldBytes -= this.#held.splice(at, 1)[0]!.bytes;
    this.#leave(id);
  }

  hold(held: boolean): void {
    this.#isHeld = held;
    while (!this.#isHeld) {
      const next = this.#held.shift();
      if (!next) return;
      this.#heldBytes -= next.bytes;
      this.#receiver?.receive(next.message, undefined, next.bytes);
    }
  }

  open(receiver: Receiver): void {
    this.#receiver = receiver;
  }

  send(message: JsonRpcMessage): void {
    if (!('method' in message)) {
      this.#revision ??= revisionIn(message);
      this.#leave(message.id);
    }
    if (!this.#over) this.#writer.write(messageEvent(encodeMessage(message)), this.#now());
  }

  keepAlive(now: number, everyMs: number): void {
    if (now - this.#writer.lastAt >= everyMs) this.#writer.keepAlive(now);
  }

  async finish(): Promise<void> {
    this.close();
  }

  close(): void {
    this.#writer.end();
    this.#shut({ kind: 'closed' });
  }

  #shut(end: ConnectionEnd): void {
    if (this.#over) return;
    this.#over = true;
    for (const post of this.#posts.values()) this.#giveBack(post);
    this.#posts = new IdMap();
    this.#held = [];
    this.#end.resolve(end);
  }

  #leave(id: unknown): void {
    const post = isRequestId(id) ? this.#posts.get(id) : undefined;
    if (!post || !isRequestId(id)) return;
    this.#posts.delete(id);
    this.#giveBack(post);
  }

  /** One of its requests is over. */
  #giveBack(post: SsePost): void {
    this.#atWork.leave(post.place);
    post.open -= 1;
    if (post.open === 0) post.room?.release();
  }
}

/** A POST whose requests wait for their answers. */
interface SsePost {
  /** For each of its requests. */
  readonly place: TakenSlot;
  /** What its body takes, until the last answer. */
  readonly room: BodyReservation | undefined;
  open: number;
}

function isLessUseful(a: SseConnection, b: SseConnection): boolean {
  return a.atWork > 0 === b.atWork > 0 ? a.lastUsedAt < b.lastUsedAt : a.atWork === 0;
}

const CONGESTED_AT = 1024 * 1024;
const MAX_HELD_BYTES = 1024 * 1024;

/**
 * The path `to` as a reference that is relative to `from`, both absolute. Behind a proxy that serves us under a
 * prefix, a client resolves it against the address that it used, prefix included.
 */
export function relativePath(from: string, to: string): string {
  const here = from.split('/').slice(1, -1);
  const there = to.split('/').slice(1);
  let common = 0;
  while (common < here.length && common < there.length - 1 && here[common] === there[common]) common += 1;
  const up = here.slice(common).map(() => '..');
  const reference = [...up, ...there.slice(common)].join('/');
  // `?…` alone means the address itself, and a first segment with a colon reads as a scheme.
  return reference === '' || /^[^/]*:/.test(reference) ? `./${reference}` : reference;
}
