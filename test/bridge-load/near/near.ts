import type { Message } from '../../support/messages.js';

/** Clients in front of the bridge, written out by hand: what they see, and nothing more. */

export type Era = 'legacy' | 'modern';
export type Id = string | number;
export type Json = Record<string, unknown>;

export interface Near {
  readonly name: string;
  readonly era: Era;
  /** The questions that were put to it. */
  readonly asked: string[];
  /** The resources that it was told have changed. */
  readonly heard: string[];
  /** What came though nobody waited for it: second answers, requests to a modern client. */
  readonly strays: Message[];
  /** How it answers a question. At first: with its own name. */
  answer: (question: string) => object | Promise<object>;
  /** One request, asked back as often as the server likes; gives the last word on it, result or error. */
  request(id: Id, method: string, params?: Json, meta?: Json): Promise<Message>;
  /** Hears of changes of a resource from now on. */
  listen(uri: string): Promise<void>;
  /** Goes away, as a client that is well brought up. */
  leave(): Promise<void>;
}

/** A tool call. */
export function call(near: Near, id: Id, name: string, args: Json = {}, meta?: Json): Promise<Message> {
  return near.request(id, 'tools/call', { name, arguments: args }, meta);
}

/** What a call came to, in a form to compare: its id and its text, or its error. */
export function outcome({ id, result, error }: Message): unknown[] {
  if (error) return [id, error.code, error.data];
  return [id, result.content[0].text];
}

export const CAPABILITIES = { elicitation: {} };

export const accept = (answer: string) => ({ action: 'accept', content: { answer } });

/** Everything a client keeps, before it has met anybody. */
export function emptyNear(name: string, era: Era) {
  return {
    name,
    era,
    asked: [] as string[],
    heard: [] as string[],
    strays: [] as Message[],
    answer: (): object | Promise<object> => accept(name),
  };
}

/** The question in a request for input. */
export function questionIn({ params }: { params?: Json }): string {
  return String(params?.['message']);
}

/** MRTR-020: asks again with the answers and the exact state, until the result is complete. */
export async function inRounds(
  near: Pick<Near, 'asked' | 'answer'>,
  send: (id: Id, params: Json) => Promise<Message>,
  id: Id,
  params: Json,
): Promise<Message> {
  let message = await send(id, params);
  for (let round = 1; message.result?.resultType === 'input_required'; round += 1) {
    const { inputRequests = {}, requestState } = message.result;
    const answers: Json = {};
    for (const [key, request] of Object.entries(inputRequests as Record<string, { params?: Json }>)) {
      const question = questionIn(request);
      near.asked.push(question);
      answers[key] = await near.answer(question);
    }
    const again = { ...params, inputResponses: answers, ...(requestState && { requestState }) };
    message = await send(`${JSON.stringify(id)} again, ${round}`, again);
  }
  return { ...message, id: idOf(message, id) };
}

/** The last round has an id of its own; it stands for the first. */
function idOf(message: Message, first: Id): Id {
  return typeof message.id === 'string' && message.id.startsWith(`${JSON.stringify(first)} again, `)
    ? first
    : message.id!;
}
