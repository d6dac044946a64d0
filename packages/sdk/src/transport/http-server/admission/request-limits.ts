import { clientKey } from '../../../exchange/client-key.js';
import { FairSlots, type NoSlot, type TakenSlot } from '../../../exchange/fair-slots.js';
import type { Decoded } from '../../../wire/json-rpc.js';
import { type AdmittedRequest, busy, tooMany } from '../exchange/admitted-request.js';

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

/**
 * What the bodies of requests take that are being received or worked on: a bound in bytes beside the one in requests.
 * Small bodies are not counted, so that they cost nothing: there can only be so many of them.
 */
export class BodyMemory {
  readonly #places: FairSlots;
  readonly maxBytes: number;

  constructor(maxBytes: number) {
    this.maxBytes = maxBytes;
    this.#places = new FairSlots(Math.max(1, Math.floor(maxBytes / UNIT)));
  }

  get takenBytes(): number {
    return this.#places.taken * UNIT;
  }

  /** Room for a body; nothing for a small one. Undefined: there is none, and that was the answer. */
  enter(visit: AdmittedRequest, maxBodyBytes: number): BodyReservation | undefined {
    const { exchange, principal } = visit;
    const length = lengthOf(exchange.header('content-length'), maxBodyBytes);
    if (length <= SMALL) return NO_ROOM;
    const who = clientKey({ principal, remote: exchange.remote });
    const count = Math.ceil(length / UNIT);
    const place = this.#places.take({ who, part: undefined }, count);
    if (typeof place === 'object') {
      const room = new TakenRoom(this.#places, place, count);
      exchange.onOver(() => room.over());
      return room;
    }
    const why = `${this.maxBytes} bytes of requests may be worked on at the same time`;
    if (place === 'full') busy(visit, why);
    else tooMany(visit, `${why}, and this client has its share`);
    return undefined;
  }
}

/** What one body takes. Given back when the exchange is over, or later, by whoever keeps it. */
export interface BodyReservation {
  /** The body has come, and is so long: what was taken beyond that is given back. */
  shrinkTo(bytes: number): void;
  /** What was received goes on being needed when the exchange is over: until `release`. */
  keep(): void;
  release(): void;
}

class TakenRoom implements BodyReservation {
  readonly #places: FairSlots;
  #place: TakenSlot | undefined;
  #count: number;
  #isKept = false;

  constructor(places: FairSlots, place: TakenSlot, count: number) {
    this.#places = places;
    this.#place = place;
    this.#count = count;
  }

  shrinkTo(bytes: number): void {
    const needed = bytes <= SMALL ? 0 : Math.ceil(bytes / UNIT);
    const excess = this.#count - needed;
    if (!this.#place || excess <= 0) return;
    this.#count = needed;
    this.#places.release(this.#place, excess);
  }

  keep(): void {
    this.#isKept = true;
  }

  over(): void {
    if (!this.#isKept) this.release();
  }

  release(): void {
    const place = this.#place;
    this.#place = undefined;
    if (place) this.#places.release(place, this.#count);
  }
}

/** A body without a length may become as long as any. */
function lengthOf(header: string | undefined, maxBodyBytes: number): number {
  const length = Number(header);
  return header !== undefined && length >= 0 ? Math.min(length, maxBodyBytes) : maxBodyBytes;
}

/** Of a body that is not counted. */
export const NO_ROOM: BodyReservation = { shrinkTo() {}, keep() {}, release() {} };
const UNIT = 1024;
const SMALL = 16 * 1024;

/** One for the process: all its endpoints share it. */
export const PROCESS_BODIES = new BodyMemory(64 * 1024 * 1024);
