/** Modern requests that no polite client sends, after the greeting. */
import type { JsonObject } from '../../../wire/json-rpc.js';
import type { Table } from '../../run/table.js';
import { modernHeaders } from '../../talk/http-modern-talk.js';
import { replyOf } from '../../talk/reply.js';
import type { Reply } from '../../talk/talk.js';
import { NoHttpAnswer } from '../../wire/http-peer.js';
import { type Frame, membersOf } from '../../wire/transcript.js';

interface Body {
  readonly id: string;
  readonly method: string;
  readonly params?: JsonObject;
}

/** A request as it stands, for checks of lane `rough`. Over HTTP with the headers that belong to it. */
export function askExactly(table: Table, body: Body): Promise<Reply> {
  return table.target.transport === 'http' ? post(table, body) : say(table, body);
}

async function post(table: Table, body: Body): Promise<Reply> {
  const about = { id: body.id, notifications: [], ms: 0 };
  const ms = table.patience.answerMs;
  try {
    const http = await table
      .openHttp()
      .request({ body: { jsonrpc: '2.0', ...body }, headers: modernHeaders(body, table.revision), ms });
    const frame = await http.waitFor(isAnswer, ms);
    if (frame) return { ...replyOf(frame, about), http };
    return { kind: 'silence', why: `HTTP ${http.status} without an answer`, ...about };
  } catch (error) {
    if (error instanceof NoHttpAnswer) return { kind: 'silence', why: error.message, ...about };
    throw error;
  }
}

async function say(table: Table, body: Body): Promise<Reply> {
  const about = { id: body.id, notifications: [], ms: 0 };
  const ms = table.patience.answerMs;
  const { peer, transcript } = await table.roughTalk();
  const from = transcript.frames.length;
  peer!.send({ jsonrpc: '2.0', ...body });
  const frame = await transcript.waitFor(
    (each) => isAnswer(each) && membersOf(each)['id'] === body.id && transcript.frames.indexOf(each) >= from,
    ms,
  );
  if (frame) return replyOf(frame, about);
  const why = transcript.hasEnded ? 'the connection ended' : `no answer within ${ms} ms`;
  return { kind: 'silence', why, ...about };
}

function isAnswer(frame: Frame): boolean {
  return frame.kind === 'result' || frame.kind === 'error';
}
