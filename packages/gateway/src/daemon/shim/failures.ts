import { IsthmusError, messageOf } from '@isthmus/sdk/internal/errors.js';
import { oversizeMessage } from '@isthmus/sdk/internal/wire/codec.js';
import { ErrorCode } from '@isthmus/sdk/internal/wire/error-codes.js';
import { errorMessage, type JsonRpcErrorBody, type RequestId } from '@isthmus/sdk/internal/wire/json-rpc.js';

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

/** We were told to end before the answer came. */
export function stoppedBody(sent: 'no' | 'maybe'): JsonRpcErrorBody {
  return {
    code: ErrorCode.InternalError,
    message: 'isthmus attach stopped before this request was finished',
    data: { reason: 'CONNECTION_CLOSED', sent },
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

/** Instead of an answer that is longer than anything that can be passed on; of which request, if that can be seen. */
export function tooLongLine(
  head: Buffer,
  tail: Buffer,
): { readonly id: RequestId | undefined; readonly line: string } {
  const { answers: id } = oversizeMessage(head, tail, 0);
  const data = { reason: 'RESULT_TOO_LARGE', sent: 'maybe' };
  const error = { code: ErrorCode.InternalError, message: 'The answer is too long to be passed on', data };
  return { id, line: failureLine(id, error) };
}
