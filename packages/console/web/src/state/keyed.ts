import { computed, type ReadonlySignal, signal } from '@preact/signals';
import { soon } from './soon.js';

/**
 * Items by key, oldest first, about `max` of them at most. The map is changed in place, and readers hear of it once a frame: a
 * copy for every event would be too much while many events come.
 */
export class Keyed<Key, Item> {
  readonly all: ReadonlySignal<readonly Item[]>;
  readonly #items = new Map<Key, Item>();
  readonly #version = signal(0);
  readonly #max: number;
  readonly #changed: () => void;

  /** `restMs`: readers hear of changes at most this often. */
  constructor(max: number, restMs = 0) {
    this.#max = max;
    this.#changed = soon(() => {
      this.#version.value += 1;
    }, restMs);
    this.all = computed(() => {
      void this.#version.value;
      return [...this.#items.values()];
    });
  }

  /** Subscribes the reader to every change of the map. */
  get(key: Key): Item | undefined {
    void this.#version.value;
    return this.#items.get(key);
  }

  /** Without a subscription. */
  peek(key: Key): Item | undefined {
    return this.#items.get(key);
  }

  set(key: Key, item: Item): void {
    this.#items.set(key, item);
    if (this.#items.size > this.#max * 1.1) this.#forget();
    this.#changed();
  }

  delete(key: Key): void {
    if (this.#items.delete(key)) this.#changed();
  }

  /** Many at once: a map walks over the holes of what was deleted whenever it is asked for its first key. */
  #forget(): void {
    let extra = this.#items.size - this.#max;
    for (const key of this.#items.keys()) {
      if (extra === 0) return;
      this.#items.delete(key);
      extra -= 1;
    }
  }

  clear(): void {
    this.#items.clear();
    this.#changed();
  }
}
