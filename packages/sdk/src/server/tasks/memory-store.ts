import { countOnPage, isFinished, type TaskBounds, type TaskRecord, type TaskStore } from './store.js';
import { TaskWatchers } from './task-watchers.js';

/** Keeps tasks in the memory of this process. They end with it. */
export function memoryTaskStore(): TaskStore {
  const kept = new Map<string, Kept>();
  const clients = new Map<string, Share>();
  const watchers = new TaskWatchers();
  const workers = new Map<string, number>();
  let bytes = 0;

  const account = ({ record, size }: Kept, sign: 1 | -1) => {
    const share = clients.get(record.client) ?? { tasks: 0, bytes: 0, finished: new Set<string>() };
    clients.set(record.client, share);
    share.tasks += sign;
    share.bytes += sign * size;
    bytes += sign * size;
    if (sign === -1) share.finished.delete(record.id);
    else if (isFinished(record)) share.finished.add(record.id);
    if (share.tasks === 0) clients.delete(record.client);
  };
  const drop = (id: string) => {
    const known = kept.get(id);
    if (!known) return;
    account(known, -1);
    kept.delete(id);
    tell(id);
  };
  const tell = (id: string) => {
    for (const onChange of watchers.of(id)) queueMicrotask(onChange);
  };
  const isOver = (bounds: TaskBounds) => kept.size > bounds.maxTasks || bytes > bounds.maxBytes;

  /** Drops finished tasks, except `spared`, until the bounds hold. */
  const makeRoom = (bounds: TaskBounds, spared: string): boolean => {
    while (isOver(bounds)) {
      const used = bytes > bounds.maxBytes ? 'bytes' : 'tasks';
      let victim: { readonly id: string; readonly used: number } | undefined;
      for (const share of clients.values()) {
        if (victim && share[used] <= victim.used) continue;
        const id = firstExcept(share.finished, spared);
        if (id !== undefined) victim = { id, used: share[used] };
      }
      if (!victim) return false;
      drop(victim.id);
    }
    return true;
  };

  return {
    async create(record, bounds) {
      const entry = { record, size: sizeOf(record) };
      kept.set(record.id, entry);
      account(entry, 1);
      if (makeRoom(bounds, record.id)) return 'created';
      drop(record.id);
      return 'full';
    },
    async get(id) {
      return kept.get(id)?.record;
    },
    async replace(record, bounds) {
      const known = kept.get(record.id);
      if (!known) return 'gone';
      if (known.record.revision !== record.revision - 1) return 'stale';
      account(known, -1);
      const entry = { record, size: sizeOf(record) };
      kept.set(record.id, entry);
      account(entry, 1);
      makeRoom(bounds, record.id);
      tell(record.id);
      return 'replaced';
    },
    async list(owner, after, limit) {
      const found = [...kept.values()]
        .filter(({ record }) => record.owner === owner && (!after || isAfter(record, after)))
        .sort((a, b) => (isAfter(a.record, b.record) ? 1 : -1));
      const count = countOnPage(
        found.map(({ size }) => size),
        limit,
      );
      return { records: found.slice(0, count).map(({ record }) => record), hasMore: count < found.length };
    },
    watch: (id, onChange) => watchers.add(id, onChange),
    async beat(worker, until) {
      workers.set(worker, until);
    },
    async isAlive(worker, now) {
      return (workers.get(worker) ?? 0) > now;
    },
    async review(now) {
      for (const [worker, until] of workers) if (until <= now) workers.delete(worker);
      const abandoned: string[] = [];
      for (const [id, { record }] of [...kept]) {
        if (record.expiresAt !== undefined && record.expiresAt <= now) drop(id);
        else if (!isFinished(record) && !workers.has(record.worker)) abandoned.push(id);
      }
      return abandoned;
    },
    async close() {
      watchers.clear();
    },
  };
}

interface Kept {
  readonly record: TaskRecord;
  readonly size: number;
}

/** What one client uses. */
interface Share {
  tasks: number;
  bytes: number;
  /** In the order of their end. */
  readonly finished: Set<string>;
}

function firstExcept(ids: Iterable<string>, spared: string): string | undefined {
  for (const id of ids) if (id !== spared) return id;
  return undefined;
}

function sizeOf(record: TaskRecord): number {
  return Buffer.byteLength(JSON.stringify(record));
}

function isAfter(a: Pick<TaskRecord, 'createdAt' | 'id'>, b: Pick<TaskRecord, 'createdAt' | 'id'>): boolean {
  return a.createdAt === b.createdAt ? a.id > b.id : a.createdAt > b.createdAt;
}
