import type { Cancellation } from '../../async/abort.js';
import type { Clock } from '../../async/clock.js';
import { IsthmusError, ProtocolError } from '../../errors.js';
import { ErrorCode } from '../../wire/error-codes.js';
import type { JsonObject } from '../../wire/json-rpc.js';

/** How a request about a task is repeated. */
export interface Repetition {
  readonly cancellation: Cancellation;
  readonly clock: Clock;
  /** How long the connection may fail. */
  readonly patienceMs: number;
}

/** Makes a request about a task once. */
export type TaskRequester = (method: string, params: JsonObject) => Promise<JsonObject>;

/**
 * Makes a request about a task, again if the connection failed and not the task: these requests can be repeated without
 * harm. A server that does not know the task after the connection was lost has lost it, so the loss is the error.
 */
export async function repeatRequest(
  make: TaskRequester,
  method: string,
  params: JsonObject,
  { cancellation, clock, patienceMs }: Repetition,
): Promise<JsonObject> {
  const began = clock.now();
  let lost: IsthmusError | undefined;
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(2 * pauseMs, MAX_PAUSE_MS)) {
    try {
      return await make(method, params);
    } catch (thrown) {
      const error = lost ? await afterLoss(thrown, make, method, params) : thrown;
      if (lost && error === UNKNOWN_TASK) throw lost.with({ sent: 'maybe' });
      if (cancellation.aborted || !isPassing(error)) throw error;
      if (clock.now() + pauseMs > began + patienceMs) throw error.with({ sent: 'maybe' });
      lost ??= error;
    }
    await pause(pauseMs, clock, cancellation);
    if (cancellation.aborted) throw cancellation.reason;
  }
}

/**
 * What an error means after the connection was lost. Other requests than `tasks/get` may also be refused with InvalidParams
 * for another reason, such as the error of the tool (TASK-L-041), so the server is asked for the task.
 */
async function afterLoss(
  thrown: unknown,
  make: TaskRequester,
  method: string,
  { taskId }: JsonObject,
): Promise<unknown> {
  if (!isInvalidParams(thrown)) return thrown;
  if (method === STATE) return UNKNOWN_TASK;
  try {
    await make(STATE, { taskId });
    return thrown;
  } catch (error) {
    if (isInvalidParams(error)) return UNKNOWN_TASK;
    return isPassing(error) ? error : thrown;
  }
}

const STATE = 'tasks/get';
const UNKNOWN_TASK = Symbol('unknown task');

function pause(ms: number, clock: Clock, cancellation: Cancellation): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      callOff();
      cancellation.removeEventListener('abort', end);
      resolve();
    };
    const callOff = clock.after(ms, end);
    cancellation.addEventListener('abort', end);
  });
}

/** The connection failed, and not the task. */
function isPassing(error: unknown): error is IsthmusError {
  return error instanceof IsthmusError && !(error instanceof ProtocolError) && PASSING.has(error.code);
}

function isInvalidParams(error: unknown): boolean {
  return error instanceof ProtocolError && error.code === ErrorCode.InvalidParams;
}

const PASSING: ReadonlySet<string> = new Set([
  'CHILD_EXITED',
  'CONNECTION_CLOSED',
  'HTTP_STATUS',
  'ADDRESS_UNAVAILABLE',
  'BUSY',
]);
const FIRST_PAUSE_MS = 200;
const MAX_PAUSE_MS = 3000;
