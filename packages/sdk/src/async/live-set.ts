/** A member that stores its own index in a `LiveSet`. */
export interface Slotted {
  /** Written by the set only; -1 while the member is in no set. */
  slot: number;
}

/**
 * An unordered set for a long life with short-lived members. A `Set` is slow here: when its table is used up (deleted
 * entries count), V8 links the old table to the new one. Once one table is in the old generation, all later tables and
 * their former members stay until the next full collection. With 32 calls in flight that was most of the time spent in
 * the collector.
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
    // A negative index would be a slow lookup by property name.
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

  /** A copy, so that members may be added and removed during the iteration. */
  values(): T[] {
    return [...this.#members];
  }
}
