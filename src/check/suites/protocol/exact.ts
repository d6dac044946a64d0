/** Messages that no polite client sends, on connections of their own, after the greeting. */
import type { JsonObject } from '../../../wire/json-rpc.js';
import type { Table } from '../../run/table.js';
import { modernParams } from '../../talk/envelope.js';
import { legacyHeaders } from '../../talk/http-legacy-talk.js';
import { modernHeaders } from '../../talk/http-modern-talk.js';
import { replyOf } from '../../talk/reply.js';
import type { Reply, Talk } from '../../talk/talk.js';
import { type HttpAnswer, NoHttpAnswer } from '../../wire/http-peer.js';
import { type Frame, membersOf } from '../../wire/transcript.js';
import { harmless } from './answers.js';

/** A request as it stands. Over HTTP with the headers that belong to it, but for those given. */
export async function askExactly(
  table: Table,
  body: { readonly id: number | string; readonly method: string; readonly params?: JsonObject },
  headers: Readonly<Record<string, string | undefined>> = {},
): Promise<Reply> {
  const about = { id: body.id, notifications: [], ms: 0 };
  const whole = { jsonrpc: '2.0', ...body };
  const ms = table.patience.answerMs;
  const talk = await table.openTalk();
  if (table.target.transport === 'http') {
    const http = await post(table, whole, { ...headersOf(talk, body.method, body.params), ...headers });
    const frame = await http?.waitFor(isAnswer, ms);
    if (frame) return { ...replyOf(frame, about), ...(http && { http }) };
    return {
      kind: 'silence',
      why: http ? `HTTP ${http.status} without an answer` : 'no HTTP answer',
      ...about,
    };
  }
  const { peer, transcript } = talk;
  peer!.send(whole);
  const frame = await transcript.waitFor((each) => isAnswer(each) && membersOf(each)['id'] === body.id, ms);
  if (frame) return replyOf(frame, about);
  const why = transcript.hasEnded ? 'the connection ended' : `no answer within ${ms} ms`;
  return { kind: 'silence', why, ...about };
}

/**
 * What a server says to a message that may go unanswered: everything until a good request after it
 * has been answered, and for a little while longer.
 */
export async function hearAfter(
  table: Table,
  message: unknown,
  revision?: string,
): Promise<{ readonly frames: readonly Frame[]; readonly revision: string }> {
  const talk = await table.openTalk({ ...(revision !== undefined && { revision }) });
  if (table.target.transport === 'http') {
    const http = await post(table, message, headersOf(talk, harmless(table)));
    await http?.whole(table.patience.answerMs);
    return { frames: http?.frames ?? [], revision: talk.revision };
  }
  const from = talk.transcript.frames.length;
  talk.peer!.send(message);
  await talk.request(harmless(table), {}, { id: 'after' });
  await table.pause(table.patience.quietMs);
  const frames = talk.transcript.frames
    .slice(from)
    .filter((frame) => frame.from === 'server' && frame.id !== 'after');
  return { frames, revision: talk.revision };
}

/** The params that a request has at least. */
export function usualParams(table: Table): { readonly params?: JsonObject } {
  return table.era === 'modern' ? { params: modernParams({}, table.revision, {}) } : {};
}

/** Undefined where there was no answer at all. */
async function post(
  table: Table,
  body: unknown,
  headers: Readonly<Record<string, string | undefined>>,
): Promise<HttpAnswer | undefined> {
  try {
    return await table.openHttp().request({ body, headers, ms: table.patience.answerMs });
  } catch (error) {
    if (error instanceof NoHttpAnswer) return undefined;
    throw error;
  }
}

function headersOf(talk: Talk, method: string, params?: JsonObject): Record<string, string> {
  return talk.era === 'modern'
    ? modernHeaders({ method, params }, talk.revision)
    : legacyHeaders(talk.revision, talk.sessionId);
}

function isAnswer(frame: Frame): boolean {
  return frame.kind === 'result' || frame.kind === 'error';
}
