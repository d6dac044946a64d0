import type { OAuthHttp } from './oauth-http.js';

/** What a server answers to a request without a login. */
export interface AnswerWithoutLogin {
  readonly status: number;
  /** The header `WWW-Authenticate`. */
  readonly wwwAuthenticate: string | undefined;
}

/**
 * Asks a server for the challenge of its login. Servers check the login before they read a request, so any request does. A
 * server of 2024-11-05 has only GET at its URL.
 */
export async function askServer(server: URL, http: OAuthHttp): Promise<AnswerWithoutLogin> {
  const answer = await send(server, http, 'POST');
  return answer.status === 404 || answer.status === 405 ? send(server, http, 'GET') : answer;
}

async function send(server: URL, http: OAuthHttp, method: 'GET' | 'POST'): Promise<AnswerWithoutLogin> {
  const accept = method === 'GET' ? 'text/event-stream' : 'application/json, text/event-stream';
  const headers = { accept, 'content-type': 'application/json', 'mcp-method': 'ping' };
  const { status, headers: got } = await http.send(server, {
    method,
    headers,
    ...(method === 'POST' && { body: '{"jsonrpc":"2.0","id":1,"method":"ping"}' }),
    redirects: 3,
    headersOnly: true,
  });
  return { status, wwwAuthenticate: got.get('www-authenticate') ?? undefined };
}
