import type { Clock } from '../async/clock.js';
import { createDeferred, type Deferred } from '../async/deferred.js';
import type { Slotted } from '../async/live-set.js';
import { events } from '../events.js';
import type { EarlyMessage, Service } from '../exchange/call.js';
import type { Connection, ConnectionEnd, Receiver } from '../exchange/connection.js';
import { type CallSurroundings, InboundCalls } from '../exchange/inbound-calls.js';
import { ErrorCode } from '../wire/error-codes.js';
import {
  type Decoded,
  type DecodedBatch,
  type DecodedNotification,
  type DecodedRequest,
  type JsonRpcErrorBody,
  type RequestId,
  resultMessage,
} from '../wire/json-rpc.js';
import { classifyOpening } from './classify/classify-opening.js';
import { EarlyMessages } from './early-messages.js';
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
   * Refuses new requests, lets running ones finish within the grace, aborts the others, which then have `abortMs` to
   * answer, writes the output out and closes. A second call is harmless.
   */
  close(graceMs?: number, abortMs?: number): Promise<void>;
  /** Settles when the connection has ended, never rejects. */
  readonly done: Promise<void>;
}

/**
 * Serves one connection. The first accepted request that belongs to one era chooses the dialect for all that follow.
 * `onDone` is called when the connection ends, unless it is over already.
 */
export function serveConnection(
  connection: Connection,
  service: Service,
  runtime: ModernServerState,
  onDone?: (served: ServedConnection) => void,
): ServedConnection {
  const served = new ConnectionDriver(connection, service, runtime);
  connection.open(served);
  // Over HTTP most connections are one request that is answered at once; then there is nothing left to watch.
  if (!connection.isOver) served.watch(onDone);
  return served;
}

