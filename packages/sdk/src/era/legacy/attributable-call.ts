import type { Clock } from '../../async/clock.js';
import type { Slotted } from '../../async/live-set.js';
import type { OnBehalfOf, OutgoingCall } from '../../exchange/call.js';
import type { RequestId } from '../../wire/json-rpc.js';
import type { Rests } from '../client-dialect-context.js';

/** A call that the server may ask back about, while it runs. */
export interface AttributableCall extends Slotted {
  /** Which one of all it is, in the order in which they began. */
  readonly at: number;
  /** Who is asked: whoever speaks, or whom it speaks for. */
  readonly owner: object;
  readonly speaker: object;
  readonly behalf: OnBehalfOf | undefined;
  /** What is called: `tools/call book_flight`. */
  readonly key: string;
  /** The request, once it has been sent. */
  id: RequestId | undefined;
  /** Told while it waits for a person. */
  call: OutgoingCall | undefined;
  rests: Rests | undefined;
  /** It was known to ask when it began, or may have asked earlier. */
  readonly expected: boolean;
  /** It may ask now: other calls that are known to ask wait for it. Calls that are not known to ask never wait. */
  alone: boolean;
  /** How often it has asked, and how many of its questions are open. */
  asked: number;
  open: number;
  /** Its question cannot have been that of another call of its owner. */
  sure: boolean;
  /** It waits for an answer and asks nothing meanwhile. */
  away: boolean;
  /** The server has some of the answers to what it asked at once, and may go on with a part of its work. */
  partly: boolean;
  /** Another call of its owner was given up, and may be the one that asked: this one is not taken for waiting. */
  stays: boolean;
  /** The how-manieth it was of those that were given up without an answer. */
  givenUp: number | undefined;
  /** Calls off the moment in which it no longer runs alone, or counts as away. */
  callOff: (() => void) | undefined;
}

/** Whose question it is, as far as anybody can know, and all the calls that could have led to it. */
export type Attribution = Attributed | Unclear | { readonly kind: 'nobody' };

export interface Attributed {
  readonly kind: 'one';
  readonly turn: AttributableCall;
  readonly turns: readonly AttributableCall[];
}

export interface Unclear {
  readonly kind: 'several';
  /** How many calls had been given up when the question came. */
  readonly givenUp: number;
  readonly count: number;
  readonly turns: readonly AttributableCall[];
}

/** A question that was put to the owner of a call. */
export interface OpenQuestion {
  readonly turn: AttributableCall;
  /** The server has its answer, or wants none any more. */
  isOver: boolean;
}

/** Which of the calls of one owner it belongs to: one that has not asked, the latest of those. */
export function likeliest(turns: readonly AttributableCall[]): AttributableCall {
  const fewest = Math.min(...turns.map(({ asked }) => asked));
  return turns.findLast(({ asked, open }) => asked === fewest && open === 0) ?? turns.at(-1)!;
}

/** Calls that nobody waits for any more, but that may still run over there and ask. */
export class GivenUpCalls<T> {
  readonly #clock: Clock;
  readonly #keepMs: number;
  readonly #calls = new Map<RequestId, GivenUp<T>>();

  /** For `keepMs` their late answers are recognized, also where they are feared for less. */
  constructor(clock: Clock, keepMs: number) {
    this.#clock = clock;
    this.#keepMs = keepMs;
  }

  /** It may ask for so long. */
  add(id: RequestId, call: T, ms: number): void {
    const now = this.#clock.now();
    for (const [old, { forgotten }] of this.#calls) if (forgotten <= now) this.#calls.delete(old);
    this.#calls.set(id, { call, until: now + ms, forgotten: now + Math.max(ms, this.#keepMs) });
  }

  /** Its answer came after all. Undefined when there is no such call. */
  remove(id: RequestId): T | undefined {
    const call = this.#calls.get(id)?.call;
    this.#calls.delete(id);
    return call;
  }

  /** Those that may still ask. */
  all(): T[] {
    if (this.#calls.size === 0) return [];
    const now = this.#clock.now();
    return [...this.#calls.values()].filter(({ until }) => until > now).map(({ call }) => call);
  }

  /** In how many milliseconds each of them is not feared any more. */
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
