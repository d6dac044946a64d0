import type { Clock } from '../async/clock.js';
import { createDeferred, type Deferred } from '../async/deferred.js';
import type { Slotted } from '../async/live-set.js';
import { events } from '../events.js';
import type { EarlyMessage, Service } from '../exchange/call.js';
import type { Connection, Receiver } from '../exchange/connection.js';
import { CALL_BYTES, type CallSurroundings, InboundCalls } from '../exchange/inbound-calls.js';
import { ErrorCode } from '../wire/error-codes.js';
import {
  type Decoded,
  type DecodedBatch,
  type DecodedMessage,
  type DecodedNotification,
  type DecodedRequest,
  type JsonRpcErrorBody,
  type RequestId,
  resultMessage,
} from '../wire/json-rpc.js';
import { classifyOpening } from './classify-opening.js';
import { LegacyServerDialect } from './legacy/server-dialect.js';
import { claimsModern } from './meta-keys.js';
import { ModernServerDialect } from './modern/server-dialect.js';
import type { ModernServerState } from './modern/server-state.js';
import {
  refuse,
  type ServerDialect,
  type ServerDialectContext,
  STOPPED,
  sendError,
  toWireError,
} from './server-dialect-context.js';

/** A connection being served, from its first byte to its end. */
export interface ServedConnection extends Slotted {
  /**
   * Refuses new requests, finishes running ones within the grace, aborts the others, which have `abortMs` for an answer
   * of their own, flushes and closes. Twice is harmless.
   */
  close(graceMs?: number, abortMs?: number): Promise<void>;
  /** Settles when the connection has ended, never rejects. */
  readonly done: Promise<void>;
}

/** Serves one connection: the first accepted era-distinctive request picks the dialect for all that follow. */
export function serveConnection(
  connection: Connection,
  service: Service,
  runtime: ModernServerState,
): ServedConnection {
  const served = new ConnectionDriver(connection, service, runtime);
  connection.open(served);
  // Over HTTP most connections are one request that was answered at once; there is nothing left to watch.
  if (!connection.isOver) served.watch();
  return served;
}

class ConnectionDriver implements Receiver, ServedConnection, CallSurroundings {
  slot = -1;
  #done: Promise<void> | undefined;
  readonly #side: ServerDialectContext;
  readonly #runtime: ModernServerState;
  #dialect: ServerDialect | undefined;
  #closing: Promise<void> | undefined;
  #graceOver: Deferred<void> | undefined;
  /** Aborted handlers have had their time for an answer. */
  #answersOver: Deferred<void> | undefined;
  /** While true, new requests are refused: the server is on its way out. */
  #leaving = false;
  /** Requests that came before the service was ready. */
  #early: Set<RequestId> | undefined;
  #holdsEarly = false;
  #holdsCalls = false;
  #earlyOver: Deferred<void> | undefined;
  #earlyNotifications = 0;
  /** What all of these take in memory, those that were cancelled meanwhile included. */
  #earlyBytes = 0;
  arriving = 0;

