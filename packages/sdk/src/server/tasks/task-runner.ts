import { randomBytes, randomUUID } from 'node:crypto';
import { answerRounds } from '../../era/answer-rounds.js';
import { takesTasks, tasksRequired } from '../../era/extensions.js';
import { isInputRequired } from '../../era/input-rounds.js';
import { isAtLeast, type LegacyRevision } from '../../era/revisions.js';
import { toWireError } from '../../era/server-dialect-context.js';
import { IsthmusError, messageOf, ProtocolError } from '../../errors.js';
import type { Call, Peer } from '../../exchange/call.js';
import { clientKey } from '../../exchange/client-key.js';
import { ErrorCode } from '../../wire/error-codes.js';
import { isJsonObject, type JsonObject } from '../../wire/json-rpc.js';
import { changeTask } from './change-task.js';
import type { TaskPlan, TaskSettings } from './options.js';
import { toCreateTaskResult, toLegacyTask } from './project-task.js';
import { LOST_WORKER, RunningTask, type TaskEnd } from './running-task.js';
import type { TaskRecord } from './store.js';
import { TaskCall } from './task-call.js';
import { channelOfSession, TaskChannels } from './task-channels.js';

/** Runs calls as tasks, one after the other or many at once, within the limits of the settings. */
export class TaskRunner {
  readonly settings: TaskSettings;
  readonly channels: TaskChannels;
  readonly #running = new Map<string, Run>();
  readonly #perClient = new Map<string, number>();
  /** Places that are taken by tasks in creation. */
  #reserved = 0;
  #worker: string | undefined;
  #stopBeating: (() => void) | undefined;
  #stopReviewing: (() => void) | undefined;
  #servings = 0;

