import { hasTasks } from '@isthmus/sdk/internal/era/extensions.js';
import { ProtocolError } from '@isthmus/sdk/internal/errors.js';
import type { Call, ForeignChange, Peer, TaskWatch } from '@isthmus/sdk/internal/exchange/call.js';
import type { TaskRecord, TaskStore } from '@isthmus/sdk/internal/server/tasks/store.js';
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
 * this client may see the task. Without tasks or a valid id any server gives the right error.
 */
export async function holderOf(
  { method, params, peer }: Call,
  members: readonly AggregateMember[],
): Promise<AggregateMember> {
  const { taskId } = params;
  const holders = members.filter(({ service }) => hasTasks(service.capabilities()) && service.watchTasks);
  if (holders.length === 0) throw new ProtocolError(ErrorCode.MethodNotFound, `Method not found: ${method}`);
  for (const member of typeof taskId === 'string' ? holders : []) {
    const watch = await member.service.watchTasks!(peer, [taskId as string], () => {});
    watch.stop();
    if (watch.accepted.length > 0) return member;
  }
  return holders[0]!;
}

/** Reports the states of tasks at all servers. */
export async function watchTasksOf(
  members: readonly AggregateMember[],
  peer: Peer,
  ids: readonly string[],
  onChange: (change: ForeignChange) => void,
): Promise<TaskWatch> {
  const watching = members.map(({ service }) => service.watchTasks?.(peer, ids, onChange));
  const watches = (await Promise.all(watching)).filter((watch) => watch !== undefined);
  return {
    accepted: watches.flatMap(({ accepted }) => accepted),
    start() {
      for (const watch of watches) watch.start();
    },
    stop() {
      for (const watch of watches) watch.stop();
    },
  };
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
    review: (now) => store.review(now),
    // The gateway does not own the store.
    close: async () => {},
  };
}
