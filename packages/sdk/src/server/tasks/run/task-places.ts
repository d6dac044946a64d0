import type { Origin } from '../../../exchange/client-key.js';
import { FairSlots, type TakenSlot } from '../../../exchange/fair-slots.js';
import type { TaskSettings } from '../options.js';

/**
 * The places of the tasks that run, fair between clients. A task that waits for an answer gives its place to others, as
 * long as there are places for waiting tasks. When it goes on it takes a place at once, above the limit if need be.
 */
export class TaskPlaces {
  readonly #running: FairSlots;
  readonly #waiting: FairSlots;
  readonly #bytes: FairSlots;
  readonly #maxPerClient: number;

  constructor({ maxRunning, maxRunningPerClient, bounds }: TaskSettings) {
    this.#running = new FairSlots(maxRunning);
    // The store keeps waiting tasks too, and cannot drop them.
    this.#waiting = new FairSlots(Math.floor(bounds.maxTasks / 2));
    this.#bytes = new FairSlots(Math.floor(bounds.maxBytes / 4));
    this.#maxPerClient = maxRunningPerClient;
  }

  /** Tasks that run or wait, and those in creation. */
  get taken(): number {
    return this.#running.taken + this.#waiting.taken;
  }

  /** Tasks that do not wait for an answer, and those in creation. */
  get busy(): number {
    return this.#running.taken;
  }

  /** Undefined: all places are taken, or the client has its share. */
  take(client: string): TaskPlace | undefined {
    const origin = { who: client, part: undefined };
    const running = this.#running;
    if (running.heldBy(client) >= this.#maxPerClient) return undefined;
    const slot = taken(running.take(origin));
    return slot && this.#placeOf(origin, slot);
  }

  /** A place for a task that had one in another process, above the limits if need be. */
  takeAnyway(client: string): TaskPlace {
    const origin = { who: client, part: undefined };
    return this.#placeOf(origin, this.#running.takeAnyway(origin));
  }

  #placeOf(origin: Origin, first: TakenSlot): TaskPlace {
    const [running, waiting, bytes] = [this.#running, this.#waiting, this.#bytes];
    let slot: TakenSlot | undefined = first;
    let waits: TakenSlot | undefined;
    const leaveWaiting = () => {
      if (waits) waiting.release(waits);
      waits = undefined;
    };
    return {
      wait() {
        if (!slot) return;
        waits = taken(waiting.take(origin));
        if (!waits) return;
        running.release(slot);
        slot = undefined;
      },
      goOn() {
        if (!waits) return;
        leaveWaiting();
        slot = running.takeAnyway(origin);
      },
      leave() {
        leaveWaiting();
        if (slot) running.release(slot);
        slot = undefined;
      },
      takeBytes(count) {
        const held = count > 0 ? taken(bytes.take(origin, count)) : undefined;
        return held && (() => bytes.release(held, count));
      },
    };
  }
}

/** The place of one task. */
export interface TaskPlace {
  /** The task waits for an answer of its client. */
  wait(): void;
  /** The task does not wait any more. */
  goOn(): void;
  leave(): void;
  /** Room for an open question. Undefined: the client has its share. Otherwise a function that gives it back. */
  takeBytes(count: number): (() => void) | undefined;
}

function taken(slot: TakenSlot | 'full' | 'share'): TakenSlot | undefined {
  return typeof slot === 'string' ? undefined : slot;
}
