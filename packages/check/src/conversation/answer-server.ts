import { messageOf } from '@isthmus/sdk/internal/errors.js';
import type { JsonObject } from '@isthmus/sdk/internal/wire/json-rpc.js';
import { type Frame, membersOf, type WireTranscript } from '../wire/transcript.js';
import type { ServerAnswer } from './conversation.js';

export type AnswerServer = (request: Frame) => ServerAnswer | Promise<ServerAnswer>;

/** Nobody is there to be asked; a `ping` is answered by itself. */
export const refuseAll: AnswerServer = () => ({
  error: { code: -1, message: 'Nobody is there to be asked' },
});

export interface AnsweringSide {
  isOver(): boolean;
  /** Who answers at the moment. */
  answer: AnswerServer;
  send(message: JsonObject): unknown;
}

/** Answers the questions of a legacy server as they come, until the conversation is over. */
export async function answerRequests(transcript: WireTranscript, side: AnsweringSide): Promise<void> {
  const seen = new Set<Frame>();
  while (!side.isOver()) {
    const frame = await transcript.waitFor((each) => each.kind === 'request' && !seen.has(each), HOUR_MS);
    if (!frame) return;
    seen.add(frame);
    void answerServer(side.answer, frame)
      .then((message) => (side.isOver() ? undefined : side.send(message)))
      // Whoever asked has gone meanwhile, and does not want to know.
      .catch(() => {});
  }
}

const HOUR_MS = 3_600_000;

/** The message that answers a request of a legacy server. */
async function answerServer(answer: AnswerServer, request: Frame): Promise<JsonObject> {
  const id = membersOf(request)['id'];
  if (request.method === 'ping') return { jsonrpc: '2.0', id, result: {} };
  try {
    return { jsonrpc: '2.0', id, ...(await answer(request)) };
  } catch (error) {
    return { jsonrpc: '2.0', id, error: { code: -32603, message: messageOf(error) } };
  }
}
