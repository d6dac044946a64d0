import { ProtocolError } from '../../errors.js';
import type { Call, Peer } from '../../exchange/call.js';
import { ErrorCode } from '../../wire/error-codes.js';
import type { JsonObject } from '../../wire/json-rpc.js';
import { changeTask } from './change-task.js';
import type { TaskSettings } from './options.js';
import type { TaskRecord } from './store.js';

/** The error of a task whose process has ended, and that does not go on anywhere. It is never run again. */
export const LOST_WORKER = {
  error: {
    code: ErrorCode.InternalError,
    message: 'The server ended while it ran this task',
    data: { reason: 'SERVER_ENDED', sent: 'maybe' },
  },
} as const;

export function lostWorker(): ProtocolError {
  const { code, message, data } = LOST_WORKER.error;
  return new ProtocolError(code, message, data);
}

/** Fails a task whose process has ended, unless another process has it by now. Returns the task as it is then. */
export function failLost(
  settings: TaskSettings,
  { id, worker }: TaskRecord,
): Promise<TaskRecord | undefined> {
  const statusMessage = LOST_WORKER.error.message;
  return changeTask(settings, id, (known) =>
    known.worker === worker ? { status: 'failed', statusMessage, outcome: LOST_WORKER } : undefined,
  );
}

/** How this process goes on with a task that another one has begun. Undefined: it cannot. */
export type ResumeTask = (record: TaskRecord) => ResumedTask | undefined;

export interface ResumedTask {
  /** The client that the task belongs to. */
  readonly peer: Peer;
  /** Follows what the task stands for to its end. */
  follow(call: Call): Promise<JsonObject>;
}

/** The call that a task began with, without its client: the request and its connection are gone. */
export function callOfRecord({ tool }: TaskRecord, peer: Peer): Call {
  const { signal } = new AbortController();
  return {
    method: 'tools/call',
    params: { name: tool },
    peer,
    signal,
    cancellation: signal,
    answers: undefined,
    state: undefined,
    logLevel: undefined,
    wantsProgress: false,
    progress() {},
    log() {},
    notify() {},
    ask: () => Promise.reject(lostWorker()),
  };
}
