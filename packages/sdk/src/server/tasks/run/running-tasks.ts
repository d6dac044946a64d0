import { within } from '../../../async/clock.js';
import { IsthmusError } from '../../../errors.js';
import type { EndedTaskStatus, OutlivingSlot } from '../../../exchange/call.js';
import { LOST_WORKER } from '../lost-task.js';
import type { TaskSettings } from '../options.js';
import { toLegacyTask } from '../project-task.js';
import { RunningTask, type TaskContext, type TaskEnd } from '../running-task.js';
import { isFinished, type TaskRecord } from '../store.js';
import type { TaskCall } from './task-call.js';
import type { TaskChannels } from './task-channels.js';
import { errorOf } from './task-end.js';
import { type TaskPlace, TaskPlaces } from './task-places.js';

/** The tasks that run in this process, with what each of them holds until it ends. */
export class RunningTasks {
  readonly #settings: TaskSettings;
  readonly #channels: TaskChannels;
  readonly #onRest: () => void;
  readonly #places: TaskPlaces;
  readonly #runs = new Map<string, Run>();
  readonly #waitingForIdle: (() => void)[] = [];

  /** `onRest`: called when the last place is free again. */
  constructor(settings: TaskSettings, channels: TaskChannels, onRest: () => void) {
    this.#settings = settings;
    this.#channels = channels;
    this.#onRest = onRest;
    this.#places = new TaskPlaces(settings);
  }

  has(id: string): boolean {
    return this.#runs.has(id);
  }

  /** Each looks for changes of other processes. */
  look(): void {
    for (const { running } of this.#runs.values()) running.look();
  }

  /** Settles when no task is at work: those that wait for an answer are not. */
  idle(): Promise<void> {
    if (this.#places.busy === 0) return Promise.resolve();
    return new Promise((resolve) => this.#waitingForIdle.push(resolve));
  }

  /** Undefined: there is no room for another task of this client. */
  takePlace(client: string): TaskPlace | undefined {
    return this.#places.take(client);
  }

  takePlaceAnyway(client: string): TaskPlace {
    return this.#places.takeAnyway(client);
  }

  /** The place was for a task that did not come to be. */
  giveUp(place: TaskPlace): void {
    place.leave();
    this.#restIfIdle();
  }

  /** The task runs in this process from now on. */
  enter(record: TaskRecord, call: TaskCall, held: Held): RunningTask {
    const running = new RunningTask(this.#contextOf(held), record);
    this.#runs.set(record.id, { running, ...held });
    call.becomes({ running, channel: () => this.#channels.of(record.id) });
    return running;
  }

  async finish(task: RunningTask, end: TaskEnd): Promise<void> {
    const run = this.#runs.get(task.id);
    await task.finish(end);
    if (run) this.#forget(run);
  }

  /** The task goes on in another process. */
  leave(task: RunningTask): void {
    task.leave();
    const run = this.#runs.get(task.id);
    if (run) this.#forget(run);
  }

  /** All end now, except those that another process can go on with. True: there were such. */
  async stop(): Promise<boolean> {
    const { isShared, clock } = this.#settings;
    let isLeft = false;
    await Promise.all(
      [...this.#runs.values()].map(async (run) => {
        const { running } = run;
        if (isShared && running.isResumable && !running.hasEnded) {
          isLeft = true;
          return this.leave(running);
        }
        running.abort(new IsthmusError('CANCELLED', 'the server stopped'));
        await within(clock, STOP_MS, running.finish(LOST_WORKER));
        running.abandon();
        this.#forget(run);
      }),
    );
    return isLeft;
  }

  #contextOf({ place, outer }: Held): TaskContext {
    return {
      settings: this.#settings,
      // All tasks together write about a hundred messages in a second.
      messagePauseMs: () => Math.max(LEAST_MESSAGE_MS, 10 * this.#runs.size),
      takeBytes: (count) => place.takeBytes(count),
      onWaiting: (isWaiting) => {
        if (isWaiting) {
          place.wait();
          outer?.stepOut();
          this.#noteIdle();
        } else {
          place.goOn();
          outer?.comeBack();
        }
      },
      onState: (state) => {
        this.#show(state);
        if (isFinished(state)) outer?.ended?.(state.status as EndedTaskStatus, errorOf(state));
      },
    };
  }

  /** Shows a state to the legacy client that started the task. */
  #show(record: TaskRecord): void {
    this.#channels.offer(record);
    const channel = this.#channels.of(record.id);
    if (!channel) return;
    const params = { ...toLegacyTask(record, this.#settings.clock.now()) };
    channel.notify({ method: 'notifications/tasks/status', params });
  }

  #forget({ running, place, outer, closeChannel }: Run): void {
    if (!this.#runs.delete(running.id)) return;
    closeChannel?.();
    place.leave();
    outer?.leave();
    this.#restIfIdle();
  }

  #restIfIdle(): void {
    this.#noteIdle();
    if (this.#places.taken === 0) this.#onRest();
  }

  #noteIdle(): void {
    if (this.#places.busy > 0) return;
    for (const resolve of this.#waitingForIdle.splice(0)) resolve();
  }
}

/** What a task in this process holds. */
interface Held {
  readonly place: TaskPlace;
  /** The place of the call in the limits around this service. */
  readonly outer: OutlivingSlot | undefined;
  readonly closeChannel: (() => void) | undefined;
}

interface Run extends Held {
  readonly running: RunningTask;
}

const LEAST_MESSAGE_MS = 200;
/** How long a server that stops waits for the store. */
export const STOP_MS = 5000;