  constructor(settings: TaskSettings) {
    this.settings = settings;
    this.channels = new TaskChannels(settings);
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

  /** Called when a server begins to be served; the returned function when that has ended. */
  serving(): () => Promise<void> {
    this.#servings += 1;
    this.#startReviewing();
    let isOver = false;
    return async () => {
      if (isOver) return;
      isOver = true;
      this.#servings -= 1;
      if (this.#servings === 0) await this.#stop();
    };
  }

  /** A task whose process has ended fails when it is seen. It is never run again. */
  async revived(record: TaskRecord): Promise<TaskRecord | undefined> {
    const { store, clock } = this.settings;
    if (record.expiresAt !== undefined) return record.expiresAt > clock.now() ? record : undefined;
    if (this.#running.has(record.id) || (await store.isAlive(record.worker, clock.now()))) return record;
    return this.#fail(record.id);
  }

  #fail(id: string): Promise<TaskRecord | undefined> {
    const statusMessage = (LOST_WORKER as { error: { message: string } }).error.message;
    return changeTask(this.settings, id, () => ({ status: 'failed', statusMessage, outcome: LOST_WORKER }));
  }

  #runAsTask(call: Call, plan: TaskPlan, handle: ToolRun, wish: TaskWish): Promise<JsonObject> {
    return new Promise((resolve, reject) => {
      let begun: Promise<RunningTask | undefined> | undefined;
      let task: RunningTask | undefined;
      let isDone = false;
      const begin = async (): Promise<string | undefined> => {
        await taskCall.quiet();
        if (isDone || taskCall.cancellation.aborted) return undefined;
        begun ??= this.#begin(call, taskCall, plan, wish).then((made) => {
          if (!made) return undefined;
          task = made.running;
          resolve(made.answer);
          return task;
        });
        return (await begun)?.id;
      };
      const taskCall = new TaskCall(call, begin);
      const start = () => {
        void this.#handled(taskCall, handle, () => task !== undefined).then(async (end) => {
          isDone = true;
          const made = task ?? (await begun?.catch(() => undefined));
          callOffBegin();
          if (made) return this.#finish(made, taskCall, end);
          if ('plain' in end) return resolve(end.plain);
          reject(end.thrown);
        });
      };
      // TASK-L-021: a legacy client that asks for a task is given one, whatever the handler does.
      const afterMs = wish.isDemanded ? 0 : plan.afterMs;
      let callOffBegin = () => {};
      if (afterMs !== 0) {
        if (afterMs !== undefined)
          callOffBegin = this.settings.clock.after(afterMs, () => void begin().catch(() => {}));
        return start();
      }
      begin().then((id) => {
        if (id !== undefined) return start();
        if (wish.isDemanded || plan.mode === 'required') return reject(tooMany());
        // There is no room for a task, and the client takes a plain result as well.
        start();
      }, reject);
    });
  }

  /** Creates the task. Undefined: there is no room for it. */
  async #begin(
    call: Call,
    taskCall: TaskCall,
    plan: TaskPlan,
    wish: TaskWish,
  ): Promise<{ readonly running: RunningTask; readonly answer: JsonObject } | undefined> {
    const { settings } = this;
    const client = clientKey(call.peer);
    const own = this.#perClient.get(client) ?? 0;
    if (this.#running.size + this.#reserved >= settings.maxRunning || own >= settings.maxRunningPerClient)
      return undefined;
    this.#reserved += 1;
    this.#perClient.set(client, own + 1);
    let running: RunningTask | undefined;
    try {
      this.#startReviewing();
      await this.#beat();
      const record = newRecord(call, this, plan, wish, client);
      if ((await settings.store.create(record, settings.bounds)) === 'full') return undefined;
      running = new RunningTask(
        { settings, channels: this.channels, onState: (state) => this.#onState(state) },
        record,
      );
      const { session } = call;
      const closeChannel = session && this.channels.open(record.id, channelOfSession(session));
      this.#running.set(record.id, { running, client, closeChannel });
      taskCall.becomes({ running, channel: () => this.channels.of(record.id) });
      const now = settings.clock.now();
      const answer =
        call.peer.era === 'legacy' ? { task: toLegacyTask(record, now) } : toCreateTaskResult(record, now);
      return { running, answer };
    } finally {
      this.#reserved -= 1;
      if (!running) this.#release(client);
    }
  }

  async #handled(call: TaskCall, handle: ToolRun, isTask: () => boolean): Promise<Handled> {
    try {
      const result = await handle(call);
      if (!isInputRequired(result) || !isTask()) return { plain: result };
      return { plain: await answerRounds(handle, call, this.settings.clock, result) };
    } catch (thrown) {
      return { thrown };
    }
  }

  async #finish(task: RunningTask, call: TaskCall, handled: Handled): Promise<void> {
    const run = this.#running.get(task.id);
    await task.finish(this.#endOf(call, handled));
    if (run) this.#forget(task.id, run);
  }

  #endOf(call: TaskCall, handled: Handled): TaskEnd {
    if ('plain' in handled) return this.#resultOf(handled.plain);
    if (call.cancellation.aborted) return 'cancelled';
    return { error: toWireError(handled.thrown, 'tools/call', call.peer.era) };
  }

  /** A copy, since the handler may change its object later, and a finished task must not change. */
  #resultOf(result: JsonObject): TaskEnd {
    const limit = Math.floor(this.settings.bounds.maxBytes / 16);
    try {
      const text = JSON.stringify(result);
      if (text.length <= limit) return { result: JSON.parse(text) as JsonObject };
      const message = `The result has ${text.length} characters, and the result of a task can have ${limit}`;
      return { error: { code: ErrorCode.InternalError, message } };
    } catch (error) {
      return { error: { code: ErrorCode.InternalError, message: messageOf(error) } };
    }
  }

  #forget(id: string, { client, closeChannel }: Run): void {
    if (!this.#running.delete(id)) return;
    closeChannel?.();
    this.#release(client);
    if (this.#running.size + this.#reserved > 0) return;
    this.#stopBeating?.();
    this.#stopBeating = undefined;
  }

  #release(client: string): void {
    const left = (this.#perClient.get(client) ?? 1) - 1;
    if (left > 0) this.#perClient.set(client, left);
    else this.#perClient.delete(client);
  }

  /** Shows a state to the legacy client that started the task. */
  #onState(record: TaskRecord): void {
    this.channels.offer(record);
    const channel = this.channels.of(record.id);
    if (!channel) return;
    const params = { ...toLegacyTask(record, this.settings.clock.now()) };
    channel.notify({ method: 'notifications/tasks/status', params });
  }

  /** Says that this process lives, while it runs tasks. */
  async #beat(): Promise<void> {
    const { store, clock, leaseMs } = this.settings;
    const beat = () => store.beat(this.worker, clock.now() + leaseMs);
    if (this.#stopBeating) return;
    const next = () => {
      this.#stopBeating = clock.after(
        leaseMs / 3,
        () => {
          next();
          beat().catch(() => {});
        },
        { background: true },
      );
    };
    next();
    await beat();
  }

  /** Looks for expired tasks, and for tasks of processes that have ended. */
  #startReviewing(): void {
    if (this.#stopReviewing) return;
    const { store, clock, leaseMs } = this.settings;
    const review = async () => {
      const abandoned = await store.review(clock.now());
      for (const id of abandoned) if (!this.#running.has(id)) await this.#fail(id);
    };
    const next = (ms: number) => {
      this.#stopReviewing = clock.after(
        ms,
        () => {
          next(leaseMs);
          review().catch(() => {});
        },
        { background: true },
      );
    };
    next(0);
  }

  /** The server has stopped. Its tasks end now. */
  async #stop(): Promise<void> {
    this.#stopReviewing?.();
    this.#stopReviewing = undefined;
    const runs = [...this.#running];
    await Promise.all(
      runs.map(async ([id, run]) => {
        run.running.abort(new IsthmusError('CANCELLED', 'the server stopped'));
        await run.running.finish(LOST_WORKER);
        this.#forget(id, run);
      }),
    );
  }
}

