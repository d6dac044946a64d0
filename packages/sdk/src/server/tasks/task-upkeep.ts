import type { TaskSettings } from './options.js';

/** What the upkeep needs of the tasks of this process. */
export interface KeptTasks {
  /** Goes on with a task whose process has ended, or ends it. */
  abandoned(id: string): Promise<unknown>;
  /** Reads the running tasks: a message of the store about a change may have been lost. */
  look(): void;
}

/** What a process does for tasks from time to time: it says that it lives, and looks for tasks that others have left. */
export class TaskUpkeep {
  readonly #settings: TaskSettings;
  readonly #worker: () => string;
  readonly #tasks: KeptTasks;
  #said: Promise<void> | undefined;
  #stopBeating: (() => void) | undefined;
  #stopReviewing: (() => void) | undefined;

  constructor(settings: TaskSettings, worker: () => string, tasks: KeptTasks) {
    this.#settings = settings;
    this.#worker = worker;
    this.#tasks = tasks;
  }

  /** Says that this process lives, again and again until `rest`. Settles when the store knows it. */
  async live(): Promise<void> {
    if (!this.#stopBeating) this.#beatLater();
    this.#said ??= this.#beat();
    try {
      await this.#said;
    } catch (error) {
      this.#said = undefined;
      throw error;
    }
  }

  /** No task runs. */
  rest(): void {
    this.#stopBeating?.();
    this.#stopBeating = undefined;
    this.#said = undefined;
  }

  /** Looks for expired tasks, and for tasks of processes that have ended. */
  review(): void {
    if (!this.#stopReviewing) this.#reviewLater(0);
  }

  stop(): void {
    this.rest();
    this.#stopReviewing?.();
    this.#stopReviewing = undefined;
  }

  #beat(): Promise<void> {
    const { store, clock, leaseMs } = this.#settings;
    return store.beat(this.#worker(), clock.now() + leaseMs);
  }

  #beatLater(): void {
    const { clock, leaseMs } = this.#settings;
    const next = () => {
      this.#beatLater();
      this.#beat().catch(() => {});
    };
    this.#stopBeating = clock.after(leaseMs / 3, next, { background: true });
  }

  #reviewLater(ms: number): void {
    const { clock, leaseMs } = this.#settings;
    const next = () => {
      this.#reviewLater(leaseMs);
      this.#tasks.look();
      this.#review().catch(() => {});
    };
    this.#stopReviewing = clock.after(ms, next, { background: true });
  }

  async #review(): Promise<void> {
    const { store, clock } = this.#settings;
    // One that cannot be recovered now is named again by the next review.
    for (const id of await store.review(clock.now())) await this.#tasks.abandoned(id).catch(() => {});
  }
}