class ConnectionDriver implements Receiver, ServedConnection, CallSurroundings {
  slot = -1;
  #done: Promise<void> | undefined;
  #onDone: ((served: ServedConnection) => void) | undefined;
  #isOver = false;
  readonly #side: ServerDialectContext;
  readonly #runtime: ModernServerState;
  #dialect: ServerDialect | undefined;
  #closing: Promise<void> | undefined;
  #graceOver: Deferred<void> | undefined;
  /** Settled when aborted handlers have no more time to answer. */
  #answersOver: Deferred<void> | undefined;
  /** While true, new requests are refused: the server is stopping. */
  #leaving = false;
  /** Messages that came before the service was ready; created by the first. */
  #early: EarlyMessages | undefined;
  #holdsEarly = false;
  #holdsCalls = false;
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
    this.#done ??= this.#side.connection.closed.then((end) => this.#over(end));
    return this.#done;
  }

  /** Cleans up when the connection ends. */
  watch(onDone: ((served: ServedConnection) => void) | undefined): void {
    const { connection } = this.#side;
    this.#onDone = onDone;
    if (connection.onOver) connection.onOver((end) => this.#over(end));
    else void this.done;
  }

  #over(end: ConnectionEnd): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#dialect?.dispose('the connection ended');
    const { label } = this.#side.connection;
    if (events.closed.hasSubscribers) events.closed.publish({ connection: label, ...end });
    this.#onDone?.(this);
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
    switch (message.kind) {
      case 'request': {
        const ready = this.#ready(message);
        if (ready && message.method !== 'ping') return this.#serveLater(message, ready);
        // A ping is answered even if the service never gets ready.
        ready?.catch(() => {});
        return this.#serve(message);
      }
      case 'notification':
        if (this.#early?.hasRequests && this.#notifyLater(message, this.#early)) return;
        return this.#dialect?.notification(message);
      case 'batch':
        return this.#batch(message);
      case 'invalid':
        return refuse(this.#side, message.id, message.error);
      default:
        this.#dialect?.response(message);
    }
  }

  inputEnded(): void {
    this.#dialect?.inputEnded();
    void this.#finish(this.#side.settings.graceMs);
  }

  drained(): void {
    this.#dialect?.drained();
    this.#side.calls.resume();
  }

  missed(): void {
    this.#dialect?.missed?.();
  }

  lost(): void {
    this.#dialect?.lost?.();
  }

  close(graceMs = this.#side.settings.graceMs, abortMs = 0): Promise<void> {
    this.#leaving = true;
    this.#dialect?.retire();
    return this.#finish(graceMs, abortMs);
  }

  /** A later close may shorten an earlier one, never extend it. */
  async #finish(graceMs: number, abortMs = 0): Promise<void> {
    const { clock } = this.#side.settings;
    this.#graceOver ??= createDeferred<void>();
    this.#answersOver ??= createDeferred<void>();
    const [graceOver, answersOver] = [this.#graceOver, this.#answersOver];
    this.#closing ??= this.#finishOnce(graceOver.promise, answersOver.promise);
    const endAnswers = () => {
      // The end of a call that was aborted must not start another one.
      this.#side.calls.stop();
      answersOver.resolve();
    };
    let callOff = clock.after(graceMs, () => {
      graceOver.resolve();
      if (abortMs === 0) endAnswers();
      else callOff = clock.after(abortMs, endAnswers);
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
    await this.#early?.empty();
    await this.#side.calls.idle();
  }

  /** A handler that observes its signal can still answer: a partial result is better than an error. */
  #abort(): void {
    for (const inbound of this.#side.calls.pending()) {
      inbound.stopped = true;
      inbound.running?.cancel('the server stopped');
    }
  }

  /** Answers every open request with an error. */
  #abandon(): void {
    for (const id of this.#early?.abandonRequests() ?? []) refuse(this.#side, id, STOPPING);
    for (const inbound of this.#side.calls.pending()) {
      const { running } = inbound;
      sendError(this.#side, inbound, STOPPED);
      running?.cancel('the server stopped');
    }
  }

  #ready(message: EarlyMessage): Promise<void> | undefined {
    const { service, connection } = this.#side;
    return service.ready?.(message, connection.principal);
  }

  /** Serves a request when the service knows what it can do. */
  #serveLater(request: DecodedRequest, ready: Promise<void>): void {
    const { connection, settings } = this.#side;
    this.#early ??= new EarlyMessages(settings, (hold) => {
      this.#holdsEarly = hold;
      connection.hold(hold || this.#holdsCalls);
    });
    const { arriving } = this;
    const remove = this.#early.addRequest(request.id, arriving);
    const isWanted = () => {
      const isKnown = remove();
      this.arriving = arriving;
      return isKnown && !connection.isOver;
    };
    ready.then(
      () => {
        if (isWanted()) this.#serve(request);
      },
      (error) => {
        const era = claimsModern(request.params) ? 'modern' : 'legacy';
        if (isWanted()) refuse(this.#side, request.id, toWireError(error, request.method, era));
      },
    );
  }

  /** Keeps a notification behind the requests that it may belong to. False: it can be handled now. */
  #notifyLater(notification: DecodedNotification, early: EarlyMessages): boolean {
    if (early.cancelledBy(notification)) return true;
    const ready = this.#ready(notification);
    if (!ready) return false;
    const remove = early.addNotification(this.arriving);
    if (remove) ready.then(() => this.#dialect?.notification(notification)).then(remove, remove);
    else ready.catch(() => {});
    return true;
  }

  /** JRPC-017, JRPC-019: only one revision has batches. */
  #batch(batch: DecodedBatch): void {
    if (this.#dialect?.revision === '2025-03-26') {
      if (batch.items.length > MAX_BATCH) return refuse(this.#side, undefined, LONG_BATCH);
      const bytes = this.arriving / batch.items.length;
      for (const item of batch.items) this.receive(item, undefined, bytes);
    } else {
      refuse(this.#side, undefined, BATCH);
    }
  }

  /** The first request that is accepted chooses the dialect. */
  #serve(request: DecodedRequest): void {
    const { connection, settings } = this.#side;
    if (this.#leaving && !connection.takesLate) return refuse(this.#side, request.id, STOPPING);
    if (this.#dialect) return this.#dialect.request(request);
    const opening = connection.envelope
      ? ({ kind: 'modern', envelope: connection.envelope } as const)
      : classifyOpening(request, settings.eras, connection.principal, connection.remote);
    switch (opening.kind) {
      case 'legacy': {
        const dialect = new LegacyServerDialect(this.#side, opening.handshake);
        // A refused handshake does not choose the era; the next one may be accepted.
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

const STOPPING: JsonRpcErrorBody = { code: ErrorCode.InternalError, message: 'The server is stopping' };
/** One line must not lead to an unbounded number of answers. */
const MAX_BATCH = 1000;
const LONG_BATCH: JsonRpcErrorBody = {
  code: ErrorCode.InvalidRequest,
  message: `Invalid request: a batch holds at most ${MAX_BATCH} messages`,
};
const BATCH: JsonRpcErrorBody = {
  code: ErrorCode.InvalidRequest,
  message: 'Invalid request: batches exist only in revision 2025-03-26',
};
