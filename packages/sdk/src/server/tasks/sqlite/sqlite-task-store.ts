import { systemClock } from '../../../async/clock.js';
import { countOnPage, isFinished, type TaskBounds, type TaskRecord, type TaskStore } from '../store.js';
import { TaskWatchers } from '../task-watchers.js';
import { openDatabase, type SqliteDatabase } from './open-database.js';

/** Where the file is that keeps tasks. */
export interface SqliteTaskStoreOptions {
  /** The path of the database. It is created if it does not exist. */
  readonly file: string;
}

/**
 * Keeps tasks in a file, for all processes of one machine that use it. It needs the package `better-sqlite3`, or a Node with
 * `node:sqlite`. A finished task survives a crash of the process and of the machine.
 */
export async function sqliteTaskStore({ file }: SqliteTaskStoreOptions): Promise<TaskStore> {
  const database = await openDatabase(file);
  database.exec(SCHEMA);
  return createStore(database);
}

const SCHEMA = `
PRAGMA journal_mode = WAL;
PRAGMA synchronous = FULL;
PRAGMA busy_timeout = 5000;
CREATE TABLE IF NOT EXISTS tasks (
  id TEXT PRIMARY KEY, owner TEXT, client TEXT NOT NULL, worker TEXT NOT NULL, created_at INTEGER NOT NULL,
  ended INTEGER, expires_at INTEGER, revision INTEGER NOT NULL, size INTEGER NOT NULL, body TEXT NOT NULL
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS tasks_of_owner ON tasks (owner, created_at, id);
CREATE INDEX IF NOT EXISTS tasks_by_expiry ON tasks (expires_at);
CREATE INDEX IF NOT EXISTS tasks_of_client ON tasks (client, ended, size);
CREATE TABLE IF NOT EXISTS workers (worker TEXT PRIMARY KEY, until INTEGER NOT NULL) WITHOUT ROWID;
`;

function createStore(database: SqliteDatabase): TaskStore {
  const sql = prepareAll(database);
  const watchers = new TaskWatchers();
  let stopLooking: (() => void) | undefined;
  let version = 0;
  let isClosed = false;

  const tell = (id: string) => {
    for (const onChange of watchers.of(id)) queueMicrotask(onChange);
  };
  /** The number changes when another process has written. */
  const versionNow = () => Number((sql.version.get() as { data_version: number }).data_version);
  const look = () => {
    stopLooking = systemClock.after(
      LOOK_MS,
      () => {
        stopLooking = undefined;
        if (isClosed || watchers.isEmpty) return;
        look();
        const found = versionNow();
        if (found === version) return;
        version = found;
        for (const id of watchers.ids) tell(id);
      },
      { background: true },
    );
  };
  const transaction = <T>(work: () => T): T => {
    database.exec('BEGIN IMMEDIATE');
    try {
      const result = work();
      database.exec('COMMIT');
      return result;
    } catch (error) {
      database.exec('ROLLBACK');
      throw error;
    }
  };
  const makeRoom = ({ maxTasks, maxBytes }: TaskBounds, spared: string): boolean => {
    for (;;) {
      const { tasks, bytes } = sql.total.get() as { tasks: number; bytes: number };
      if (tasks <= maxTasks && bytes <= maxBytes) return true;
      const victim = (bytes > maxBytes ? sql.victimByBytes : sql.victimByTasks).get(spared);
      if (!victim) return false;
      sql.drop.run((victim as { id: string }).id);
    }
  };

  return {
    async create(record, bounds) {
      return transaction(() => {
        const { id, owner = null, client, worker, createdAt, revision } = record;
        const body = JSON.stringify(record);
        sql.insert.run(id, owner, client, worker, createdAt, revision, Buffer.byteLength(body), body);
        if (makeRoom(bounds, id)) return 'created';
        sql.drop.run(id);
        return 'full';
      });
    },
    async get(id) {
      return toRecord(sql.get.get(id));
    },
    async replace(record, bounds) {
      const answer = transaction(() => {
        const known = sql.revision.get(record.id) as { revision: number } | undefined;
        if (!known) return 'gone';
        if (known.revision !== record.revision - 1) return 'stale';
        const body = JSON.stringify(record);
        const isOver = isFinished(record) ? 1 : 0;
        const size = Buffer.byteLength(body);
        const { revision, worker, expiresAt = null } = record;
        sql.update.run(revision, worker, size, body, expiresAt, isOver, record.id);
        makeRoom(bounds, record.id);
        return 'replaced';
      });
      if (answer === 'replaced') tell(record.id);
      return answer;
    },
    async list(owner, after, limit) {
      const { createdAt, id } = after ?? { createdAt: -1, id: '' };
      const place = [owner, createdAt, createdAt, id] as const;
      const sizes = sql.sizes.all(...place, limit.tasks + 1).map((row) => (row as { size: number }).size);
      const count = countOnPage(sizes, limit);
      const records = sql.list.all(...place, count).flatMap((row) => toRecord(row) ?? []);
      return { records, hasMore: count < sizes.length };
    },
    watch(id, onChange) {
      if (watchers.isEmpty && !isClosed) version = versionNow();
      const end = watchers.add(id, onChange);
      if (!stopLooking) look();
      return end;
    },
    async beat(worker, until) {
      sql.beat.run(worker, until);
    },
    async isAlive(worker, now) {
      return ((sql.worker.get(worker) as { until: number } | undefined)?.until ?? 0) > now;
    },
    async review(now) {
      return transaction(() => {
        sql.expire.run(now);
        sql.forgetWorkers.run(now);
        return sql.abandoned.all().map((row) => (row as { id: string }).id);
      });
    },
    async close() {
      if (isClosed) return;
      isClosed = true;
      watchers.clear();
      stopLooking?.();
      database.close();
    },
  };
}

