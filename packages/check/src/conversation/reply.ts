import { messageOf } from '@isthmus/sdk/internal/errors.js';
import { isJsonObject, type RequestId } from '@isthmus/sdk/internal/wire/json-rpc.js';
import { type Frame, membersOf } from '../wire/transcript.js';
import type { Reply } from './conversation.js';

/** What an answer says, whatever else may be wrong with it. */
export function replyOf(
  frame: Frame,
  about: { readonly id: RequestId; readonly notifications: readonly Frame[]; readonly ms: number },
): Reply {
  const { result, error } = membersOf(frame);
  if (isJsonObject(result)) return { kind: 'result', result, frame, ...about };
  if (isJsonObject(error)) {
    const { code, message, data } = error;
    return {
      kind: 'error',
      error: {
        code: typeof code === 'number' ? code : Number.NaN,
        message: typeof message === 'string' ? message : '',
        ...(data !== undefined && { data }),
      },
      frame,
      ...about,
    };
  }
  return { kind: 'silence', why: `the answer is none: ${frame.text.slice(0, 200)}`, frame, ...about };
}

/** No answer at all: the request itself failed. */
export function silenceOf(error: unknown, id: RequestId, ms: number): Reply {
  return { kind: 'silence', why: messageOf(error), id, notifications: [], ms };
}
