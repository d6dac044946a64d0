import { messageOf } from '../../errors.js';
import type { JsonObject } from '../../wire/json-rpc.js';
import { type Frame, membersOf } from '../wire/transcript.js';
import type { ServerAnswer } from './talk.js';

export type AnswerServer = (request: Frame) => ServerAnswer | Promise<ServerAnswer>;

/** Nobody is there to be asked; a `ping` is answered by itself. */
export const refuseAll: AnswerServer = () => ({
  error: { code: -1, message: 'Nobody is there to be asked' },
});

/** The message that answers a request of a legacy server. */
export async function answerServer(answer: AnswerServer, request: Frame): Promise<JsonObject> {
  const id = membersOf(request)['id'];
  if (request.method === 'ping') return { jsonrpc: '2.0', id, result: {} };
  try {
    return { jsonrpc: '2.0', id, ...(await answer(request)) };
  } catch (error) {
    return { jsonrpc: '2.0', id, error: { code: -32603, message: messageOf(error) } };
  }
}
