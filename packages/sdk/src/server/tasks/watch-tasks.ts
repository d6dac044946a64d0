import { IsthmusError } from '../../errors.js';
import type { ForeignChange, Peer, TaskWatch } from '../../exchange/call.js';
import { toDetailedTask } from './project-task.js';
import { isFinished } from './store.js';
import type { TaskRunner } from './task-runner.js';

/** TASK-M-060 … TASK-M-064: the states of the tasks that a client subscribes to. */
export async function watchTasks(
  runner: TaskRunner,
  peer: Peer,
  ids: readonly string[],
  onChange: (change: ForeignChange) => void,
): Promise<TaskWatch> {
  if (ids.length > MAX_WATCHED)
    throw new IsthmusError('BUSY', `A subscription can name at most ${MAX_WATCHED} tasks`);
  const distinct = [...new Set(ids)];
  const found = await Promise.all(distinct.map((id) => runner.visible(peer, id)));
  const accepted = distinct.filter((_, index) => found[index]);
  const watched: WatchedTask[] = [];
  return {
    accepted,
    start() {
      for (const id of accepted) watched.push(new WatchedTask(runner, peer, id, onChange));
    },
    stop() {
      for (const each of watched) each.stop();
    },
  };
}

const MAX_WATCHED = 1000;

/** Tells the states of one task until it has ended. A state that the store could not give is asked for again. */
class WatchedTask {
  readonly #runner: TaskRunner;
  readonly #peer: Peer;
  readonly #id: string;
  readonly #onChange: (change: ForeignChange) => void;
  readonly #unwatch: () => void;
  #seen = 0;
  #isStopped = false;
  #pauseMs = FIRST_PAUSE_MS;
  #callOff: (() => void) | undefined;

  constructor(runner: TaskRunner, peer: Peer, id: string, onChange: (change: ForeignChange) => void) {
    this.#runner = runner;
    this.#peer = peer;
    this.#id = id;
    this.#onChange = onChange;
    this.#unwatch = runner.settings.store.watch(id, () => void this.#look());
    void this.#look();
  }

  stop(): void {
    this.#isStopped = true;
    this.#callOff?.();
    this.#unwatch();
  }

  async #look(): Promise<void> {
    try {
      const record = await this.#runner.visible(this.#peer, this.#id);
      this.#callOff?.();
      this.#callOff = undefined;
      this.#pauseMs = FIRST_PAUSE_MS;
      if (!record || this.#isStopped || record.revision <= this.#seen) return;
      this.#seen = record.revision;
      const params = toDetailedTask(record, this.#runner.settings.clock.now());
      this.#onChange({ kind: 'foreign', method: 'notifications/tasks', params: { ...params } });
      if (isFinished(record)) this.stop();
    } catch {
      this.#lookLater();
    }
  }

  /** Many changes that cannot be read are one look later. */
  #lookLater(): void {
    if (this.#isStopped || this.#callOff) return;
    const { clock } = this.#runner.settings;
    const next = () => {
      this.#callOff = undefined;
      void this.#look();
    };
    this.#callOff = clock.after(this.#pauseMs, next, { background: true });
    this.#pauseMs = Math.min(2 * this.#pauseMs, MAX_PAUSE_MS);
  }
}

const FIRST_PAUSE_MS = 100;
const MAX_PAUSE_MS = 20_000;
