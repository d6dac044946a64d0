import { IsthmusError } from '../../errors.js';
import type { TaskSettings } from './options.js';
import { isFinished, type TaskRecord } from './store.js';

/** What a change may replace. */
export type TaskChange = Partial<
  Pick<
    TaskRecord,
    'status' | 'statusMessage' | 'questions' | 'answers' | 'cancelRequested' | 'outcome' | 'note' | 'worker'
  >
>;

/**
 * Changes a task, again if another process has changed it meanwhile. A finished task stays as it is (TASK-L-031). Returns
 * the task as it is then; undefined: there is none.
 */
export async function changeTask(
  { store, bounds, clock }: Pick<TaskSettings, 'store' | 'bounds' | 'clock'>,
  id: string,
  change: (record: TaskRecord) => TaskChange | undefined,
): Promise<TaskRecord | undefined> {
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt += 1) {
    const record = await store.get(id);
    if (!record || isFinished(record)) return record;
    const changed = change(record);
    if (!changed) return record;
    const next = nextRecord(record, changed, clock.now());
    const answer = await store.replace(next, bounds);
    if (answer === 'replaced') return next;
    if (answer === 'gone') return undefined;
  }
  throw new IsthmusError('BUSY', `The task was changed ${MAX_ATTEMPTS} times by others meanwhile; try again`);
}

const MAX_ATTEMPTS = 100;

function nextRecord(record: TaskRecord, changed: TaskChange, now: number): TaskRecord {
  const next = {
    ...record,
    ...changed,
    updatedAt: Math.max(now, record.updatedAt),
    revision: record.revision + 1,
  };
  if (!isFinished(next)) return next;
  return { ...next, questions: {}, answers: {}, expiresAt: expiryOf(record, now) };
}

/** A result is kept for a while, however long the task has run. */
export function expiryOf(
  { createdAt, ttlMs }: Pick<TaskRecord, 'createdAt' | 'ttlMs'>,
  endedAt: number,
): number {
  return Math.max(createdAt + ttlMs, endedAt + Math.min(ttlMs, KEPT_AFTER_END_MS));
}

/** The ttl that clients see. It grows while the task runs, so that no client takes a running task for lost (TASK-M-037). */
export function shownTtl(record: TaskRecord, now: number): number {
  return (record.expiresAt ?? expiryOf(record, now)) - record.createdAt;
}

const KEPT_AFTER_END_MS = 300_000;
