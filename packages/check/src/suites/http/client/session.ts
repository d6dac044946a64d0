import type { JsonObject } from '@isthmus/sdk/internal/wire/json-rpc.js';
import { legacyHeaders } from '../../../conversation/http-legacy-conversation.js';
import type { CheckContext } from '../../../run/check-context.js';
import type { HttpPeer, PeerHttpAnswer } from '../../../wire/http-peer.js';
import { type Answer, ask, needServed } from './answer.js';
import { initializeRequest, modernRequest, openingRequest } from './requests.js';

/** A legacy session that sends only the given requests. */
export interface RawSession {
  readonly peer: HttpPeer;
  /** Undefined if the server sent none. */
  readonly id: string | undefined;
  readonly revision: string;
  /** The headers of every request of the session. */
  readonly headers: Readonly<Record<string, string>>;
  /** The answer to `initialize`. */
  readonly hello: Answer;
  post(body: JsonObject, headers?: Readonly<Record<string, string | undefined>>): Promise<Answer>;
  /** Opens a stream with GET. Rejects if there is no answer. */
  get(headers?: Readonly<Record<string, string | undefined>>): Promise<PeerHttpAnswer>;
  end(): Promise<Answer>;
}

/** Sends `initialize` and `notifications/initialized`. The session ends with the check. */
export async function openSession(context: CheckContext, revision?: string): Promise<RawSession> {
  const peer = context.openHttp();
  const hello = await ask(context, peer, initializeRequest(context, revision));
  const result = needServed(context, hello, 'initialize');
  const sessionId = hello.http?.headers['mcp-session-id'];
  const id = typeof sessionId === 'string' ? sessionId : undefined;
  const agreed = String(result['protocolVersion']);
  const headers = legacyHeaders(agreed, id);
  const bare = { ...headers, 'content-type': undefined };
  const session: RawSession = {
    peer,
    id,
    revision: agreed,
    headers,
    hello,
    post: (body, more) => ask(context, peer, { body, headers: { ...headers, ...more } }),
    get: (more) =>
      peer.request({
        method: 'GET',
        headers: { ...bare, accept: 'text/event-stream', ...more },
        ms: context.patience.answerMs,
      }),
    end: () => ask(context, peer, { method: 'DELETE', headers: bare }),
  };
  if (id !== undefined) context.atEnd(() => session.end());
  await session.post({ jsonrpc: '2.0', method: 'notifications/initialized' });
  return session;
}

/** Like `openSession`, but skips if the server has no session ids. */
export async function openNamedSession(context: CheckContext): Promise<RawSession & { readonly id: string }> {
  const session = await openSession(context);
  const { id } = session;
  return id === undefined ? context.skip('the server gives no session id') : { ...session, id };
}

/** Ends a session that an `initialize` may have started. */
export async function forget(
  context: CheckContext,
  sessionId: string | readonly string[] | undefined,
): Promise<void> {
  if (typeof sessionId !== 'string') return;
  const peer = context.openHttp();
  await ask(context, peer, {
    method: 'DELETE',
    headers: { ...legacyHeaders(context.factsOf('legacy')?.revision, sessionId), 'content-type': undefined },
    ms: 1000,
  });
}

/** Posts any body with valid headers: modern ones, or those of a session. */
interface BodyPoster {
  /** A valid body. */
  readonly body: Readonly<Record<string, unknown>>;
  post(body: unknown, headers?: Readonly<Record<string, string | undefined>>): Promise<Answer>;
}

/** Use one for all bodies of a check: for some servers a session is a process. */
export async function openBodyPoster(context: CheckContext): Promise<BodyPoster> {
  if (context.era === 'legacy') {
    const { headers } = await openSession(context);
    return { body: { jsonrpc: '2.0', id: 2, method: 'ping' }, post: postWith(context, headers) };
  }
  const { body, headers } = modernRequest(context);
  return { body, post: postWith(context, headers) };
}

function postWith(context: CheckContext, usual: Readonly<Record<string, string>>): BodyPoster['post'] {
  return (body, headers) => ask(context, context.openHttp(), { body, headers: { ...usual, ...headers } });
}

/** Sends an ordinary request on a new connection. */
export async function askOrdinary(context: CheckContext): Promise<Answer> {
  const peer = context.openHttp();
  const answer = await ask(context, peer, openingRequest(context));
  await forget(context, answer.http?.headers['mcp-session-id']);
  peer.close();
  return answer;
}

/** Fails unless the server still answers other clients. */
export async function needAlive(context: CheckContext, after: string): Promise<void> {
  const answer = await askOrdinary(context);
  if (answer.status !== 200) {
    context.fail(
      `after ${after}, an ordinary request was answered with ${answer.said}`,
      'the server continues to serve others',
    );
  }
}
