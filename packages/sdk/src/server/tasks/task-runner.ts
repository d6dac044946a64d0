import { randomUUID } from 'node:crypto';
import { within } from '../../async/clock.js';
import { answerRounds } from '../../era/answer-rounds.js';
import { type InputRequired, isInputRequired } from '../../era/input-rounds.js';
import type { Call, Peer, Serving, ToldTask } from '../../exchange/call.js';
import { clientKey } from '../../exchange/client-key.js';
import type { JsonObject } from '../../wire/json-rpc.js';
import { changeTask } from './change-task.js';
import { callOfRecord, failLost, type ResumedTask, type ResumeTask } from './lost-task.js';
import type { TaskPlan, TaskSettings } from './options.js';
import { toCreateTaskResult, toLegacyTask } from './project-task.js';
import { RunningTasks, STOP_MS } from './run/running-tasks.js';
import { TaskCall } from './run/task-call.js';
import { channelOfSession, TaskChannels } from './run/task-channels.js';
import { endOf, type Handled, handled } from './run/task-end.js';
import type { TaskPlace } from './run/task-places.js';
import type { RunningTask } from './running-task.js';
import { isFinished, type TaskRecord } from './store.js';
import {
  fittedPlan,
  newRecord,
  refusePlain,
  refuseTask,
  type TaskWish,
  tooMany,
  wishOf,
} from './task-request.js';
import { TaskUpkeep } from './task-upkeep.js';

/** Runs calls as tasks, one after the other or many at once, within the limits of the settings. */
export class TaskRunner {
  readonly settings: TaskSettings;
  readonly channels: TaskChannels;
  readonly #resume: ResumeTask;
  readonly #running: RunningTasks;
  readonly #takingOver = new Map<string, Promise<TaskRecord | undefined>>();
  /** Tasks that may be this process's own: the store failed when they were taken over. */
  readonly #unsure = new Set<string>();
  readonly #upkeep: TaskUpkeep;
  #worker: string | undefined;
  #servings = 0;

