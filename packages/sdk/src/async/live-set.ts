/** Something that knows its place in a `LiveSet`. */
export interface Slotted {
  /** Belongs to the set; -1 while it is in none. */
  slot: number;
}

/**
 * A set that lives long and whose members do not. A `Set` is not made for that: when its table is used up (deleted
 * entries count) V8 links the old table to the new one, and once one of them has grown old, every later one and
 * all that was in it stays until the next full collection. With 32 calls in flight that was most of the time spent
 * in the collector. In no particular order.
 */
export class LiveSet<T extends Slotted> {
  readonly #members: T[] = [];

  get size(): number {
    return this.#members.length;
  }

  add(member: T): void {
    if (this.has(member)) return;
    member.slot = this.#members.length;
    this.#members.push(member);
  }

  has(member: T): boolean {
    // An index that is not there would be looked for among the names.
    return member.slot >= 0 && this.#members[member.slot] === member;
  }

  delete(member: T): boolean {
    if (!this.has(member)) return false;
    const last = this.#members.pop()!;
    if (last !== member) {
      last.slot = member.slot;
      this.#members[last.slot] = last;
    }
    member.slot = -1;
    return true;
  }

  some(test: (member: T) => boolean): boolean {
    return this.#members.some(test);
  }

  /** A copy: members may come and go meanwhile. */
  values(): T[] {
    return [...this.#members];
  }
}
