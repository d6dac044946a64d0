import { isJsonObject, type JsonObject } from '@isthmus/sdk/internal/wire/json-rpc.js';
import type { Check } from '../../model.js';
import type { CheckContext } from '../../run/check-context.js';
import { type Answer, ask } from './client/answer.js';
import { openingRequest } from './client/requests.js';
import { openSession } from './client/session.js';

const about = { suite: 'http', over: ['http'], lane: 'own', level: 'MUST' } as const;

/** Authorization, as far as a client can observe it. */
export const authorizationChecks: readonly Check[] = [
  {
    ...about,
    id: 'http-auth/token-required',
    title: 'Answers missing and invalid credentials with 401',
    era: 'none',
    rules: ['AUTH-031'],
    hint: 'Answer requests without a valid token with HTTP 401.',
    async run(context) {
      const without = await askWithoutCredentials(context);
      if (without.status !== 401)
        context.fail(`a request without credentials was answered with ${without.said}`, 'HTTP 401');
      const answer = await askAs(context, spoiled(context));
      if (answer.status !== 401)
        context.fail(`invalid credentials were answered with ${answer.said}`, 'HTTP 401');
      return 'without credentials and with invalid ones: 401';
    },
  },
  {
    ...about,
    id: 'http-auth/every-request',
    title: 'Requires credentials on every request',
    rules: ['AUTH-045', 'SESS-011', 'STATE-006'],
    hint: 'Check the token of each request. A connection or a session id does not replace it.',
    async run(context) {
      await refusal(context);
      const { answer, what } =
        context.era === 'legacy' ? await askInSession(context) : await askOnSameConnection(context);
      if (answer.status !== 401)
        context.fail(`${what} without credentials was answered with ${answer.said}`, 'HTTP 401');
      return `${what} without credentials: 401`;
    },
  },
  {
    ...about,
    id: 'http-auth/challenge',
    title: 'Sends WWW-Authenticate with a 401',
    era: 'none',
    level: 'SHOULD',
    rules: ['AUTH-005'],
    reason:
      'A 401 must have WWW-Authenticate (RFC 9110, 15.5.2). Clients use it to get a token (AUTH-005, AUTH-007).',
    hint: 'Add WWW-Authenticate: Bearer resource_metadata="…" to answers with 401.',
    async run(context) {
      const { http } = await refusal(context);
      const challenge = http?.headers['www-authenticate'];
      if (challenge === undefined || !/^[a-z0-9!#$%&'*+.^_`|~-]+( |$)/i.test(challenge))
        context.fail(
          `the 401 has ${challenge === undefined ? 'no WWW-Authenticate' : `WWW-Authenticate: ${challenge}`}`,
          'a challenge',
        );
      return `WWW-Authenticate: ${challenge}`;
    },
  },
  {
    ...about,
    id: 'http-auth/metadata-found',
    title: 'Publishes Protected Resource Metadata: by resource_metadata, or at a well-known address',
    era: 'none',
    level: 'SHOULD',
    rules: ['AUTH-001', 'AUTH-004'],
    hint: 'Publish Protected Resource Metadata (RFC 9728) and name it in WWW-Authenticate: Bearer resource_metadata="…".',
    async run(context) {
      const answer = await refusal(context);
      if (!isBearer(answer)) return context.skip('the server does not require a bearer token');
      const { place } = await metadata(context, answer);
      if (!place)
        context.fail(
          'neither WWW-Authenticate nor a well-known address leads to Protected Resource Metadata',
          'metadata that clients can find',
        );
      return `found at ${place?.href}`;
    },
  },
  {
    ...about,
    id: 'http-auth/metadata-sound',
    title: 'Names an authorization server in its metadata',
    era: 'none',
    rules: ['AUTH-003', 'AUTH-042'],
    hint: 'List at least one authorization server, with https, in authorization_servers of the Protected Resource Metadata.',
    async run(context) {
      const { place, document } = await metadata(context, await refusal(context));
      if (!place) return context.skip('there is no Protected Resource Metadata');
      const servers = document?.['authorization_servers'];
      if (!Array.isArray(servers) || servers.length === 0)
        return context.fail(
          `${place.href} has ${JSON.stringify(servers) ?? 'no'} authorization_servers`,
          'at least one authorization server',
        );
      const open = servers.find((each) => !isSafeUrl(each));
      if (open !== undefined) context.fail(`an authorization server is ${String(open)}`, 'an https address');
      return `authorization_servers: ${servers.join(', ')}`;
    },
  },
  {
    ...about,
    id: 'http-auth/scope',
    title: 'Lists the required scopes in a 401',
    era: 'none',
    level: 'SHOULD',
    rules: ['AUTH-033'],
    hint: 'Add scope="…" with the required scopes to WWW-Authenticate.',
    async run(context) {
      const answer = await refusal(context);
      const { document } = await metadata(context, answer);
      const scopes = document?.['scopes_supported'];
      if (!Array.isArray(scopes) || scopes.length === 0)
        return context.skip('the metadata of the server list no scopes');
      const challenge = answer.http?.headers['www-authenticate'] ?? '';
      if (!/\bscope="[^"]+"/.test(challenge))
        context.fail(
          `the server has the scopes ${scopes.join(', ')}, and WWW-Authenticate is ${challenge}`,
          'scope="…"',
        );
      return `WWW-Authenticate: ${challenge}`;
    },
  },
  {
    ...about,
    id: 'http-auth/no-offline-access',
    title: 'Does not request offline_access',
    era: 'modern',
    level: 'SHOULD',
    rules: ['AUTH-041'],
    hint: 'Leave offline_access out of challenges and of scopes_supported: refresh tokens concern only the client and the authorization server.',
    async run(context) {
      const answer = await refusal(context);
      const { place, document } = await metadata(context, answer);
      const challenge = answer.http?.headers['www-authenticate'] ?? '';
      if (!place && challenge === '') return context.skip('there is neither a challenge nor metadata');
      if (/offline_access/.test(challenge))
        context.fail(`WWW-Authenticate is ${challenge}`, 'no offline_access');
      const scopes = document?.['scopes_supported'];
      if (Array.isArray(scopes) && scopes.includes('offline_access'))
        context.fail(`scopes_supported is ${scopes.join(', ')}`, 'no offline_access');
      return 'offline_access is not requested';
    },
  },
];

/** The answer to a request without credentials. Skips if the server needs none. */
async function askWithoutCredentials(context: CheckContext): Promise<Answer> {
  const { target } = context;
  if (target.transport !== 'http' || Object.keys(target.headers).length === 0)
    return context.skip('no credentials were given, so the server probably needs none');
  const answer = await askAs(context, none(context));
  return answer.status === 200 ? context.skip('the server does not require credentials') : answer;
}

/** The 401 for a request without credentials. Skips if the server answers otherwise. */
async function refusal(context: CheckContext): Promise<Answer> {
  const answer = await askWithoutCredentials(context);
  return answer.status === 401
    ? answer
    : context.skip(`a request without credentials is answered with ${answer.said}, not with 401`);
}

function askAs(
  context: CheckContext,
  headers: Readonly<Record<string, string | undefined>>,
): Promise<Answer> {
  const request = openingRequest(context);
  return ask(context, context.openHttp(), {
    body: request.body,
    headers: { ...request.headers, ...headers },
  });
}

async function askInSession(context: CheckContext): Promise<{ answer: Answer; what: string }> {
  const session = await openSession(context);
  if (session.id === undefined) return context.skip('the server gives no session id');
  const answer = await session.post({ jsonrpc: '2.0', id: 2, method: 'ping' }, none(context));
  return { answer, what: 'ping in an open session' };
}

async function askOnSameConnection(context: CheckContext): Promise<{ answer: Answer; what: string }> {
  const peer = context.openHttp();
  const { body, headers } = openingRequest(context);
  const first = await ask(context, peer, { body, headers });
  await first.http?.whole(context.patience.answerMs);
  const answer = await ask(context, peer, { body, headers: { ...headers, ...none(context) } });
  return { answer, what: 'the next request on the same connection' };
}

/** Headers that remove the credentials. */
function none({ target }: CheckContext): Record<string, undefined> {
  const names = target.transport === 'http' ? Object.keys(target.headers) : [];
  return Object.fromEntries(names.map((name) => [name, undefined]));
}

function spoiled({ target }: CheckContext): Record<string, string> {
  const given = target.transport === 'http' ? Object.entries(target.headers) : [];
  return Object.fromEntries(given.map(([name, value]) => [name, spoil(value)]));
}

/** The same scheme with other credentials. */
function spoil(value: string): string {
  const [scheme, credentials] = /^(\S+) (.+)$/.exec(value)?.slice(1) ?? ['', value];
  const other = [...(credentials ?? '')].map((each) => (each === 'x' ? 'y' : 'x')).join('');
  return scheme === '' ? other : `${scheme} ${other}`;
}

function isBearer({ http }: Answer): boolean {
  return /^bearer\b/i.test(http?.headers['www-authenticate'] ?? '');
}

/** The metadata, from the URL in the challenge or from the addresses that clients try (AUTH-006). */
async function metadata(
  context: CheckContext,
  { http }: Answer,
): Promise<{ readonly place?: URL; readonly document?: JsonObject }> {
  const url = context.target.transport === 'http' ? context.target.url : new URL('http://nowhere');
  const named = /resource_metadata="([^"]+)"/.exec(http?.headers['www-authenticate'] ?? '')?.[1];
  const wellKnown = '/.well-known/oauth-protected-resource';
  const places = [
    ...(named !== undefined && URL.canParse(named, url.href) ? [new URL(named, url)] : []),
    new URL(`${wellKnown}${url.pathname === '/' ? '' : url.pathname}`, url),
    new URL(wellKnown, url),
  ];
  for (const place of places) {
    const answer = await ask(context, context.openHttp(), {
      method: 'GET',
      url: place,
      headers: none(context),
    });
    await answer.http?.whole(context.patience.answerMs);
    const document = answer.status === 200 ? answer.http?.frames[0]?.json : undefined;
    if (isJsonObject(document)) return { place, document };
  }
  return {};
}

function isSafeUrl(value: unknown): boolean {
  if (typeof value !== 'string' || !URL.canParse(value)) return false;
  const { protocol, hostname } = new URL(value);
  return protocol === 'https:' || /^(localhost|127\.0\.0\.1|\[::1\])$/.test(hostname);
}
