import type { ConnectionView } from '../contract.js';

type Editable<T> = { -readonly [K in keyof T]: T[K] };
/** What may change about a connection. */
export type ConnectionChange = Partial<Omit<ConnectionView, 'id' | 'frames'>>;

/** All connections that were seen, the ended ones up to a bound. */
export class Connections {
  readonly #all = new Map<number, Editable<ConnectionView>>();
  readonly #listeners = new Set<(view: ConnectionView) => void>();
  #count = 0;

  add(view: Omit<ConnectionView, 'id' | 'frames' | 'state' | 'warnings'>): number {
    this.#count += 1;
    const id = this.#count;
    this.#all.set(id, { ...view, id, state: 'connecting', frames: [0, 0], warnings: [] });
    if (this.#all.size > MAX_CONNECTIONS) this.#forget();
    this.#tell(id);
    return id;
  }

  /** Puts back what a file has. */
  restore(view: ConnectionView): void {
    this.#count = Math.max(this.#count, view.id);
    this.#all.set(view.id, { ...view });
  }

  get(id: number): ConnectionView | undefined {
    return this.#all.get(id);
  }

  all(): readonly ConnectionView[] {
    return [...this.#all.values()].map((view) => ({ ...view }));
  }

  change(id: number, change: ConnectionChange): void {
    const view = this.#all.get(id);
    if (!view) return;
    Object.assign(view, change);
    this.#tell(id);
  }

  /** A frame was recorded. That is too frequent to be told. */
  extend(id: number, seq: number): void {
    const view = this.#all.get(id);
    if (view) view.frames = [view.frames[0] === 0 ? seq : view.frames[0], seq];
  }

  answered(id: number, at: number): void {
    const view = this.#all.get(id);
    if (view) view.lastAnswer = at;
  }

  watch(listener: (view: ConnectionView) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  #tell(id: number): void {
    const view = this.#all.get(id);
    if (view) for (const listener of this.#listeners) listener({ ...view });
  }

  /** The oldest connection that has ended; if none has, the oldest. */
  #forget(): void {
    const views = [...this.#all.values()];
    const oldest = views.find(({ state }) => state === 'ended') ?? views[0];
    if (oldest) this.#all.delete(oldest.id);
  }
}

const MAX_CONNECTIONS = 1000;
