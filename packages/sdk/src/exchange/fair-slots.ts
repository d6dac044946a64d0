import type { Origin } from './client-key.js';

/** Slots that were taken; give them back with `release`. */
export interface TakenSlot {
  /** How many slots the same session of the client holds. */
  readonly held: number;
}

/** Why there was no slot: all are taken, or the client has its share. */
export type NoSlot = 'full' | 'share';

/**
 * Slots that cannot be taken back from their holders, shared so that a newcomer finds a free one. A client may hold at
 * most three times as many slots as are free: alone it gets three quarters of them, and of `n` clients that want all,
 * each gets 3/(3n + 1). The rest stays free for clients that have less. The same rule holds between the sessions of one
 * client. With fewer than four slots none is kept free.
 */
export class FairSlots {
  #max: number;
  #taken = 0;
  readonly #groups = new Map<string, Group>();

  constructor(max: number) {
    this.#max = max;
  }

  get max(): number {
    return this.#max;
  }

  get taken(): number {
    return this.#taken;
  }

  resize(max: number): void {
    this.#max = max;
  }

  /** The number of clients and sessions in memory. */
  get known(): number {
    let known = this.#groups.size;
    for (const { parts } of this.#groups.values()) known += parts.size;
    return known;
  }

  heldBy(who: string): number {
    return this.#groups.get(who)?.held ?? 0;
  }

  /** Takes `count` slots, or says why it cannot. */
  take(origin: Origin, count = 1): TakenSlot | NoSlot {
    // The number of free slots when the last of them is taken.
    const free = this.#max - this.#taken - count + 1;
    if (free <= 0) return 'full';
    const part = this.#partOf(origin);
    if (this.#max >= SMALLEST_SHARED && !hasRoom(part, free, count - 1)) return 'share';
    return this.#hold(part, count);
  }

  /** Whether `take` would succeed. */
  hasRoomFor(origin: Origin): boolean {
    const free = this.#max - this.#taken;
    return free > 0 && (this.#max < SMALLEST_SHARED || hasRoom(this.#partOf(origin), free, 0));
  }

  /** Takes a slot, above the limit if none is free: for requests that other requests wait for. */
  takeAnyway(origin: Origin): TakenSlot {
    return this.#hold(this.#partOf(origin), 1);
  }

  /** How many slots this session of the client holds. */
  heldByPart({ who, part }: Origin): number {
    return this.#groups.get(who)?.parts.get(part)?.held ?? 0;
  }

  /** Gives one slot back when the `TakenSlot` is not at hand. */
  releaseOf(origin: Origin): void {
    this.#hold(this.#partOf(origin), -1);
  }

  release(slot: TakenSlot, count = 1): void {
    this.#hold(slot as Part, -count);
  }

  #hold(part: Part, count: number): Part {
    part.held += count;
    part.group.held += count;
    this.#taken += count;
    return part;
  }

  /** Idle clients and sessions are kept until there are many: a map is slow when entries come and go (`LiveSet`). */
  #partOf({ who, part }: Origin): Part {
    let group = this.#groups.get(who);
    if (!group) {
      if (this.#groups.size >= this.#taken + MAX_IDLE) sweep(this.#groups);
      group = { held: 0, parts: new Map() };
      this.#groups.set(who, group);
    }
    let found = group.parts.get(part);
    if (!found) {
      if (group.parts.size >= group.held + MAX_IDLE_PARTS) sweep(group.parts);
      found = { group, held: 0 };
      group.parts.set(part, found);
    }
    return found;
  }
}

interface Group {
  held: number;
  readonly parts: Map<unknown, Part>;
}

interface Part extends TakenSlot {
  readonly group: Group;
  held: number;
}

/** Whether there is room for one more slot after `more` others. */
function hasRoom({ group, held }: Part, free: number, more: number): boolean {
  const ofGroup = group.held + more;
  const ofPart = held + more;
  if (ofGroup >= SHARE * free) return false;
  // What the whole client may still take, shared between its sessions by the same rule.
  const left = (SHARE * free - ofGroup) / (SHARE + 1);
  return ofPart === 0 || ofPart < SHARE * left;
}

function sweep<K>(holders: Map<K, { readonly held: number }>): void {
  for (const [key, { held }] of holders) if (held === 0) holders.delete(key);
}

const SHARE = 3;
const SMALLEST_SHARED = 4;
const MAX_IDLE = 1000;
const MAX_IDLE_PARTS = 64;
