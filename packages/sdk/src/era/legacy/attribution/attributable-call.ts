import type { Clock } from '../../../async/clock.js';
import type { Slotted } from '../../../async/live-set.js';
import type { OnBehalfOf, OutgoingCall } from '../../../exchange/call.js';
import type { RequestId } from '../../../wire/json-rpc.js';

/** A running call that may lead to a question of the server. */
export interface AttributableCall extends Slotted {
  /** Sequence number, in the order of beginning. */
  readonly at: number;
  /** Who is asked: the client that the call is made for, or the caller itself. */
  readonly owner: object;
  readonly caller: object;
  readonly behalf: OnBehalfOf | undefined;
  /** What is called: `tools/call book_flight`. */
  readonly key: string;
  /** Its request, which is told when the call begins to wait for a user, and when the server goes on with it. */
  request: { rest(): void; resume(): void; readonly call: OutgoingCall } | undefined;
  /** When it began, calls of this key were known or suspected to ask. */
  readonly expected: boolean;
  /** It may ask now: other calls that are known to ask wait for it. Other calls never wait. */
  alone: boolean;
  /** How often it has asked, and how many of its questions are open. */
  asked: number;
  open: number;
  /** Its question cannot belong to another call of its owner. */
  sure: boolean;
  /** It waits for an answer, and is assumed to ask nothing meanwhile. */
  away: boolean;
  /** The server has some of the answers, but not all, and may go on with a part of the work. */
  partly: boolean;
  /** Another call of its owner was given up and may be the one that asked: this one is not assumed to be waiting. */
  stays: boolean;
  /** Sequence number among the calls that were given up. */
  givenUp: number | undefined;
  /** Cancels the timer that ends `alone` and may set `away`. */
  callOff: (() => void) | undefined;
}

/** The call that a question belongs to, as far as it can be known, and all calls that could have led to it. */
export type Attribution = Attributed | Unclear | { readonly kind: 'none' };

export interface Attributed {
  readonly kind: 'one';
  readonly call: AttributableCall;
  readonly calls: readonly AttributableCall[];
}

export interface Unclear {
  readonly kind: 'several';
  /** The number of calls that had been given up when the question came. */
  readonly givenUp: number;
  readonly count: number;
  readonly calls: readonly AttributableCall[];
}

/** A question that the owner of a call is being asked. */
export interface OpenQuestion {
  readonly call: AttributableCall;
  /** The server has the answer, or has cancelled the question. */
  isOver: boolean;
}

/** The most likely of several calls of one owner: the latest of those that have asked least. */
export function likeliest(calls: readonly AttributableCall[]): AttributableCall {
  const fewest = Math.min(...calls.map(({ asked }) => asked));
  return calls.findLast(({ asked, open }) => asked === fewest && open === 0) ?? calls.at(-1)!;
}

/** Calls that were given up, but that the server may still run and ask about. */
export class GivenUpCalls<T> {
  readonly #clock: Clock;
  readonly #keepMs: number;
  readonly #calls = new Map<RequestId, GivenUp<T>>();

  /** Late answers are recognized for at least `keepMs`, also if the call may ask for less time. */
  constructor(clock: Clock, keepMs: number) {
    this.#clock = clock;
    this.#keepMs = keepMs;
  }

  /** The call may ask for `ms` more. */
  add(id: RequestId, call: T, ms: number): void {
    const now = this.#clock.now();
    for (const [old, { forgotten }] of this.#calls) if (forgotten <= now) this.#calls.delete(old);
    this.#calls.set(id, { call, until: now + ms, forgotten: now + Math.max(ms, this.#keepMs) });
  }

  /** Its answer has arrived. Undefined if there is no such call. */
  remove(id: RequestId): T | undefined {
    const call = this.#calls.get(id)?.call;
    this.#calls.delete(id);
    return call;
  }

  /** The calls that may still ask. */
  all(): T[] {
    if (this.#calls.size === 0) return [];
    const now = this.#clock.now();
    return [...this.#calls.values()].filter(({ until }) => until > now).map(({ call }) => call);
  }

  /** For each of them, the milliseconds until it is assumed to ask no more. */
  ends(): number[] {
    const now = this.#clock.now();
    return [...this.#calls.values()].map(({ until }) => until - now).filter((ms) => ms > 0);
  }
}

interface GivenUp<T> {
  readonly call: T;
  readonly until: number;
  readonly forgotten: number;
}
