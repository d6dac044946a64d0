import type { Origin } from './origin.js';

/** A place that is taken; give it back with `release`. */
export interface TakenPlace {
  /** How many places the same client has taken. */
  readonly held: number;
}

/** Why there was no place: all are taken, or the client has its share. */
export type NoPlace = 'full' | 'share';

/**
 * A number of places that cannot be taken back, shared so that a newcomer finds one. A client may hold at most three
 * times as many places as are free: alone it gets three quarters of them, and of `n` clients that want all each gets
 * 3/(3n + 1). The rest stays free for those who have less. The same rule holds inside a client between its sessions.
 * Below four places nothing is kept free.
 */
export class FairPlaces {
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

  /** The place, or why there is none. */
  take(origin: Origin): TakenPlace | NoPlace {
    const free = this.#max - this.#taken;
    if (free <= 0) return 'full';
    const part = this.#partOf(origin);
    if (this.#max >= SMALLEST_SHARED && !hasRoom(part, free)) return 'share';
    return this.#hold(part);
  }

  /** For requests that others wait for: above the limits if need be. */
  takeAnyway(origin: Origin): TakenPlace {
    return this.#hold(this.#partOf(origin));
  }

  release(place: TakenPlace): void {
    const part = place as Part;
    part.held -= 1;
    part.group.held -= 1;
    this.#taken -= 1;
  }

  #hold(part: Part): Part {
    part.held += 1;
    part.group.held += 1;
    this.#taken += 1;
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

interface Part extends TakenPlace {
  readonly group: Group;
  held: number;
}

function hasRoom({ group, held }: Part, free: number): boolean {
  if (group.held >= SHARE * free) return false;
  // What the client as a whole may still take, shared between its sessions in the same way.
  const left = (SHARE * free - group.held) / (SHARE + 1);
  return held === 0 || held < SHARE * left;
}

function sweep<K>(holders: Map<K, { readonly held: number }>): void {
  for (const [key, { held }] of holders) if (held === 0) holders.delete(key);
}

const SHARE = 3;
const SMALLEST_SHARED = 4;
const MAX_IDLE = 1000;
const MAX_IDLE_PARTS = 64;
