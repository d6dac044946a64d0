import { checkedOptions, invalidArgument, kindOf, type OptionNames } from '../../arguments.js';
import { type Clock, systemClock } from '../../async/clock.js';
import { memoryTaskStore } from './memory-store.js';
import type { TaskBounds, TaskStore } from './store.js';

/** How a server keeps its tasks. */
export interface TaskOptions {
  /** Where tasks are kept. Default: in the memory of this process. */
  readonly store?: TaskStore;
  /** How long a task is kept, counted from its creation, and prolonged while it runs. Default: 1 hour. */
  readonly ttlMs?: number;
  /** The longest time that a legacy client can ask for. Default: 24 hours. */
  readonly maxTtlMs?: number;
  /** How often clients are asked to poll. Default: 1000. */
  readonly pollIntervalMs?: number;
  /** How many tasks the store keeps, finished ones included. Default: 10,000. */
  readonly maxTasks?: number;
  /** How many bytes of JSON the store keeps. One result may have a sixteenth of it. Default: 64 MiB. */
  readonly maxBytes?: number;
  /** How many tasks run at once in this process. Default: 1000. */
  readonly maxRunning?: number;
  /** How many of them one principal, or one address without a principal, may have. Default: a quarter of `maxRunning`. */
  readonly maxRunningPerClient?: number;
  /** How long a silent process counts as alive, in a store that several processes share. Default: 15,000. */
  readonly leaseMs?: number;
  /** How long a handler may take to end after its task was cancelled. Default: 5000. */
  readonly cancelGraceMs?: number;
  readonly clock?: Clock;
}

export interface TaskSettings extends Omit<Required<TaskOptions>, 'maxTasks' | 'maxBytes'> {
  readonly bounds: TaskBounds;
  /** Whether other processes may use the store. */
  readonly isShared: boolean;
}

/** Fills in the defaults and refuses invalid values. */
export function resolveTasks(given: TaskOptions = {}): TaskSettings {
  const options = checkedOptions('createServer tasks', given, TASK_OPTIONS);
  for (const [name, value] of Object.entries(options)) {
    if (name === 'store' || name === 'clock' || value === undefined) continue;
    if (Number.isSafeInteger(value) && (value as number) >= 1) continue;
    throw invalidArgument(
      `createServer: tasks.${name} must be a positive whole number, got ${String(value)}`,
    );
  }
  const { store = memoryTaskStore(), maxRunning = 1000, ttlMs = 3_600_000 } = options;
  if (typeof store?.replace !== 'function') {
    throw invalidArgument(`createServer: tasks.store must be a task store, got ${kindOf(store)}`);
  }
  return {
    store,
    isShared: options.store !== undefined,
    ttlMs,
    maxRunning,
    bounds: { maxTasks: options.maxTasks ?? 10_000, maxBytes: options.maxBytes ?? 64 * 1024 * 1024 },
    maxTtlMs: Math.max(ttlMs, options.maxTtlMs ?? 86_400_000),
    pollIntervalMs: options.pollIntervalMs ?? 1000,
    maxRunningPerClient: options.maxRunningPerClient ?? Math.ceil(maxRunning / 4),
    leaseMs: options.leaseMs ?? 15_000,
    cancelGraceMs: options.cancelGraceMs ?? 5000,
    clock: options.clock ?? systemClock,
  };
}

const TASK_OPTIONS: OptionNames<TaskOptions> = {
  store: true,
  ttlMs: true,
  maxTtlMs: true,
  pollIntervalMs: true,
  maxTasks: true,
  maxBytes: true,
  maxRunning: true,
  maxRunningPerClient: true,
  leaseMs: true,
  cancelGraceMs: true,
  clock: true,
};

/** How a tool runs. `never`: its calls are answered directly. `required`: it runs only as a task. */
export type ToolTask = 'never' | 'allowed' | 'required' | ToolTaskOptions;

/** How a tool runs as a task, in detail. */
export interface ToolTaskOptions {
  readonly mode: 'allowed' | 'required';
  /**
   * When a call becomes a task. `now`: at once. `handler`: when the handler calls `ctx.startTask()`. `afterMs`: if it has
   * not ended by then. A legacy client that asks for a task gets it at once. Default: `now`.
   */
  readonly start?: 'now' | 'handler' | { readonly afterMs: number };
  readonly ttlMs?: number;
  readonly pollIntervalMs?: number;
}

/** How the calls of a tool become tasks. */
export interface TaskPlan {
  readonly mode: 'allowed' | 'required';
  /** Undefined: the handler decides. */
  readonly afterMs: number | undefined;
  readonly ttlMs: number | undefined;
  readonly pollIntervalMs: number | undefined;
}

/** Undefined: the tool never runs as a task. */
export function readToolTask(owner: string, given: ToolTask | undefined): TaskPlan | undefined {
  if (given === undefined || given === 'never') return undefined;
  if (given === 'allowed' || given === 'required') return { ...AT_ONCE, mode: given };
  const options = checkedOptions(`${owner} (task)`, given, TOOL_TASK_OPTIONS);
  const { mode, start = 'now', ttlMs, pollIntervalMs } = options;
  if (mode !== 'allowed' && mode !== 'required') {
    throw invalidArgument(`${owner}: task must be "never", "allowed", "required" or { mode: … }`);
  }
  const afterMs = start === 'now' ? 0 : start === 'handler' ? undefined : start.afterMs;
  for (const [name, value] of Object.entries({ ttlMs, pollIntervalMs, 'start.afterMs': afterMs })) {
    const least = name === 'start.afterMs' ? 0 : 1;
    if (value === undefined || (Number.isSafeInteger(value) && value >= least)) continue;
    throw invalidArgument(`${owner}: task.${name} must be a whole number, got ${String(value)}`);
  }
  return { mode, afterMs, ttlMs, pollIntervalMs };
}

const AT_ONCE = { afterMs: 0, ttlMs: undefined, pollIntervalMs: undefined } as const;

const TOOL_TASK_OPTIONS: OptionNames<ToolTaskOptions> = {
  mode: true,
  start: true,
  ttlMs: true,
  pollIntervalMs: true,
};
