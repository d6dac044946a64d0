import type { LoggedEvent, SessionLog } from '../../../cluster/event-log.js';
import { decodeLine, encodeMessage } from '../../../wire/codec.js';
import { errorMessage, type RequestId } from '../../../wire/json-rpc.js';
import { REPLICA_LOST } from '../exchange/admitted-request.js';
import { EventWriter, messageEvent, primingEvent } from '../exchange/event-writer.js';
import type { HttpExchange, HttpHeaders } from '../exchange/exchange.js';
import { markOf, readEventId, requestsIn } from './event-ids.js';
import {
  EVENT_OVERHEAD_BYTES,
  type EventMemory,
  type EventStore,
  PROCESS_EVENTS,
  type Shrinkable,
} from './event-store.js';

export interface StreamContext {
  readonly store: EventStore | undefined;
  /** Where other processes read the events, if they can take the session over. */
  readonly log?: SessionLog | undefined;
  /** Names of streams begin with it, where other processes may have had streams of the session before. */
  readonly epoch?: number | undefined;
  readonly retryMs: number | undefined;
  /** Whether streams begin with an event that can be resumed from (2025-11-25 and later). */
  primes(): boolean;
  now(): number;
  onDrain(): void;
}

/** The streams of a legacy session: the answers to its POSTs that became streams, and the standing GET. */
export class SessionStreams {
  readonly #context: StreamContext;
  readonly #who: string;
  readonly #standing: SessionStream;
  /** The others. Undefined until the first: an idle session has none. */
  #streams: Map<string, SessionStream> | undefined;
  /** Messages for the standing stream before the client has opened it. */
  #early: EarlyMessages | undefined;
  #count = 1;

  /** `who`: the client that limits count it for. */
  constructor(who: string, context: StreamContext) {
    this.#context = context;
    this.#who = who;
    this.#standing = new SessionStream(this.#nameOf(STANDING), context);
  }