type ToolRun = (call: Call) => JsonObject | Promise<JsonObject>;

type Handled = { readonly plain: JsonObject } | { readonly thrown: unknown };

interface Run {
  readonly running: RunningTask;
  readonly client: string;
  readonly closeChannel: (() => void) | undefined;
}

/** What the client says about tasks with its call. */
interface TaskWish {
  /** A legacy client decides itself. */
  readonly isDemanded: boolean;
  readonly ttlMs: number | undefined;
}

/** Undefined: the client takes no task. */
function wishOf({ peer, params }: Call): TaskWish | undefined {
  if (peer.era === 'modern') {
    return takesTasks(peer.capabilities) ? { isDemanded: false, ttlMs: undefined } : undefined;
  }
  const { task } = params;
  if (task === undefined || !hasLegacyTasks(peer)) return undefined;
  const ttl = isJsonObject(task) ? task['ttl'] : Number.NaN;
  if (ttl !== undefined && ttl !== null && !(typeof ttl === 'number' && ttl >= 0)) {
    throw new ProtocolError(
      ErrorCode.InvalidParams,
      'params.task must be an object, and its ttl a number of milliseconds',
    );
  }
  return { isDemanded: true, ttlMs: ttl === null ? Number.POSITIVE_INFINITY : (ttl as number | undefined) };
}

/** Whether the revision of a legacy session has tasks. */
export function hasLegacyTasks({ era, revision }: Peer): boolean {
  return era === 'legacy' && isAtLeast(revision as LegacyRevision, '2025-11-25');
}

/** TASK-L-007: only the tools that say so run as tasks. */
function refuseTask({ peer, params }: Call): void {
  if (params['task'] === undefined || !hasLegacyTasks(peer)) return;
  throw new ProtocolError(
    ErrorCode.MethodNotFound,
    'This tool does not run as a task: call it without params.task',
  );
}

/** TASK-L-010, TASK-M-006. Clients of older revisions cannot ask for a task, so they are served. */
function refusePlain(peer: Peer): void {
  if (peer.era === 'modern') throw tasksRequired();
  if (!hasLegacyTasks(peer)) return;
  throw new ProtocolError(
    ErrorCode.MethodNotFound,
    'This tool runs only as a task: call it with params.task',
  );
}

function tooMany(): ProtocolError {
  return new ProtocolError(ErrorCode.InternalError, 'Too many tasks are running; try again later', {
    reason: 'BUSY',
    sent: 'no',
    status: 429,
    retryAfterMs: 1000,
  });
}

/** TASK-L-092, TASK-M-024: 190 random bits. Without a "-", which command lines would take for an option. */
function newTaskId(): string {
  return randomBytes(24).toString('base64url').replaceAll('-', '_');
}

function newRecord(
  { peer, params }: Call,
  { settings, worker }: TaskRunner,
  plan: TaskPlan,
  wish: TaskWish,
  client: string,
): TaskRecord {
  const now = settings.clock.now();
  const asked = wish.ttlMs ?? plan.ttlMs ?? settings.ttlMs;
  return {
    id: newTaskId(),
    ...(peer.principal !== undefined && { owner: peer.principal }),
    client,
    tool: String(params['name']),
    createdAt: now,
    updatedAt: now,
    ttlMs: Math.round(Math.min(Math.max(asked, MIN_TTL_MS), settings.maxTtlMs)),
    pollIntervalMs: plan.pollIntervalMs ?? settings.pollIntervalMs,
    status: 'working',
    questions: {},
    answers: {},
    cancelRequested: false,
    worker,
    revision: 1,
  };
}

/** A client must be able to read the result of a task that has just ended. */
const MIN_TTL_MS = 5000;
