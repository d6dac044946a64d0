import { IsthmusError, messageOf } from '../../errors.js';
import { ErrorCode } from '../../wire/error-codes.js';
import { errorMessage, type JsonRpcErrorBody, type RequestId } from '../../wire/json-rpc.js';

/** The answer to a request that will get no other. */
export function failureLine(id: RequestId | undefined, error: JsonRpcErrorBody): string {
  return JSON.stringify(errorMessage(id, error));
}

/** The daemon died while it had the request: nobody knows whether it ran. */
export function lostBody(name: string): JsonRpcErrorBody {
  return {
    code: ErrorCode.InternalError,
    message: `The daemon that serves ${name} ended while this request was in flight; it may have run`,
    data: { reason: 'CONNECTION_CLOSED', sent: 'maybe' },
  };
}

/** There is no way to the server. */
export function unreachableBody(thrown: unknown): JsonRpcErrorBody {
  const { code = 'CANNOT_START', stderrTail } = thrown instanceof IsthmusError ? thrown : {};
  return {
    code: ErrorCode.InternalError,
    message: messageOf(thrown),
    data: { reason: code, sent: 'no', ...(stderrTail && { stderrTail }) },
  };
}