  constructor(connection: Connection, service: Service, runtime: ModernServerState) {
    const { settings } = runtime;
    this.#runtime = runtime;
    this.#side = {
      connection,
      service,
      settings,
      calls: new InboundCalls(settings, this),
    };
  }

  get done(): Promise<void> {
    return this.watch();
  }

  /** Sees to the end of the connection. */
  watch(): Promise<void> {
    const { connection } = this.#side;
    this.#done ??= connection.closed.then((end) => {
      this.#dialect?.dispose('the connection ended');
      if (events.closed.hasSubscribers) events.closed.publish({ connection: connection.label, ...end });
    });
    return this.#done;
  }

  get clock(): Clock {
    return this.#side.settings.clock;
  }

  outputIsFull(): boolean {
    return this.#side.connection.congested;
  }

  awaitsPeer(): boolean {
    return this.#dialect?.awaitsPeer ?? false;
  }

  holdInput(hold: boolean): void {
    this.#holdsCalls = hold;
    this.#side.connection.hold(hold || this.#holdsEarly);
  }

  receive(message: Decoded, _about?: RequestId, bytes = 0): void {
    this.arriving = bytes;
    if (message.kind === 'batch') this.#batch(message);
    else this.#message(message);
  }

  inputEnded(): void {
    this.#dialect?.inputEnded();
    void this.#finish(this.#side.settings.graceMs);
  }

  drained(): void {
    this.#dialect?.drained();
    this.#side.calls.resume();
  }

  close(graceMs = this.#side.settings.graceMs, abortMs = 0): Promise<void> {
    this.#leaving = true;
    this.#dialect?.retire();
    return this.#finish(graceMs, abortMs);
  }

  /** A later close may hurry an earlier one, never slow it down. */
  async #finish(graceMs: number, abortMs = 0): Promise<void> {
    const { clock } = this.#side.settings;
    this.#graceOver ??= createDeferred<void>();
    this.#answersOver ??= createDeferred<void>();
    const [graceOver, answersOver] = [this.#graceOver, this.#answersOver];
    this.#closing ??= this.#finishOnce(graceOver.promise, answersOver.promise);
    let callOff = clock.after(graceMs, () => {
      graceOver.resolve();
      if (abortMs === 0) answersOver.resolve();
      else callOff = clock.after(abortMs, () => answersOver.resolve());
    });
    await this.#closing.finally(() => callOff());
  }

  async #finishOnce(graceOver: Promise<void>, answersOver: Promise<void>): Promise<void> {
    const { connection } = this.#side;
    const idle = this.#idle();
    await Promise.race([idle, connection.closed, graceOver]);
    this.#abort();
    await Promise.race([idle, connection.closed, answersOver]);
    this.#abandon();
    await connection.finish();
    await this.done;
  }

  async #idle(): Promise<void> {
    while (this.#early && this.#early.size > 0) {
      // Told by whoever was the last of them: to look again and again would leave nobody else a turn.
      this.#earlyOver ??= createDeferred<void>();
      await this.#earlyOver.promise;
    }
    await this.#side.calls.idle();
  }

  /** A handler that heeds its signal has a moment for an answer of its own: part of a result is better than none. */
  #abort(): void {
    for (const inbound of this.#side.calls.pending()) {
      inbound.stopped = true;
      inbound.running?.cancel('the server stopped');
    }
  }

  /** Every request that is left gets an error. */
  #abandon(): void {
    for (const id of this.#early ?? []) refuse(this.#side, id, STOPPING);
    this.#early?.clear();
    for (const inbound of this.#side.calls.pending()) {
      const { running } = inbound;
      sendError(this.#side, inbound, STOPPED);
      running?.cancel('the server stopped');
    }
  }

  #message(message: DecodedMessage): void {
    switch (message.kind) {
      case 'request': {
        const ready = this.#ready(message);
        if (ready && message.method !== 'ping') return this.#later(message, ready);
        // A ping is answered whatever becomes of it.
        ready?.catch(() => {});
        this.#request(message);
        return;
      }
      case 'notification':
        if (this.#early?.size && this.#earlyNotification(message, this.#early)) return;
        this.#dialect?.notification(message);
        return;
      case 'invalid':
        refuse(this.#side, message.id, message.error);
        return;
      default:
        this.#dialect?.response(message);
    }
  }

  #ready(opening: EarlyMessage): Promise<void> | undefined {
    const { service, connection } = this.#side;
    return service.ready?.(opening, connection.principal);
  }

  #request(request: DecodedRequest): void {
    if (this.#leaving) refuse(this.#side, request.id, STOPPING);
    else if (this.#dialect) this.#dialect.request(request);
    else this.#opening(request);
  }

  /** What is served has yet to find out what it can do. */
  #later(request: DecodedRequest, ready: Promise<void>): void {
    this.#early ??= new Set();
    const early = this.#early;
    const { arriving } = this;
    early.add(request.id);
    this.#earlyBytes += arriving + CALL_BYTES;
    this.#reviewEarly(early);
    const isWanted = () => {
      const isKnown = early.delete(request.id);
      this.#earlyBytes -= arriving + CALL_BYTES;
      this.#reviewEarly(early);
      this.arriving = arriving;
      return isKnown && !this.#side.connection.isOver;
    };
    ready.then(
      () => {
        if (isWanted()) this.#request(request);
      },
      (error) => {
        const era = claimsModern(request.params) ? 'modern' : 'legacy';
        if (isWanted()) refuse(this.#side, request.id, toWireError(error, request.method, era));
      },
    );
  }

  /** Whoever does not wait for answers must not fill the memory with what is to be looked at later. */
  #reviewEarly(early: Set<RequestId>): void {
    const { connection, settings } = this.#side;
    if (early.size === 0) {
      this.#earlyOver?.resolve();
      this.#earlyOver = undefined;
    }
    const isFull = early.size >= settings.maxConcurrent || this.#earlyBytes >= settings.maxQueuedBytes;
    if (isFull === this.#holdsEarly) return;
    this.#holdsEarly = isFull;
    connection.hold(isFull || this.#holdsCalls);
  }

  /** One that belongs to requests which have not been looked at yet: they come first. */
  #earlyNotification(notification: DecodedNotification, early: Set<RequestId>): boolean {
    if (isCancellation(notification, early)) {
      this.#reviewEarly(early);
      return true;
    }
    const ready = this.#ready(notification);
    // As many as there are requests that they could belong to, and some more.
    if (!ready) return false;
    const { arriving } = this;
    if (
      this.#earlyNotifications > MAX_EARLY_NOTIFICATIONS ||
      this.#earlyBytes + arriving > this.#side.settings.maxQueuedBytes
    ) {
      ready.catch(() => {});
      return true;
    }
    this.#earlyNotifications += 1;
    this.#earlyBytes += arriving;
    const done = () => {
      this.#earlyNotifications -= 1;
      this.#earlyBytes -= arriving;
    };
    ready.then(() => this.#dialect?.notification(notification)).then(done, done);
    return true;
  }

  /** JRPC-017, JRPC-019: arrays are part of one revision only. */
  #batch(batch: DecodedBatch): void {
    if (this.#dialect?.revision === '2025-03-26') {
      if (batch.items.length > MAX_BATCH) return refuse(this.#side, undefined, LONG_BATCH);
      this.arriving /= batch.items.length;
      for (const item of batch.items) this.#message(item);
    } else {
      refuse(this.#side, undefined, BATCH);
    }
  }

  #opening(request: DecodedRequest): void {
    const { connection, settings } = this.#side;
    const opening = classifyOpening(request, settings.eras, connection.principal, connection.remote);
    switch (opening.kind) {
      case 'legacy': {
        const dialect = new LegacyServerDialect(this.#side, opening.handshake);
        // A refused handshake decides nothing; the next one may find a place.
        if (dialect.welcome(request.id)) this.#dialect = dialect;
        return;
      }
      case 'modern': {
        const dialect = new ModernServerDialect(this.#side, this.#runtime);
        this.#dialect = dialect;
        return dialect.accepted(request, opening.envelope);
      }
      case 'pong':
        return connection.send(resultMessage(request.id, {}));
      case 'refused':
        refuse(this.#side, request.id, opening.error);
    }
  }
}

/** Of a request that has not been looked at yet: it never will be. */
function isCancellation({ method, params }: DecodedNotification, early: Set<RequestId>): boolean {
  return method === 'notifications/cancelled' && early.delete(params?.['requestId'] as RequestId);
}

const MAX_EARLY_NOTIFICATIONS = 1000;
const STOPPING: JsonRpcErrorBody = { code: ErrorCode.InternalError, message: 'The server is stopping' };
/** One line must not make a flood of answers that nobody can stop. */
const MAX_BATCH = 1000;
const LONG_BATCH: JsonRpcErrorBody = {
  code: ErrorCode.InvalidRequest,
  message: `Invalid request: a batch holds at most ${MAX_BATCH} messages`,
};
const BATCH: JsonRpcErrorBody = {
  code: ErrorCode.InvalidRequest,
  message: 'Invalid request: batches exist only in revision 2025-03-26',
};
