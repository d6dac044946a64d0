import type { CheckContext } from '../../../run/check-context.js';
import { type Answer, ask } from '../client/answer.js';
import { modernRequest, openingRequest } from '../client/requests.js';
import { openSession } from '../client/session.js';

/** Sends the opening request with a token in the place of the credentials of the target. */
export async function openWith(context: CheckContext, token: string): Promise<Answer> {
  const { body, headers } = openingRequest(context);
  return ask(context, context.openHttp(), { body, headers: { ...headers, ...bearer(token) } });
}

export function bearer(token: string): Record<string, string> {
  return { authorization: `Bearer ${token}` };
}

/** An ordinary request, for a server that decides by operation. */
export interface TokenOperation {
  readonly what: string;
  ask(token: string): Promise<Answer>;
}

/** What is tried with a weak token: opening, the list of tools, and the tools that may be called. */
export async function operations(context: CheckContext): Promise<readonly TokenOperation[]> {
  const opening = { what: 'the opening request', ask: (token: string) => openWith(context, token) };
  const requests = [
    { what: 'tools/list', method: 'tools/list', params: {} },
    ...context.facts.callable.slice(0, MOST_TOOLS).map(({ name, args }) => ({
      what: `tools/call of ${name}`,
      method: 'tools/call',
      params: { name, arguments: args },
    })),
  ];
  if (context.era === 'modern') {
    const send = ({ what, method, params }: (typeof requests)[number]): TokenOperation => ({
      what,
      ask(token) {
        const { body, headers } = modernRequest(context, method, params);
        return ask(context, context.openHttp(), { body, headers: { ...headers, ...bearer(token) } });
      },
    });
    return [opening, ...requests.map(send)];
  }
  const session = await openSession(context);
  let id = 10;
  const post = ({ what, method, params }: (typeof requests)[number]): TokenOperation => ({
    what,
    ask: (token) => session.post({ jsonrpc: '2.0', id: ++id, method, params }, bearer(token)),
  });
  return [opening, ...requests.map(post)];
}

const MOST_TOOLS = 8;

/** The value of a parameter of WWW-Authenticate. */
export function challengeParameter({ http }: Answer, name: string): string | undefined {
  const challenge = http?.headers['www-authenticate'] ?? '';
  const [, quoted, bare] =
    new RegExp(`[\\s,]${name}\\s*=\\s*(?:"([^"]*)"|([^\\s,"]+))`, 'i').exec(challenge) ?? [];
  return quoted ?? bare;
}

/** The good token, if the server accepts it. Otherwise other tokens show nothing. */
export async function needGood(context: CheckContext): Promise<string> {
  const good = context.tokens.of('good');
  if (good === undefined) return context.skip(NO_TOKENS);
  const answer = await openWith(context, good);
  return answer.status === 200 ? good : context.skip('the server does not accept the good token');
}

export const NO_TOKENS = 'no tokens were given (--token, --token-key)';
