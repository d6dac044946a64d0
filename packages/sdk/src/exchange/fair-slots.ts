import type { Origin } from './client-key.js';

/** What was taken; give it back with `release`. */
export interface TakenSlot {
  /** How many places the same client has taken. */
  readonly held: number;
}

/** Why there was no place: all are taken, or the client has its share. */
export type NoSlot = 'full' | 'share';

/**
 * A number of places that cannot be taken back, shared so that a newcomer finds one. A client may hold at most three
 * times as many places as are free: alone it gets three quarters of them, and of `n` clients that want all each gets
 * 3/(3n + 1). The rest stays free for those who have less. The same rule holds inside a client between its sessions.
 * Below four places nothing is kept free.
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

  /** Clients and sessions that are remembered. */
  get known(): number {
    let known = this.#groups.size;
    for (const { parts } of this.#groups.values()) known += parts.size;
    return known;
  }

  heldBy(who: string): number {
    return this.#groups.get(who)?.held ?? 0;
  }

  /** So many places, or why there are none. */
  take(origin: Origin, count = 1): TakenSlot | NoSlot {
    // What is free for the last of them.
    const free = this.#max - this.#taken - count + 1;
    if (free <= 0) return 'full';
    const part = this.#partOf(origin);
    if (this.#max >= SMALLEST_SHARED && !hasRoom(part, free, count - 1)) return 'share';
    return this.#hold(part, count);
  }

  /** Whether `take` would give it one. */
  hasRoomFor(origin: Origin): boolean {
    const free = this.#max - this.#taken;
    return free > 0 && (this.#max < SMALLEST_SHARED || hasRoom(this.#partOf(origin), free, 0));
  }

  /** For requests that others wait for: above the limits if need be. */
  takeAnyway(origin: Origin): TakenSlot {
    return this.#hold(this.#partOf(origin), 1);
  }

  /** How many places this session of the client has taken. */
  heldByPart({ who, part }: Origin): number {
    return this.#groups.get(who)?.parts.get(part)?.held ?? 0;
  }

  /** Gives back a place without what was given for it. */
  releaseOf(origin: Origin): void {
    this.#hold(this.#partOf(origin), -1);
  }

  release(place: TakenSlot, count = 1): void {
    this.#hold(place as Part, -count);
  }

  #hold(part: Part, count: number): Part {
    part.held += count;
    part.group.held += count;
    this.#taken += count;
    return part;
  }

  /** Those that hold nothing are kept until there are many: a map is not made for coming and going. */
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

/** For one more, where `more` are taken with it. */
function hasRoom({ group, held }: Part, free: number, more: number): boolean {
  const ofGroup = group.held + more;
  const ofPart = held + more;
  if (ofGroup >= SHARE * free) return false;
  // What the client as a whole may still take, shared between its sessions in the same way.
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
