import type { JsonObject } from '@isthmus/sdk/internal/wire/json-rpc.js';
import { legacyHeaders } from '../../../conversation/http-legacy-conversation.js';
import type { CheckContext } from '../../../run/check-context.js';
import type { HttpPeer, PeerHttpAnswer } from '../../../wire/http-peer.js';
import { type Answer, ask, needServed } from './answer.js';
import { initializeRequest } from './requests.js';

/** A legacy session, bare: nothing happens in it that was not asked for. */
export interface RawSession {
  readonly peer: HttpPeer;
  /** Undefined where the server gave none. */
  readonly id: string | undefined;
  readonly revision: string;
  /** What every request of the session has. */
  readonly headers: Readonly<Record<string, string>>;
  /** The answer to `initialize`. */
  readonly hello: Answer;
  post(body: JsonObject, headers?: Readonly<Record<string, string | undefined>>): Promise<Answer>;
  /** Opens a stream with GET. Rejects where there is no answer. */
  get(headers?: Readonly<Record<string, string | undefined>>): Promise<PeerHttpAnswer>;
  end(): Promise<Answer>;
}

/** Says `initialize` and `notifications/initialized`. The session is ended with the check. */
export async function openSession(table: CheckContext, revision?: string): Promise<RawSession> {
  const peer = table.openHttp();
  const hello = await ask(table, peer, initializeRequest(table, revision));
  const result = needServed(table, hello, 'initialize');
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
    post: (body, more) => ask(table, peer, { body, headers: { ...headers, ...more } }),
    get: (more) =>
      peer.request({
        method: 'GET',
        headers: { ...bare, accept: 'text/event-stream', ...more },
        ms: table.patience.answerMs,
      }),
    end: () => ask(table, peer, { method: 'DELETE', headers: bare }),
  };
  if (id !== undefined) table.atEnd(() => session.end());
  await session.post({ jsonrpc: '2.0', method: 'notifications/initialized' });
  return session;
}

/** The same; skips where the server gives no session ids. */
export async function openNamedSession(table: CheckContext): Promise<RawSession & { readonly id: string }> {
  const session = await openSession(table);
  const { id } = session;
  return id === undefined ? table.skip('the server gives no session id') : { ...session, id };
}

/** Ends a session that a bare `initialize` may have begun. */
export async function forget(
  table: CheckContext,
  sessionId: string | readonly string[] | undefined,
): Promise<void> {
  if (typeof sessionId !== 'string') return;
  const peer = table.openHttp();
  await ask(table, peer, {
    method: 'DELETE',
    headers: { ...legacyHeaders(table.factsOf('legacy')?.revision, sessionId), 'content-type': undefined },
    ms: 1000,
  });
}
