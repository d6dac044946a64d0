/** Whose item is dropped to make room for another client. */
type Displacement =
  /** This client has more than its share: one of its items is dropped, even one in use. */
  | { readonly kind: 'from'; readonly who: string }
  /** No client has more than the newcomer will have: only an idle item of one of these clients may be dropped. */
  | { readonly kind: 'idle'; readonly of: readonly string[] };

/**
 * Counts who holds how much of a resource whose items can be taken back: sessions, streams, bytes. While there is room,
 * any client may use it. At the limit the client that holds most gives way to one that holds less.
 */
export class FairShare<T> {
  readonly #holders = new Map<string, Holder<T>>();
  #total = 0;
  #count = 0;

  /** The sum of all amounts. */
  get total(): number {
    return this.#total;
  }

  get size(): number {
    return this.#count;
  }

  /** Adds an item, or changes its amount. */
  set(who: string, item: T, amount = 1): void {
    let holder = this.#holders.get(who);
    if (!holder) {
      holder = { held: 0, items: new Map() };
      this.#holders.set(who, holder);
    }
    const before = holder.items.get(item);
    if (before === undefined) this.#count += 1;
    holder.items.set(item, amount);
    holder.held += amount - (before ?? 0);
    this.#total += amount - (before ?? 0);
  }

  /** False if there was no such item. */
  delete(who: string, item: T): boolean {
    const holder = this.#holders.get(who);
    const amount = holder?.items.get(item);
    if (!holder || amount === undefined) return false;
    holder.items.delete(item);
    holder.held -= amount;
    this.#total -= amount;
    this.#count -= 1;
    if (holder.items.size === 0) this.#holders.delete(who);
    return true;
  }

  heldBy(who: string): number {
    return this.#holders.get(who)?.held ?? 0;
  }

  amountOf(who: string, item: T): number {
    return this.#holders.get(who)?.items.get(item) ?? 0;
  }

  itemsOf(who: string): Iterable<T> {
    return this.#holders.get(who)?.items.keys() ?? [];
  }

  *items(): Iterable<T> {
    for (const { items } of this.#holders.values()) yield* items.keys();
  }

  /** The client that holds most; among equals the one that came first. */
  most(): string | undefined {
    let most: string | undefined;
    let held = Number.NEGATIVE_INFINITY;
    for (const [who, holder] of this.#holders) {
      if (holder.held <= held) continue;
      most = who;
      held = holder.held;
    }
    return most;
  }

  /** The largest item of this client. */
  largestOf(who: string): T | undefined {
    let largest: T | undefined;
    let held = Number.NEGATIVE_INFINITY;
    for (const [item, amount] of this.#holders.get(who)?.items ?? []) {
      if (amount <= held) continue;
      largest = item;
      held = amount;
    }
    return largest;
  }

  /** Who gives way if `who` wants `amount` more and there is no room. */
  displacedBy(who: string, amount = 1): Displacement {
    const after = this.heldBy(who) + amount;
    const most = this.most();
    if (most !== undefined && most !== who && this.heldBy(most) > after) return { kind: 'from', who: most };
    const of: string[] = [];
    for (const [each, { held }] of this.#holders) if (each === who || held >= after) of.push(each);
    return { kind: 'idle', of };
  }
}

interface Holder<T> {
  held: number;
  readonly items: Map<T, number>;
}
