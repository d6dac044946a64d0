import type { Clock } from '@isthmus/sdk/internal/async/clock.js';
import type { Bridge } from '@isthmus/sdk/internal/bridge/create-bridge.js';
import { hasTasks } from '@isthmus/sdk/internal/era/extensions.js';
import { ProtocolError } from '@isthmus/sdk/internal/errors.js';
import type { Call } from '@isthmus/sdk/internal/exchange/call.js';
import { failLost } from '@isthmus/sdk/internal/server/tasks/lost-task.js';
import { resolveTasks } from '@isthmus/sdk/internal/server/tasks/options.js';
import { isFinished, type TaskRecord, type TaskStore } from '@isthmus/sdk/internal/server/tasks/store.js';
import { TaskUpkeep } from '@isthmus/sdk/internal/server/tasks/task-upkeep.js';
import { ErrorCode } from '@isthmus/sdk/internal/wire/error-codes.js';
import type { ServerCapabilities } from '@isthmus/sdk/internal/wire/model.js';
import type { AggregateMember } from './members.js';

/** The requests about one task. */
export const TASK_REQUESTS: ReadonlySet<string> = new Set([
  'tasks/get',
  'tasks/result',
  'tasks/update',
  'tasks/cancel',
]);

/**
 * The server whose bridge keeps the task. The ids of tasks are random, so they need no prefix: each bridge is asked whether
 * this client may see the task. Undefined: none of them says so.
 */
export async function keeperOf(
  { params: { taskId }, peer }: Call,
  members: readonly AggregateMember[],
): Promise<AggregateMember | undefined> {
  if (typeof taskId !== 'string') return undefined;
  const candidates = members.filter(hasTaskMethods);
  const knows = await Promise.all(
    candidates.map(async ({ service }) => {
      const watch = await service.watchTasks!(peer, [taskId], () => {});
      watch.stop();
      return watch.accepted.length > 0;
    }),
  );
  return candidates[knows.indexOf(true)];
}

/** Where no server keeps the task, any server with tasks gives the right error. */
export function anyWithTasks({ method }: Call, members: readonly AggregateMember[]): AggregateMember {
  const found = members.find(hasTaskMethods);
  if (found) return found;
  throw new ProtocolError(ErrorCode.MethodNotFound, `Method not found: ${method}`);
}

function hasTaskMethods({ service }: AggregateMember): boolean {
  return hasTasks(service.capabilities()) && service.watchTasks !== undefined;
}

/** Tasks of several servers are not listed: no server knows those of another. */
export function jointTasks(all: readonly ServerCapabilities[]): Pick<ServerCapabilities, 'tasks'> {
  return all.some(({ tasks }) => tasks !== undefined)
    ? { tasks: { cancel: {}, requests: { tools: { call: {} } } } }
    : {};
}

/** The tasks of one server in a store that all servers of a gateway share. Tasks of other servers are unknown in it. */
export function tasksOfServer(store: TaskStore, server: string): TaskStore {
  const isOwn = ({ note }: TaskRecord) => note?.['server'] === server;
  return {
    create: (record, bounds) => store.create({ ...record, note: { ...record.note, server } }, bounds),
    async get(id) {
      const record = await store.get(id);
      return record && isOwn(record) ? record : undefined;
    },
    replace: (record, bounds) => store.replace(record, bounds),
    async list(owner, after, limit) {
      for (let from = after; ; ) {
        const page = await store.list(owner, from, limit);
        const records = page.records.filter(isOwn);
        if (records.length > 0 || !page.hasMore) return { records, hasMore: page.hasMore };
        from = page.records.at(-1);
      }
    },
    watch: (id, onChange) => store.watch(id, onChange),
    beat: (worker, until) => store.beat(worker, until),
    isAlive: (worker, now) => store.isAlive(worker, now),
    // The gateway reviews the tasks of all servers: `reviewTasks`.
    review: async () => [],
    // The gateway does not own the store.
    close: async () => {},
  };
}

/**
 * Drops expired tasks of all servers, and recovers those whose process has ended, until the returned function is called. The
 * bridge of the server goes on with such a task, or fails it. The server may have been removed, or may never be called
 * again.
 */
export function reviewTasks(
  store: TaskStore,
  clock: Clock,
  bridgeOf: (server: string) => Bridge | undefined,
): () => void {
  const settings = resolveTasks({ store, clock });
  const upkeep = new TaskUpkeep(settings, () => '', {
    async abandoned(id) {
      const record = await store.get(id);
      if (!record || isFinished(record)) return;
      const server = record.note?.['server'];
      const bridge = typeof server === 'string' ? bridgeOf(server) : undefined;
      if (bridge) await bridge.recoverTask(record);
      else if (!(await store.isAlive(record.worker, clock.now()))) await failLost(settings, record);
    },
    look() {},
  });
  upkeep.review();
  return () => upkeep.stop();
}
