import type { Era } from '@isthmus/sdk/internal/exchange/call.js';
import type { Connection, ConnectionEnd, Receiver } from '@isthmus/sdk/internal/exchange/connection.js';
import {
  type Decoded,
  notificationMessage,
  type RequestId,
  requestMessage,
} from '@isthmus/sdk/internal/wire/json-rpc.js';
import {
  type BenchFailure,
  type DirectWay,
  failureOf,
  judgeEnd,
  judgeError,
  paramsOf,
  SWEEP_MS,
  timedOut,
} from './request.js';

/** Sends requests on the stream of a client. Their answers do not reach the client. */
export interface StreamTap {
  /** Call it when the client knows the era. */
  way(era: Era, revision: string, timeoutMs: number): DirectWay;
}

/** Call it before the client opens the connection. */
export function tapStream(connection: Connection): StreamTap {
  const inFlight = new BenchRequests(FIRST_ID);
  let end: ConnectionEnd | undefined;
  const open = connection.open.bind(connection);
  /** False if it is an answer to a request of the client. A late answer is dropped. */
  const settle = (id: RequestId | undefined, message: Decoded): boolean => {
    if (typeof id !== 'number' || id < FIRST_ID) return false;
    inFlight.take(id)?.(failureIn(message));
    return true;
  };
  connection.open = (receiver: Receiver) =>
    open({
      receive(message, about, bytes) {
        const { kind } = message;
        if ((kind === 'result' || kind === 'error') && settle(message.id, message)) return;
        if (kind === 'invalid' && settle(message.answers, message)) return;
        receiver.receive(message, about, bytes);
      },
      inputEnded: () => receiver.inputEnded(),
      drained: () => receiver.drained(),
      ...(receiver.failed && { failed: (id, error) => receiver.failed!(id, error) }),
    });
  const giveUp = (failure: BenchFailure, sentBefore: number) => {
    for (const { id, settle } of inFlight.takeSentBefore(sentBefore)) {
      if (!end) cancel(id, failure.example);
      settle(failure);
    }
  };
  const cancel = (requestId: number, reason: string) =>
    connection.send(notificationMessage('notifications/cancelled', { requestId, reason }));
  void connection.closed.then((over) => {
    end = over;
    giveUp(judgeEnd(over), Number.POSITIVE_INFINITY);
  });
  return {
    way(era, revision, timeoutMs) {
      // The time of the last sweep is exact enough to find old requests, and cheaper than reading the clock for each one.
      let about = performance.now();
      const sweep = setInterval(() => {
        about = performance.now();
        giveUp(timedOut(timeoutMs), about - timeoutMs);
      }, SWEEP_MS);
      sweep.unref();
      return {
        asker({ method, params }) {
          const all = paramsOf(era, revision, params);
          const text = JSON.stringify({ method, params: all }).slice(1);
          const send = (id: number) => {
            if (connection.sendRequestText) connection.sendRequestText(`{"jsonrpc":"2.0","id":${id},${text}`);
            else connection.send(requestMessage(id, method, all));
          };
          return (settled) => {
            if (end) return settled(judgeEnd(end));
            const id = inFlight.add(settled, about);
            try {
              send(id);
            } catch (error) {
              inFlight.take(id);
              settled(judgeError(error));
            }
          };
        },
        async close() {
          clearInterval(sweep);
        },
      };
    },
  };
}

function failureIn(message: Decoded): BenchFailure | undefined {
  if (message.kind === 'result' || message.kind === 'error') return failureOf(message);
  const why = message.kind === 'invalid' ? message.error.message : 'the answer is not a result';
  return { kind: 'INVALID_RESULT', example: why, answered: true };
}

/** Far above the ids of the client, and small enough for peers that keep ids in 32 bits. */
const FIRST_ID = 2 ** 30;

type Settle = (failure: BenchFailure | undefined) => void;

/**
 * Requests in flight by id, in reused slots. A `Map` would allocate a new table every few requests, and the old tables stay
 * alive until the next full garbage collection, which stops the load generator for milliseconds.
 */
export class BenchRequests {
  readonly #ids = new Int32Array(SLOTS);
  readonly #sentAt = new Float64Array(SLOTS);
  readonly #settles: (Settle | undefined)[] = new Array<undefined>(SLOTS).fill(undefined);
  #nextId: number;

  /** Ids begin at `firstId` and fit into 32 bits for the next 2^30 requests. */
  constructor(firstId: number) {
    this.#nextId = firstId;
  }

  /** Returns the id of the new request. More than `SLOTS` are never in flight: the command refuses such a concurrency. */
  add(settle: Settle, sentAt: number): number {
    while (this.#settles[this.#nextId & MASK]) this.#nextId += 1;
    const id = this.#nextId;
    this.#nextId += 1;
    const slot = id & MASK;
    this.#ids[slot] = id;
    this.#sentAt[slot] = sentAt;
    this.#settles[slot] = settle;
    return id;
  }

  /** Removes and returns a request; undefined if none has this id. */
  take(id: number): Settle | undefined {
    const slot = id & MASK;
    const settle = this.#settles[slot];
    if (!settle || this.#ids[slot] !== id) return undefined;
    this.#settles[slot] = undefined;
    return settle;
  }

  /** Removes and returns all requests that were sent before this time. */
  takeSentBefore(time: number): readonly { readonly id: number; readonly settle: Settle }[] {
    const taken: { id: number; settle: Settle }[] = [];
    for (let slot = 0; slot < SLOTS; slot += 1) {
      const settle = this.#settles[slot];
      if (!settle || this.#sentAt[slot]! >= time) continue;
      this.#settles[slot] = undefined;
      taken.push({ id: this.#ids[slot]!, settle });
    }
    return taken;
  }
}

/** A power of two, and more than `--concurrency` may be. */
const SLOTS = 16_384;
const MASK = SLOTS - 1;
