import type { TaskRecord, TaskStore } from '@isthmus/sdk/internal/server/tasks/store.js';

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
      const found: TaskRecord[] = [];
      for (let from = after; ; ) {
        const page = await store.list(owner, from, limit);
        found.push(...page.filter(isOwn));
        from = page.at(-1);
        if (page.length < limit || found.length >= limit) return found.slice(0, limit);
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
