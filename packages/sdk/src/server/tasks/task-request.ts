import { randomBytes } from 'node:crypto';
import { takesTasks, tasksRequired } from '../../era/extensions.js';
import { isAtLeast, type LegacyRevision } from '../../era/revisions.js';
import { ProtocolError } from '../../errors.js';
import type { Call, Peer, ToldTask } from '../../exchange/call.js';
import { ErrorCode } from '../../wire/error-codes.js';
import { isJsonObject } from '../../wire/json-rpc.js';
import type { TaskPlan, TaskSettings } from './options.js';
import type { TaskRecord } from './store.js';

/** What the client says about tasks with its call. */
export interface TaskWish {
  /** A legacy client decides itself. */
  readonly isDemanded: boolean;
  readonly ttlMs: number | undefined;
}

/** Undefined: the client takes no task. */
export function wishOf({ peer, params }: Call): TaskWish | undefined {
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
export function refuseTask({ peer, params }: Call): void {
  if (params['task'] === undefined || !hasLegacyTasks(peer)) return;
  throw new ProtocolError(
    ErrorCode.MethodNotFound,
    'This tool does not run as a task: call it without params.task',
  );
}

/** TASK-L-010, TASK-M-006. Clients of older revisions cannot ask for a task, so they are served. */
export function refusePlain(peer: Peer): void {
  if (peer.era === 'modern') throw tasksRequired();
  if (!hasLegacyTasks(peer)) return;
  throw new ProtocolError(
    ErrorCode.MethodNotFound,
    'This tool runs only as a task: call it with params.task',
  );
}

export function tooMany(): ProtocolError {
  return new ProtocolError(ErrorCode.InternalError, 'Too many tasks are running; try again later', {
    reason: 'BUSY',
    sent: 'no',
    status: 429,
    retryAfterMs: 1000,
  });
}

/** A client that comes back as late as its server allows finds the result. It polls as often as its server asks. */
export function fittedPlan(plan: TaskPlan, told: ToldTask | undefined, { ttlMs }: TaskSettings): TaskPlan {
  if (!told) return plan;
  return {
    ...plan,
    ttlMs: Math.max(told.ttlMs, plan.ttlMs ?? ttlMs),
    pollIntervalMs: told.pollIntervalMs ?? plan.pollIntervalMs,
  };
}

/** The record that a task begins with. */
export function newRecord(
  { peer, params }: Call,
  { settings, worker }: { readonly settings: TaskSettings; readonly worker: string },
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

/** TASK-L-092, TASK-M-024: 190 random bits. Without a "-", which command lines would take for an option. */
function newTaskId(): string {
  return randomBytes(24).toString('base64url').replaceAll('-', '_');
}
