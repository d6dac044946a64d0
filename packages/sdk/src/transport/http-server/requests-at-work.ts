import { clientKey } from '../../exchange/client-key.js';
import { FairSlots, type NoSlot, type TakenSlot } from '../../exchange/fair-slots.js';
import type { Decoded } from '../../wire/json-rpc.js';
import { type AdmittedRequest, busy, tooMany } from './admitted-request.js';

/** The requests of an endpoint that wait for their answers. One client cannot have them all. */
export class RequestsAtWork {
  readonly #places: FairSlots;

  constructor(maxRequests: number) {
    this.#places = new FairSlots(maxRequests);
  }

  /** A place for each request; undefined when there are none, and that was the answer. `part`: the session, if any. */
  enter(visit: AdmittedRequest, message: Decoded, part: unknown, count = 1): TakenSlot | undefined {
    const { principal, exchange } = visit;
    const who = clientKey({ principal, remote: exchange.remote });
    const place = this.#places.take({ who, part }, count);
    if (typeof place === 'object') return place;
    this.#refuse(visit, message, place, who);
    return undefined;
  }

  leave(place: TakenSlot, count = 1): void {
    this.#places.release(place, count);
  }

  #refuse(visit: AdmittedRequest, message: Decoded, why: NoSlot, who: string): void {
    const id = message.kind === 'request' ? message.id : undefined;
    const { max } = this.#places;
    if (why === 'full') return busy(visit, `${max} requests are being worked on`, id);
    const held = this.#places.heldBy(who);
    tooMany(visit, `${held} requests of this client are being worked on, its share of ${max}`, id);
  }
}
