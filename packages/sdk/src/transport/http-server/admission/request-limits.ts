import { clientKey } from '../../../exchange/client-key.js';
import { FairSlots, type NoSlot, type TakenSlot } from '../../../exchange/fair-slots.js';
import { decodeLine } from '../../../wire/codec.js';
import type { Decoded } from '../../../wire/json-rpc.js';
import {
  type AdmittedRequest,
  busy,
  refuse,
  respondInternalError,
  tooMany,
} from '../exchange/admitted-request.js';

/** Limits how many requests of an endpoint run at the same time. One client cannot take all slots. */
export class RequestLimiter {
  readonly #slots: FairSlots;

  constructor(maxRequests: number) {
    this.#slots = new FairSlots(maxRequests);
  }

  /** Takes a slot for each request. Undefined: there are none, and the request was refused. `part`: the session, if any. */
  enter(admitted: AdmittedRequest, message: Decoded, part: unknown, count = 1): TakenSlot | undefined {
    const { principal, exchange } = admitted;
    const who = clientKey({ principal, remote: exchange.remote });
    const slot = this.#slots.take({ who, part }, count);
    if (typeof slot === 'object') return slot;
    this.#refuse(admitted, message, slot, who);
    return undefined;
  }

  /**
   * The same for a POST whose body is for another process. It is read only before it is refused: answers and notifications
   * never are, since running calls may wait for them.
   */
  enterUnread(admitted: AdmittedRequest, body: Buffer, part: unknown): TakenSlot | 'uncounted' | undefined {
    const { principal, exchange } = admitted;
    const who = clientKey({ principal, remote: exchange.remote });
    const slot = this.#slots.take({ who, part });
    if (typeof slot === 'object') return slot;
    const message = decodeLine(body);
    if (message.kind !== 'request' && message.kind !== 'batch') return 'uncounted';
    this.#refuse(admitted, message, slot, who);
    return undefined;
  }

  leave(slot: TakenSlot, count = 1): void {
    this.#slots.release(slot, count);
  }

  #refuse(admitted: AdmittedRequest, message: Decoded, why: NoSlot, who: string): void {
    const id = message.kind === 'request' ? message.id : undefined;
    const { max } = this.#slots;
    if (why === 'full') return busy(admitted, `${max} requests are running`, id);
    const held = this.#slots.heldBy(who);
    tooMany(admitted, `${held} requests of this client are running, its share of ${max}`, id);
  }
}

/**
 * Limits the memory that the bodies of running requests take. Small bodies are not counted, which saves time for each of
 * them: the limit on the number of requests bounds them.
 */
export class BodyMemory {
  readonly #slots: FairSlots;
  readonly maxBytes: number;

  constructor(maxBytes: number) {
    this.maxBytes = maxBytes;
    this.#slots = new FairSlots(Math.max(1, Math.floor(maxBytes / UNIT)));
  }

  get takenBytes(): number {
    return this.#slots.taken * UNIT;
  }

  /** Reserves memory for a body. Undefined: there is none, and the request was refused. */
  enter(admitted: AdmittedRequest, maxBodyBytes: number): BodyReservation | undefined {
    const { exchange, principal } = admitted;
    const length = lengthOf(exchange.header('content-length'), maxBodyBytes);
    if (length <= SMALL) return NO_RESERVATION;
    const who = clientKey({ principal, remote: exchange.remote });
    const count = Math.ceil(length / UNIT);
    const slot = this.#slots.take({ who, part: undefined }, count);
    if (typeof slot === 'object') {
      const reservation = new TakenReservation(this.#slots, slot, count);
      exchange.onOver(() => reservation.over());
      return reservation;
    }
    const why = `The bodies of running requests may take ${this.maxBytes} bytes`;
    if (slot === 'full') busy(admitted, why);
    else tooMany(admitted, `${why}, and this client has used its share`);
    return undefined;
  }
}

/** Reads the body of a request within its limits, and hands it on. A body over a limit is refused. */
export function readBody(
  admitted: AdmittedRequest,
  { bodies, maxBodyBytes }: { readonly bodies: BodyMemory; readonly maxBodyBytes: number },
  onBytes: (bytes: Buffer, admitted: AdmittedRequest) => void,
): void {
  const { exchange } = admitted;
  const reservation = bodies.enter(admitted, maxBodyBytes);
  if (!reservation) return;
  exchange.body(maxBodyBytes, (body) => {
    if (body.kind === 'gone') return;
    if (body.kind === 'too-large') {
      return refuse(admitted, 413, `The body is longer than ${maxBodyBytes} bytes`);
    }
    reservation.shrinkTo(body.bytes.length);
    try {
      onBytes(body.bytes, reservation === NO_RESERVATION ? admitted : { ...admitted, reservation });
    } catch {
      respondInternalError(exchange);
    }
  });
}

/** The memory of one body. Released when the exchange is over, unless it is kept longer. */
export interface BodyReservation {
  /** The body has arrived with this length: releases the rest. */
  shrinkTo(bytes: number): void;
  /** Keeps the reservation when the exchange is over, until `release`. */
  keep(): void;
  release(): void;
}

class TakenReservation implements BodyReservation {
  readonly #slots: FairSlots;
  #slot: TakenSlot | undefined;
  #count: number;
  #isKept = false;

  constructor(slots: FairSlots, slot: TakenSlot, count: number) {
    this.#slots = slots;
    this.#slot = slot;
    this.#count = count;
  }

  shrinkTo(bytes: number): void {
    const needed = bytes <= SMALL ? 0 : Math.ceil(bytes / UNIT);
    const excess = this.#count - needed;
    if (!this.#slot || excess <= 0) return;
    this.#count = needed;
    this.#slots.release(this.#slot, excess);
  }

  keep(): void {
    this.#isKept = true;
  }

  over(): void {
    if (!this.#isKept) this.release();
  }

  release(): void {
    const slot = this.#slot;
    this.#slot = undefined;
    if (slot) this.#slots.release(slot, this.#count);
  }
}

/** A body without a stated length may be as long as allowed. */
function lengthOf(header: string | undefined, maxBodyBytes: number): number {
  const length = Number(header);
  return header !== undefined && length >= 0 ? Math.min(length, maxBodyBytes) : maxBodyBytes;
}

/** For a body that is not counted. */
const NO_RESERVATION: BodyReservation = { shrinkTo() {}, keep() {}, release() {} };
const UNIT = 1024;
const SMALL = 16 * 1024;

/** All endpoints of the process share it. */
export const PROCESS_BODIES = new BodyMemory(64 * 1024 * 1024);