  /** `resume`: how to go on with a task whose process has ended. Default: it fails. */
  constructor(settings: TaskSettings, resume: ResumeTask = () => undefined) {
    this.settings = settings;
    this.#resume = resume;
    this.channels = new TaskChannels(settings);
    this.#running = new RunningTasks(settings, this.channels, () => this.#upkeep.rest());
    this.#upkeep = new TaskUpkeep(settings, () => this.worker, {
      abandoned: (id) => this.abandoned(id),
      look: () => this.#running.look(),
    });
  }

  /** Names this process among those that share the store. Made for the first task: few servers ever have one. */
  get worker(): string {
    this.#worker ??= randomUUID();
    return this.#worker;
  }

  /** Runs a call of a tool, as a task if the plan and the client say so. */
  run(call: Call, plan: TaskPlan | undefined, handle: ToolRun): JsonObject | Promise<JsonObject> {
    if (!plan) {
      refuseTask(call);
      return handle(call);
    }
    const wish = wishOf(call);
    if (wish) return this.#runAsTask(call, plan, handle, wish);
    if (plan.mode === 'required') refusePlain(call.peer);
    return handle(call);
  }

  /** Called when a server begins to be served. */
  serving(): Serving {
    this.#servings += 1;
    this.#upkeep.review();
    let isOver = false;
    return {
      // A task in the memory of this process ends with it, so its result cannot be read later.
      idle: () => (this.settings.isShared ? this.#running.idle() : Promise.resolve()),
      end: async () => {
        if (isOver) return;
        isOver = true;
        this.#servings -= 1;
        if (this.#servings === 0) await this.#stop();
      },
    };
  }

  /** The task with this id, if the client may use it. Undefined: it is unknown, expired, or of another principal. */
  async visible({ principal }: Peer, id: string): Promise<TaskRecord | undefined> {
    if (id.length > MAX_ID) return undefined;
    const record = await this.settings.store.get(id);
    return record && record.owner === principal ? this.revived(record) : undefined;
  }

  /** A task whose process has ended goes on here when it is seen, or fails. It is never run again. */
  async revived(record: TaskRecord): Promise<TaskRecord | undefined> {
    const { clock } = this.settings;
    if (record.expiresAt !== undefined) return record.expiresAt > clock.now() ? record : undefined;
    return (await this.#isLost(record)) ? this.#recover(record) : record;
  }

  /** A store has named the task as one whose process has ended. Another process may have it by now. */
  async abandoned(id: string): Promise<void> {
    const record = await this.settings.store.get(id);
    if (record && !isFinished(record) && (await this.#isLost(record))) await this.#recover(record);
  }

  async #isLost({ id, worker }: TaskRecord): Promise<boolean> {
    if (this.#running.has(id)) return false;
    const { store, clock } = this.settings;
    return (this.#unsure.has(id) && worker === this.worker) || !(await store.isAlive(worker, clock.now()));
  }

  #recover(record: TaskRecord): Promise<TaskRecord | undefined> {
    const resumed = this.#resume(record);
    if (!resumed) return failLost(this.settings, record);
    const { id } = record;
    const known = this.#takingOver.get(id);
    if (known) return known;
    const taking = this.#takeOver(record, resumed).finally(() => this.#takingOver.delete(id));
    this.#takingOver.set(id, taking);
    return taking;
  }

  /** Of several processes the first one gets the task. Its open questions are asked again, with other keys. */
  async #takeOver(record: TaskRecord, resumed: ResumedTask): Promise<TaskRecord | undefined> {
    const { id, client, worker } = record;
    if (this.#servings === 0) return record;
    const place = this.#running.takePlaceAnyway(client);
    let isTaken = false;
    try {
      await this.#upkeep.live();
      const claim = { worker: this.worker, status: 'working', questions: {}, answers: {} } as const;
      this.#unsure.add(id);
      const now = await changeTask(this.settings, id, (known) => {
        isTaken = known.worker === worker || known.worker === this.worker;
        return isTaken ? claim : undefined;
      });
      this.#unsure.delete(id);
      isTaken = isTaken && now?.worker === this.worker && !isFinished(now);
      if (isTaken) this.#goOn(now!, resumed, place);
      return now;
    } catch (error) {
      isTaken = false;
      throw error;
    } finally {
      if (!isTaken) this.#running.giveUp(place);
    }
  }

  #goOn(record: TaskRecord, { peer, follow }: ResumedTask, place: TaskPlace): void {
    const call = new TaskCall(callOfRecord(record, peer), async () => record.id);
    const task = this.#running.enter(record, call, { place, outer: undefined, closeChannel: undefined });
    // It may have been cancelled before, or the server has stopped meanwhile.
    task.look();
    if (this.#servings === 0) return this.#running.leave(task);
    void handled(() => follow(call)).then((end) => this.#finish(task, call, end));
  }

  #runAsTask(call: Call, plan: TaskPlan, handle: ToolRun, wish: TaskWish): Promise<JsonObject> {
    return new Promise((resolve, reject) => {
      let begun: Promise<RunningTask | undefined> | undefined;
      let hasEnded = false;
      const begin = async (told?: ToldTask): Promise<string | undefined> => {
        begun ??= taskCall.becoming(async () => {
          if (hasEnded || taskCall.cancellation.aborted) return undefined;
          const made = await this.#begin(
            call,
            taskCall,
            fittedPlan(plan, told, this.settings),
            wish,
            told?.meta,
          );
          if (made) resolve(made.answer);
          return made?.running;
        });
        return (await begun)?.id;
      };
      const taskCall = new TaskCall(call, begin);
      const start = async () => {
        let end = await handled(() => handle(taskCall));
        hasEnded = true;
        callOffBegin();
        taskCall.over();
        const task = await begun?.catch(() => undefined);
        if (task) {
          if ('plain' in end && isInputRequired(end.plain))
            end = await this.#rounds(handle, taskCall, end.plain);
          return this.#finish(task, taskCall, end);
        }
        if ('plain' in end) return resolve(end.plain);
        reject(end.thrown);
      };
      // TASK-L-021: a legacy client that asks for a task is given one, whatever the handler does.
      const afterMs = wish.isDemanded ? 0 : plan.afterMs;
      let callOffBegin = () => {};
      if (afterMs !== 0) {
        if (afterMs !== undefined)
          callOffBegin = this.settings.clock.after(afterMs, () => void begin().catch(() => {}));
        return void start();
      }
      begin().then((id) => {
        if (id !== undefined) return start();
        if (wish.isDemanded || plan.mode === 'required') return reject(tooMany());
        // There is no room for a task, and the client takes a plain result as well.
        return start();
      }, reject);
    });
  }

  /** Creates the task. Undefined: there is no room for it. */
  async #begin(
    call: Call,
    taskCall: TaskCall,
    plan: TaskPlan,
    wish: TaskWish,
    meta: JsonObject | undefined,
  ): Promise<{ readonly running: RunningTask; readonly answer: JsonObject } | undefined> {
    const { settings } = this;
    const client = clientKey(call.peer);
    const place = this.#running.takePlace(client);
    if (!place) return undefined;
    let running: RunningTask | undefined;
    try {
      this.#upkeep.review();
      await this.#upkeep.live();
      const record = newRecord(call, this, plan, wish, client);
      if ((await settings.store.create(record, settings.bounds)) === 'full') return undefined;
      const outer = call.outlive?.();
      const { session } = call;
      const closeChannel = session && this.channels.open(record.id, channelOfSession(session));
      running = this.#running.enter(record, taskCall, { place, outer, closeChannel });
      const now = settings.clock.now();
      const answer =
        call.peer.era === 'legacy' ? { task: toLegacyTask(record, now) } : toCreateTaskResult(record, now);
      return { running, answer: meta ? { ...answer, _meta: meta } : answer };
    } finally {
      if (!running) this.#running.giveUp(place);
    }
  }

  #rounds(handle: ToolRun, call: TaskCall, first: InputRequired): Promise<Handled> {
    return handled(() => answerRounds(handle, call, this.settings.clock, first));
  }

  #finish(task: RunningTask, call: TaskCall, end: Handled): Promise<void> {
    return this.#running.finish(task, endOf(call, end, this.settings));
  }

  /** The server has stopped. */
  async #stop(): Promise<void> {
    const isLeft = await this.#running.stop();
    this.#upkeep.stop();
    if (!isLeft) return;
    // The others need not wait for the end of the lease.
    const { store, clock } = this.settings;
    const end = store.beat(this.worker, 0).catch(() => {});
    await within(clock, STOP_MS, end);
  }
}

type ToolRun = (call: Call) => JsonObject | Promise<JsonObject>;

/** A longer id is of no task. */
const MAX_ID = 200;