function prepareAll(database: SqliteDatabase) {
  const victim = (measure: string) =>
    database.prepare(
      `SELECT id FROM tasks JOIN (SELECT client, ${measure} AS used FROM tasks GROUP BY client) USING (client)
       WHERE ended IS NOT NULL AND id <> ? ORDER BY used DESC, ended LIMIT 1`,
    );
  const page = (column: string) =>
    database.prepare(
      `SELECT ${column} FROM tasks WHERE owner = ? AND (created_at > ? OR (created_at = ? AND id > ?))
       ORDER BY created_at, id LIMIT ?`,
    );
  return {
    insert: database.prepare(
      `INSERT INTO tasks (id, owner, client, worker, created_at, revision, size, body)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO NOTHING`,
    ),
    get: database.prepare('SELECT body FROM tasks WHERE id = ?'),
    revision: database.prepare('SELECT revision FROM tasks WHERE id = ?'),
    update: database.prepare(
      `UPDATE tasks SET revision = ?, worker = ?, size = ?, body = ?, expires_at = ?,
       ended = CASE WHEN ? = 1 THEN (SELECT COALESCE(MAX(ended), 0) + 1 FROM tasks) END WHERE id = ?`,
    ),
    drop: database.prepare('DELETE FROM tasks WHERE id = ?'),
    total: database.prepare('SELECT COUNT(*) AS tasks, COALESCE(SUM(size), 0) AS bytes FROM tasks'),
    victimByBytes: victim('SUM(size)'),
    victimByTasks: victim('COUNT(*)'),
    sizes: page('size'),
    list: page('body'),
    version: database.prepare('PRAGMA data_version'),
    beat: database.prepare(
      'INSERT INTO workers (worker, until) VALUES (?, ?) ON CONFLICT (worker) DO UPDATE SET until = excluded.until',
    ),
    worker: database.prepare('SELECT until FROM workers WHERE worker = ?'),
    expire: database.prepare('DELETE FROM tasks WHERE expires_at <= ?'),
    forgetWorkers: database.prepare('DELETE FROM workers WHERE until <= ?'),
    abandoned: database.prepare(
      'SELECT id FROM tasks WHERE ended IS NULL AND worker NOT IN (SELECT worker FROM workers)',
    ),
  };
}

function toRecord(row: unknown): TaskRecord | undefined {
  return row ? (JSON.parse((row as { body: string }).body) as TaskRecord) : undefined;
}

/** How often the file is looked at for changes of other processes, while somebody waits for one. */
const LOOK_MS = 200;
