/** Modern requests that are sent without changes. */

import { META } from '@isthmus/sdk/internal/era/meta-keys.js';
import type { JsonObject } from '@isthmus/sdk/internal/wire/json-rpc.js';
import { type Reply, replyOf } from '../../conversation/conversation.js';
import { modernParams } from '../../conversation/envelope.js';
import { modernHeaders } from '../../conversation/http-modern-conversation.js';
import type { CheckContext } from '../../run/check-context.js';
import { NoHttpAnswer } from '../../wire/http-peer.js';
import type { StreamPeer } from '../../wire/stream-peer.js';
import { isAnswer, membersOf } from '../../wire/transcript.js';

interface Body {
  readonly id: string;
  readonly method: string;
  readonly params?: JsonObject;
}

/**
 * Sends a request after a valid request of the same method, for checks of lane `abuse`. Over HTTP with the matching
 * headers.
 */
export async function askUnchanged(context: CheckContext, body: Body): Promise<Reply> {
  if (context.target.transport === 'http') return post(context, body);
  const conversation = await context.abuseConversation();
  // Without it, a server of both eras may treat the request as the first message of a legacy client.
  await conversation.request(body.method);
  return say(context, conversation.peer!, body);
}

/** Sends a request as the first message of a connection. */
export async function askFirst(
  context: CheckContext,
  method: string,
  version = context.revision,
): Promise<Reply> {
  const meta = { [META.protocolVersion]: version };
  const body = { id: 'first', method, params: modernParams({}, context.revision, { meta }) };
  if (context.target.transport === 'http') return post(context, body, version);
  return say(context, await context.openStream(), body, context.patience.helloMs);
}

async function post(context: CheckContext, body: Body, version = context.revision): Promise<Reply> {
  const about = { id: body.id, method: body.method, notifications: [], ms: 0 };
  const ms = context.patience.answerMs;
  try {
    const http = await context
      .openHttp()
      .request({ body: { jsonrpc: '2.0', ...body }, headers: modernHeaders(body, version), ms });
    const frame = await http.waitFor(isAnswer, ms);
    if (frame) return { ...replyOf(frame, about), http };
    return { kind: 'silence', why: `HTTP ${http.status} without an answer`, ...about };
  } catch (error) {
    if (error instanceof NoHttpAnswer) return { kind: 'silence', why: error.message, ...about };
    throw error;
  }
}

async function say(
  context: CheckContext,
  peer: StreamPeer,
  body: Body,
  ms = context.patience.answerMs,
): Promise<Reply> {
  const about = { id: body.id, method: body.method, notifications: [], ms: 0 };
  const { transcript } = peer;
  const from = transcript.frames.length;
  peer.send({ jsonrpc: '2.0', ...body });
  const frame = await transcript.waitFor(
    (each) => isAnswer(each) && membersOf(each)['id'] === body.id && transcript.frames.indexOf(each) >= from,
    ms,
  );
  if (frame) return replyOf(frame, about);
  const why = transcript.hasEnded ? 'the connection ended' : `no answer within ${ms} ms`;
  return { kind: 'silence', why, ...about };
}
