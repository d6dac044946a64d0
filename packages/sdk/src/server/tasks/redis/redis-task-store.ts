import { setTimeout as sleep } from 'node:timers/promises';
import { connectRedis, type RedisConnection } from '../../../cluster/redis/connect.js';
import type { RedisScript } from '../../../cluster/redis/scripts.js';
import { IsthmusError, messageOf } from '../../../errors.js';
import { isFinished, type TaskBounds, type TaskRecord, type TaskStore } from '../store.js';
import { TaskWatchers } from '../task-watchers.js';
import {
  BEAT_WORKER,
  CREATE_TASK,
  GET_TASK,
  LIST_TASKS,
  READ_WORKER,
  REPLACE_TASK,
  REVIEW_TASKS,
} from './task-scripts.js';

/** Where the Redis is that keeps tasks. */
export interface RedisTaskStoreOptions {
  /** As for a cluster: `redis://HOST:6379`, `rediss://`, `redis+sentinel://` or `redis+cluster://`. */
  readonly url: string;
  /** Servers with different names share a Redis without sharing tasks. Default: `tasks`. */
  readonly name?: string;
}

/**
 * Keeps tasks in Redis 7 or Valkey, for all processes that use the same name. It needs the package `@redis/client`. What
 * survives a crash of Redis itself depends on its settings (`appendfsync`).
 */
export async function redisTaskStore({ url, name = 'tasks' }: RedisTaskStoreOptions): Promise<TaskStore> {
  const redis = await connectRedis(url);
  const prefix = `isthmus:{${name}:tasks}`;
  try {
    await untilReady(redis, prefix);
  } catch (error) {
    redis.close();
    throw error;
  }
  return createStore(redis, prefix);
}

/** The connection is opened in the background. */
async function untilReady(redis: RedisConnection, prefix: string): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      await redis.run(READ_WORKER, [prefix], ['']);
      return;
    } catch (error) {
      if (attempt < READY_ATTEMPTS) await sleep(READY_MS);
      else {
        const why = redis.problem ?? messageOf(error);
        const message = `Redis at ${redis.place} cannot be used: ${why}`;
        throw new IsthmusError('ADDRESS_UNAVAILABLE', message, { cause: error });
      }
    }
  }
}

const READY_ATTEMPTS = 100;
const READY_MS = 50;

function createStore(redis: RedisConnection, prefix: string): TaskStore {
  const watchers = new TaskWatchers();
  const channel = `${prefix}:changes`;
  let subscribed: Promise<void> | undefined;
  let isClosed = false;
  const run = (script: RedisScript, ...args: readonly (string | number)[]) =>
    redis.run(script, [prefix], args.map(String));
  const tell = (id: string) => {
    for (const onChange of watchers.of(id)) onChange();
  };
  const subscribe = () => {
    if (subscribed || isClosed) return;
    subscribed = redis.subscribe(channel, (value) => tell(Buffer.from(value).toString()));
    subscribed.catch(() => {
      // The next watch tries again. Waiting requests look by themselves now and then.
      subscribed = undefined;
    });
  };
  return {
    async create(record, bounds) {
      const { id, revision, client, owner = '', worker, createdAt } = record;
      const body = JSON.stringify(record);
      const place = [revision, client, owner, worker, createdAt] as const;
      const answer = await run(CREATE_TASK, id, body, ...place, ...limits(bounds));
      return String(answer) as 'created' | 'full';
    },
    async get(id) {
      return toRecord(await run(GET_TASK, id));
    },
    async replace(record, bounds) {
      const expiresAt = isFinished(record) ? (record.expiresAt ?? 0) : '';
      const body = JSON.stringify(record);
      const place = [record.revision, expiresAt, record.worker] as const;
      const answer = await run(REPLACE_TASK, record.id, body, ...place, ...limits(bounds));
      return String(answer) as 'replaced' | 'stale' | 'gone';
    },
    async list(owner, after, limit) {
      const from = after ? [after.createdAt, after.id] : [];
      const [more, ...bodies] = (await run(
        LIST_TASKS,
        owner,
        limit.tasks,
        limit.bytes,
        ...from,
      )) as unknown[];
      return { records: bodies.flatMap((body) => toRecord(body) ?? []), hasMore: Number(more) === 1 };
    },
    watch(id, onChange) {
      subscribe();
      return watchers.add(id, onChange);
    },
    async beat(worker, until) {
      await run(BEAT_WORKER, worker, until);
    },
    async isAlive(worker, now) {
      return Number(String((await run(READ_WORKER, worker)) ?? 0)) > now;
    },
    async review(now) {
      return ((await run(REVIEW_TASKS, now)) as unknown[]).map(String);
    },
    async close() {
      isClosed = true;
      watchers.clear();
      redis.close();
    },
  };
}

function limits({ maxTasks, maxBytes }: TaskBounds): readonly [number, number] {
  return [maxTasks, maxBytes];
}

function toRecord(body: unknown): TaskRecord | undefined {
  return body === null || body === undefined ? undefined : (JSON.parse(String(body)) as TaskRecord);
}