  /** What waits to be read, without the standing stream: a client that ignores that one still gets its answers. */
  get waiting(): number {
    let waiting = 0;
    for (const stream of this.#streams?.values() ?? []) waiting += stream.waiting;
    return waiting;
  }

  get isStandingRead(): boolean {
    return this.#standing.isRead;
  }

  /** `requests`: those that the stream answers. */
  create(requests: readonly RequestId[] = []): SessionStream {
    this.#count += 1;
    const { epoch } = this.#context;
    const name = this.#nameOf(this.#count) + (epoch === undefined ? '' : markOf(requests));
    const stream = new SessionStream(name, this.#context);
    this.#context.log?.append({ kind: 'open', stream: stream.name, requests });
    this.#streams ??= new Map();
    this.#streams.set(stream.name, stream);
    if (this.#streams.size > MAX_STREAMS) this.#forgetOld(this.#streams);
    return stream;
  }

  /** The stream has ended. Without a store it cannot be resumed, so it is forgotten. */
  ended(stream: SessionStream): void {
    if (!this.#context.store) this.#streams?.delete(stream.name);
  }

  /** Opens the standing stream. A second one replaces the first. */
  openStanding(exchange: HttpExchange, headers: HttpHeaders): void {
    this.#standing.attach(exchange, headers);
    for (const json of this.#early?.take() ?? []) this.#standing.send(json);
    this.#early = undefined;
  }

  /** Continues a stream after the event that the client read last. */
  resume(
    exchange: HttpExchange,
    headers: HttpHeaders,
    lastEventId: string,
    past?: readonly LoggedEvent[],
  ): 'attached' | 'unknown' | 'over' {
    if (past) return this.#resumePast(exchange, headers, lastEventId, past);
    const missed = this.#context.store?.after(lastEventId);
    const stream = missed && this.#find(missed.stream);
    if (!missed || !stream) return 'unknown';
    if (stream.isOver && missed.events.every(({ json }) => json === '')) return 'over';
    stream.attach(exchange, headers, missed.events, lastEventId);
    return 'attached';
  }

  /**
   * Continues a stream of an earlier process. The standing stream goes on here. Requests of other streams that have no
   * answer in the log may have been executed, and no process works on them any more. The log may miss the end of a stream, and
   * the store may have lost all of it: the id of the event says which requests the client waits for.
   */
  #resumePast(
    exchange: HttpExchange,
    headers: HttpHeaders,
    lastEventId: string,
    past: readonly LoggedEvent[],
  ): 'attached' | 'unknown' | 'over' {
    const { stream, number } = readEventId(lastEventId);
    const ofStream = past.filter((entry) => entry.stream === stream);
    const missed = ofStream.flatMap((entry) =>
      entry.kind === 'event' && readEventId(entry.id).number > number ? [entry] : [],
    );
    if (stream.endsWith(`.${STANDING}`)) {
      this.#standing.attach(exchange, headers, missed, lastEventId);
      for (const json of this.#early?.take() ?? []) this.#standing.send(json);
      this.#early = undefined;
      return 'attached';
    }
    const requests = requestsIn(stream);
    if (ofStream.length === 0 && requests.length === 0) return 'unknown';
    // The end of a stream may be in the log without its answer, which came when Redis was full.
    const unanswered = unansweredIn(ofStream, requests);
    if (unanswered.length === 0 && missed.every(({ json }) => json === '')) return 'over';
    const rest = this.create();
    rest.isBegun = true;
    rest.attach(exchange, headers, missed, lastEventId);
    for (const id of unanswered) rest.send(encodeMessage(errorMessage(id, REPLICA_LOST)));
    rest.end();
    return 'attached';
  }

  /** Whether the client has opened the stream for messages that belong to no request. */
  get hasStanding(): boolean {
    return this.#standing.isBegun;
  }

  /** Whether the client resumes the answer to a request that is still worked on. */
  isAtWork(lastEventId: string): boolean {
    const missed = this.#context.store?.after(lastEventId);
    const stream = missed && this.#streams?.get(missed.stream);
    return stream !== undefined && !stream.isOver;
  }

  /** Sends a message that belongs to no request. */
  sendStanding(json: string): void {
    if (!this.#standing.isBegun) {
      this.#early ??= new EarlyMessages(this.#who, PROCESS_EVENTS);
      return this.#early.add(json);
    }
    this.#standing.send(json);
    // The client can come back for the rest, with the id of the last event that it has read.
    if (this.#standing.waiting > MAX_STANDING_UNREAD) this.#standing.detach();
  }

  keepAlive(now: number, everyMs: number): void {
    for (const stream of this.#all()) {
      if (stream.lastAt !== undefined && now - stream.lastAt >= everyMs) stream.keepAlive(now);
    }
  }

  close(): void {
    for (const stream of this.#all()) stream.end();
    this.#early?.take();
  }

  /** Ended streams are kept for clients that resume them, up to a number. */
  #forgetOld(streams: Map<string, SessionStream>): void {
    for (const [name, stream] of streams) {
      if (stream.isOver) streams.delete(name);
      if (streams.size <= MAX_STREAMS / 2) return;
    }
  }

  #nameOf(number: number): string {
    const { epoch } = this.#context;
    return epoch === undefined ? String(number) : `${epoch}.${number}`;
  }

  #find(name: string): SessionStream | undefined {
    return name === this.#standing.name ? this.#standing : this.#streams?.get(name);
  }

  #all(): Iterable<SessionStream> {
    return this.#streams ? [this.#standing, ...this.#streams.values()] : [this.#standing];
  }
}

/**
 * One stream of a legacy session. It outlives the HTTP exchange that carries it: events are stored while it is not read,
 * and a GET with the id of the last event continues it.
 */
export class SessionStream {
  readonly name: string;
  readonly #context: StreamContext;
  #writer: EventWriter | undefined;
  /** It has sent a stream of events, and cannot become a plain answer any more. */
  isBegun = false;
  isOver = false;
  /** When the current exchange began to carry it. */
  attachedAt = 0;

  constructor(name: string, context: StreamContext) {
    this.name = name;
    this.#context = context;
  }

  get isRead(): boolean {
    return this.#writer !== undefined;
  }

  get waiting(): number {
    return this.#writer?.waiting ?? 0;
  }

  get lastAt(): number | undefined {
    return this.#writer?.lastAt;
  }

  /**
   * From now on this exchange carries the stream. It begins with the events that the client has missed since `from`. If
   * there are none, `from` is sent once more: official clients forget it, and could not resume this stream again.
   */
  attach(
    exchange: HttpExchange,
    headers: HttpHeaders,
    missed: readonly { id: string; json: string }[] = [],
    from?: string,
  ): void {
    const { store, retryMs, now, onDrain } = this.#context;
    this.#writer?.end();
    const writer = new EventWriter(exchange, headers, now(), onDrain);
    this.#writer = writer;
    this.attachedAt = now();
    const isResumed = this.isBegun;
    this.isBegun = true;
    exchange.onGone(() => {
      if (this.#writer === writer) this.#writer = undefined;
    });
    const told = missed.filter(({ json }) => json !== '');
    for (const { id, json } of told) writer.write(messageEvent(json, id), now());
    if (from !== undefined && told.length === 0 && this.#context.primes())
      writer.write(primingEvent(from, retryMs), now());
    if (store && !isResumed && this.#context.primes()) {
      const id = store.add(this.name, '');
      this.#context.log?.append({ kind: 'event', stream: this.name, id, json: '' });
      writer.write(primingEvent(id, retryMs), now());
    }
    if (this.isOver) this.detach();
  }

  /** `instead` is stored where the message is too large for the store. */
  send(json: string, instead?: string): void {
    const { store, log, now } = this.#context;
    const id = store?.add(this.name, json, instead);
    if (log && id !== undefined) {
      const kept = json.length <= MAX_LOGGED_CHARS ? json : (instead ?? '');
      log.append({ kind: 'event', stream: this.name, id, json: kept });
    }
    this.#writer?.write(messageEvent(json, id), now());
  }

  keepAlive(now: number): void {
    this.#writer?.keepAlive(now);
  }

  /** Ends the HTTP exchange. The client comes back with a GET for what follows. */
  detach(): void {
    this.#writer?.end();
    this.#writer = undefined;
  }

  /** Ends the stream. */
  end(): void {
    this.isOver = true;
    this.#context.log?.append({ kind: 'end', stream: this.name });
    this.detach();
  }
}

/** The requests of a stream that have no answer among its events. */
function unansweredIn(entries: readonly LoggedEvent[], requests: readonly RequestId[]): readonly RequestId[] {
  const open = new Set(requests);
  for (const entry of entries) {
    if (entry.kind === 'open') for (const id of entry.requests) open.add(id);
    if (entry.kind !== 'event' || entry.json === '') continue;
    const message = decodeLine(Buffer.from(entry.json));
    if ((message.kind === 'result' || message.kind === 'error') && message.id !== undefined)
      open.delete(message.id);
  }
  return [...open];
}

/** The newest messages of a session whose client has not opened its standing stream, up to a number and a size. */
class EarlyMessages implements Shrinkable {
  readonly #who: string;
  readonly #memory: EventMemory;
  #messages: string[] = [];
  #bytes = 0;

  constructor(who: string, memory: EventMemory) {
    this.#who = who;
    this.#memory = memory;
  }

  add(json: string): void {
    const bytes = sizeOf(json);
    // As in the event store, a message that is too large is not kept.
    if (bytes > MAX_EARLY_BYTES) return;
    this.#messages.push(json);
    this.#bytes += bytes;
    while (this.#messages.length > MAX_EARLY_MESSAGES) this.#dropOldest();
    this.shrinkTo(MAX_EARLY_BYTES);
    this.#memory.holds(this.#who, this, this.#bytes);
  }

  /** Returns all of them, and forgets them. */
  take(): readonly string[] {
    const messages = this.#messages;
    this.#messages = [];
    this.#bytes = 0;
    this.#memory.holds(this.#who, this, 0);
    return messages;
  }

  shrinkTo(bytes: number): number {
    while (this.#bytes > bytes) this.#dropOldest();
    return this.#bytes;
  }

  #dropOldest(): void {
    this.#bytes -= sizeOf(this.#messages.shift()!);
  }
}

function sizeOf(json: string): number {
  return Buffer.byteLength(json) + EVENT_OVERHEAD_BYTES;
}

/** The name of the standing stream. */
const STANDING = 1;
const MAX_STREAMS = 512;
const MAX_LOGGED_CHARS = 512 * 1024;
const MAX_STANDING_UNREAD = 1024 * 1024;
const MAX_EARLY_MESSAGES = 100;
const MAX_EARLY_BYTES = 512 * 1024;
