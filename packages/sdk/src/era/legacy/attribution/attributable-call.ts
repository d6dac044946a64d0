import type { Slotted } from '../../../async/live-set.js';
import type { OnBehalfOf, OutgoingCall } from '../../../exchange/call.js';
import type { RequestId } from '../../../wire/json-rpc.js';
import type { SessionCalls } from './session-calls.js';
import { lingerMs } from './suspects.js';

/** What is known of a call before it begins. */
export type NewCall = Pick<OutgoingCall, 'method' | 'params' | 'behalf' | 'timeoutMs' | 'signal'>;

/** What is called. Made when it is needed: most servers never ask. */
export function keyOf({ method, params }: NewCall): string {
  return `${method} ${String(params['name'] ?? params['uri'])}`;
}

/** A call that has begun and may lead to a question of the server. */
export class AttributableCall implements Slotted {
  slot = -1;
  /** Sequence number, in the order of beginning. */
  readonly at: number;
  /** Who is asked: the client that the call is made for, or the caller itself. */
  readonly owner: object;
  readonly caller: object;
  readonly #call: NewCall;
  /** Its request, which is told when the call begins to wait for a user, and when the server goes on with it. */
  request: { rest(): void; resume(): void; readonly call: OutgoingCall } | undefined = undefined;
  /** When it began, calls of this key were known or suspected to ask. */
  readonly expected: boolean;
  /** It may ask now: other calls that are known to ask wait for it. Other calls never wait. */
  alone: boolean;
  /** How often it has asked, and how many of its questions are open. */
  asked = 0;
  open = 0;
  /** Its question cannot belong to another call of its owner. */
  sure = false;
  /** It waits for an answer, and is assumed to ask nothing meanwhile. */
  away = false;
  /** The server has some of the answers, but not all, and may go on with a part of the work. */
  partly = false;
  /** Another call of its owner was given up and may be the one that asked: this one is not assumed to be waiting. */
  stays = false;
  /** Sequence number among the calls that were given up. */
  givenUp: number | undefined = undefined;
  /** Cancels the timer that ends `alone` and may set `away`. */
  callOff: (() => void) | undefined = undefined;
  readonly #calls: SessionCalls;

  /** It begins now. */
  constructor(calls: SessionCalls, caller: object, call: NewCall, alone: boolean) {
    calls.begun += 1;
    this.at = calls.begun;
    this.owner = call.behalf?.owner ?? caller;
    this.caller = caller;
    this.#call = call;
    this.expected = alone;
    this.alone = alone;
    this.#calls = calls;
    calls.running.add(this);
  }

  get behalf(): OnBehalfOf | undefined {
    return this.#call.behalf;
  }

  /** What is called: `tools/call book_flight`. */
  get key(): string {
    return keyOf(this.#call);
  }

  /** It is answered, has failed or was given up. A second call is harmless. */
  end(): void {
    const { running, history } = this.#calls;
    if (!running.delete(this)) return;
    this.callOff?.();
    if (this.expected && this.asked === 0) history.exonerate(this.key);
    this.#calls.changed();
  }

  /** It has ended without an answer; the server may still ask about it. */
  giveUp(id: RequestId): void {
    const { running, givenUp, history } = this.#calls;
    this.givenUp = givenUp.add(id, this, lingerMs(this, history));
    // Perhaps this call was the one that waited, and not the one that was assumed to.
    for (const other of running.values()) {
      if (other.owner !== this.owner || other.sure) continue;
      // Its timer keeps running, since other calls may wait for it.
      other.away = false;
      other.stays = true;
    }
  }

  /** It was given up, and its answer has arrived late: it asks no more. */
  answeredLate(): void {
    this.givenUp = undefined;
    this.#calls.changed();
  }
}
