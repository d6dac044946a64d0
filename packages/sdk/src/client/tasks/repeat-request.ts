import type { Cancellation } from '../../async/abort.js';
import type { Clock } from '../../async/clock.js';
import { IsthmusError, ProtocolError } from '../../errors.js';
import { ErrorCode } from '../../wire/error-codes.js';
import { isJsonObject, type JsonObject } from '../../wire/json-rpc.js';

/** How a request about a task is repeated. */
export interface Repetition {
  readonly cancellation: Cancellation;
  readonly clock: Clock;
  /** How long the connection may fail. */
  readonly patienceMs: number;
  /** Something was lost before the first attempt. */
  readonly lost?: ProtocolError | undefined;
}

/** Makes a request about a task once. */
export type TaskRequester = (method: string, params: JsonObject) => Promise<JsonObject>;

/**
 * Makes a request about a task, again if the connection or a process between failed and not the task: these requests can be
 * repeated without harm. A server that does not know the task after such a loss has lost it, so the loss is the error.
 */
export async function repeatRequest(
  make: TaskRequester,
  method: string,
  params: JsonObject,
  { cancellation, clock, patienceMs, lost: before }: Repetition,
): Promise<JsonObject> {
  const began = clock.now();
  const askState = () => make(STATE, { taskId: params['taskId'] });
  let lost: Loss | undefined = before;
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(2 * pauseMs, MAX_PAUSE_MS)) {
    try {
      return await make(method, params);
    } catch (thrown) {
      const error: Meaning = lost ? await afterLoss(thrown, method, askState) : meaningOf(thrown, method);
      if (lost && error === UNKNOWN_TASK) throw unsure(lost);
      if (error === OWN_END || error === UNKNOWN_TASK || cancellation.aborted) throw thrown;
      if (clock.now() + pauseMs > began + patienceMs) throw unsure(error);
      lost ??= error;
    }
    await pause(pauseMs, clock, cancellation);
    if (cancellation.aborted) throw cancellation.reason;
  }
}

/**
 * What an error means after a loss. Other requests than `tasks/get` may also be refused with InvalidParams for another
 * reason, such as the error of the tool (TASK-L-041), and the error of the tool may be that a process was lost. So the
 * server is asked for the task.
 */
async function afterLoss(
  thrown: unknown,
  method: string,
  askState: () => Promise<JsonObject>,
): Promise<Meaning> {
  const mayBeOwn = method === RESULT && isReplicaLost(thrown);
  if (!isInvalidParams(thrown) && !mayBeOwn) return meaningOf(thrown, method);
  if (method === STATE) return UNKNOWN_TASK;
  try {
    const { status } = await askState();
    return mayBeOwn && !OVER.has(status) ? meaningOf(thrown, method) : OWN_END;
  } catch (error) {
    return isInvalidParams(error) ? UNKNOWN_TASK : meaningOf(error, STATE);
  }
}

const STATE = 'tasks/get';
const RESULT = 'tasks/result';
const OVER: ReadonlySet<unknown> = new Set(['completed', 'failed', 'cancelled']);

/** It is not the end of the task. */
type Loss = IsthmusError | ProtocolError;
/** `OWN_END`: the error is the answer. */
type Meaning = Loss | typeof UNKNOWN_TASK | typeof OWN_END;
const UNKNOWN_TASK = Symbol('unknown task');
const OWN_END = Symbol('own end');

/**
 * The connection failed, or a process between. `tasks/get` has the error of a task in its result (TASK-M-031), so an
 * internal error says only that the server cannot tell about the task now.
 */
function meaningOf(error: unknown, method: string): Loss | typeof OWN_END {
  if (error instanceof IsthmusError) return PASSING.has(error.code) ? error : OWN_END;
  if (!(error instanceof ProtocolError)) return OWN_END;
  const isPassing = isReplicaLost(error) || (method === STATE && error.code === ErrorCode.InternalError);
  return isPassing ? error : OWN_END;
}

/** The request may have arrived. A server says so itself. */
function unsure(loss: Loss): Loss {
  return loss instanceof IsthmusError ? loss.with({ sent: 'maybe' }) : loss;
}

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

/** A member of a cluster ended while it worked on the request. */
function isReplicaLost(error: unknown): boolean {
  return (
    error instanceof ProtocolError && isJsonObject(error.data) && error.data['reason'] === 'REPLICA_LOST'
  );
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
