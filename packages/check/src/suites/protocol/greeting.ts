/** Half a handshake: `initialize` is answered, and `notifications/initialized` is still to come. */

import type { Reply } from '../../conversation/conversation.js';
import { CLIENT_INFO, legacyCapabilities } from '../../conversation/envelope.js';
import { legacyHeaders } from '../../conversation/http-legacy-conversation.js';
import { replyOf } from '../../conversation/reply.js';
import type { CheckContext } from '../../run/check-context.js';
import type { StreamPeer } from '../../wire/stream-peer.js';
import { membersOf } from '../../wire/transcript.js';

export interface Greeting {
  /** The answer to `initialize`. */
  readonly reply: Reply;
  ask(method: string): Promise<Reply>;
  /** Set on streams. */
  readonly peer: StreamPeer | undefined;
}

/** On a stream, `before` may say something first. */
export async function greet(table: CheckContext, before?: (peer: StreamPeer) => void): Promise<Greeting> {
  const initialize = {
    jsonrpc: '2.0',
    id: 'hello',
    method: 'initialize',
    params: {
      protocolVersion: table.revision,
      capabilities: legacyCapabilities(table.revision),
      clientInfo: CLIENT_INFO,
    },
  };
  if (table.target.transport === 'http') return greetByPost(table, initialize);
  const peer = await table.openStream();
  before?.(peer);
  const ask = async (id: string, message: unknown, ms: number) => {
    peer.send(message);
    const frame = await peer.transcript.waitFor((each) => membersOf(each)['id'] === id, ms);
    const why = peer.hasEnded ? 'the connection ended' : `no answer within ${ms} ms`;
    return frame ? replyOf(frame, about(id)) : ({ kind: 'silence', why, ...about(id) } satisfies Reply);
  };
  return {
    reply: await ask('hello', initialize, table.patience.helloMs),
    ask: (method) => ask(method, { jsonrpc: '2.0', id: method, method }, table.patience.answerMs),
    peer,
  };
}

async function greetByPost(table: CheckContext, initialize: { readonly id: string }): Promise<Greeting> {
  const http = table.openHttp();
  const ask = async (body: { readonly id: string }, headers: Record<string, string>) => {
    const answer = await http.request({ body, headers, ms: table.patience.helloMs });
    const frame = await answer.waitFor(
      (each) => each.kind === 'result' || each.kind === 'error',
      table.patience.answerMs,
    );
    const why = `HTTP ${answer.status} without an answer`;
    const reply: Reply = frame ? replyOf(frame, about(body.id)) : { kind: 'silence', why, ...about(body.id) };
    return { reply, answer };
  };
  const { reply, answer } = await ask(initialize, legacyHeaders(undefined, undefined));
  const given = answer.headers['mcp-session-id'];
  const sessionId = typeof given === 'string' ? given : undefined;
  return {
    reply,
    ask: async (method) => {
      const body = { jsonrpc: '2.0', id: method, method };
      return (await ask(body, legacyHeaders(table.revision, sessionId))).reply;
    },
    peer: undefined,
  };
}

function about(id: string) {
  return { id, notifications: [], ms: 0 };
}
