import { toWireError } from '../../../era/server-dialect-context.js';
import { messageOf } from '../../../errors.js';
import { ErrorCode } from '../../../wire/error-codes.js';
import { isJsonObject, type JsonObject } from '../../../wire/json-rpc.js';
import type { TaskSettings } from '../options.js';
import type { TaskEnd } from '../running-task.js';
import type { TaskRecord } from '../store.js';
import type { TaskCall } from './task-call.js';

/** What came out of a handler. */
export type Handled = { readonly plain: JsonObject } | { readonly thrown: unknown };

export async function handled(handle: () => JsonObject | Promise<JsonObject>): Promise<Handled> {
  try {
    return { plain: await handle() };
  } catch (thrown) {
    return { thrown };
  }
}

/** How a task ends after its handler. */
export function endOf(call: TaskCall, end: Handled, { bounds }: TaskSettings): TaskEnd {
  if ('plain' in end) return resultOf(end.plain, Math.floor(bounds.maxBytes / 16));
  if (call.cancellation.aborted) return 'cancelled';
  return { error: toWireError(end.thrown, 'tools/call', call.peer.era) };
}

/** A copy, since the handler may change its object later, and a finished task must not change. */
function resultOf(result: JsonObject, maxBytes: number): TaskEnd {
  try {
    const text = JSON.stringify(result);
    const bytes = Buffer.byteLength(text);
    if (bytes <= maxBytes) return { result: JSON.parse(text) as JsonObject };
    const message = `The result has ${bytes} bytes, and the result of a task can have ${maxBytes}`;
    return { error: { code: ErrorCode.InternalError, message } };
  } catch (error) {
    return { error: { code: ErrorCode.InternalError, message: messageOf(error) } };
  }
}

/** A word for what went wrong in a finished task. */
export function errorOf({ outcome }: TaskRecord): string | undefined {
  if (!outcome) return undefined;
  if ('result' in outcome) return outcome.result['isError'] === true ? 'tool_error' : undefined;
  const { code, data } = outcome.error;
  const reason = isJsonObject(data) ? data['reason'] : undefined;
  return typeof reason === 'string' ? reason : String(code);
}
