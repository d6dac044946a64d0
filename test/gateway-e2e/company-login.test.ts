import { createAuthenticate } from '@isthmus/gateway/internal/auth/create-authenticate.js';
import type { AccessSettings } from '@isthmus/sdk/internal/config/gateway/read-access.js';
import type { Authenticate } from '@isthmus/sdk/internal/transport/http-server/options.js';
import {
  Client as ClientV2,
  StreamableHTTPClientTransport as TransportV2,
} from '@modelcontextprotocol/client';
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as TransportV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { describe, expect, it, onTestFinished } from 'vitest';
import { withHints } from '../../packages/gateway/test/support/scoped-tokens.js';
import { openHouse } from '../../packages/gateway/test/support/secured-gateway.js';
import { openFar, withTools } from '../../packages/gateway/test/support/upstream.js';
import { startAuthorizationServer } from '../support/authorization-server.js';
import { OFFICIAL_CLIENT, OfficialLogin } from '../support/official-login.js';

const ACCESS = { scopes: { all: ['mcp:read'], other: ['mcp:write'] } };
const CLIENT = { client_id: 'gateway', client_secret: 'the-secret-of-the-gateway' };

interface StageOptions {
  readonly path?: string;
  readonly access?: AccessSettings;
  readonly requiredScopes?: readonly string[];
}

/** A gateway that takes the tokens of a real authorization server, which it knows by its address alone. */
async function stage(
  tokens: 'jwt' | 'opaque',
  { path = '/mcp/files', access = ACCESS, requiredScopes }: StageOptions = {},
) {
  const authorization = await startAuthorizationServer({
    tokens,
    clients: [{ ...CLIENT, redirect_uris: [], response_types: [], grant_types: [] }, OFFICIAL_CLIENT],
  });
  onTestFinished(() => authorization.close());
  const { issuer } = authorization;
  const far = await openFar(withHints);
  const mail = await openFar(withTools('send_one'));
  let authenticate: Authenticate = () => undefined;
  const stateless = { stateless: true };
  const house = await openHouse([far.unit('files', stateless), mail.unit('mail', stateless)], {
    access,
    endpoint: {
      authenticate: (request) => authenticate(request),
      protectedResource: {
        authorizationServers: [issuer],
        ...(requiredScopes && { scopes: requiredScopes }),
      },
    },
  });
  const url = house.at(path);
  // Until the client asks for another one, the time is up for the first token.
  const state = { expiredAt: -1 };
  const renewals = () => authorization.log.filter((line) => line.startsWith('POST /token')).length;
  const clock = {
    now: () => Date.now() + (renewals() === state.expiredAt ? 3_600_000 : 0),
    after: () => () => {},
  };
  const introspection = { clientId: CLIENT.client_id, clientSecret: CLIENT.client_secret };
  authenticate = createAuthenticate({
    authServers: [{ issuer, resource: url, introspection, ...(requiredScopes && { requiredScopes }) }],
    clock,
  }).authenticate;
  const expire = () => {
    state.expiredAt = renewals();
  };
  return { authorization, url, expire };
}

/** What the two have in common. */
interface Official {
  call(tool: string): Promise<string>;
  close(): Promise<void>;
}

async function connectV1(url: string, login: OfficialLogin): Promise<Official> {
  const client = new ClientV1({ name: 'v1', version: '1' });
  const open = () => new TransportV1(new URL(url), { authProvider: login as never });
  let transport = open();
  const finish = (callback: URLSearchParams) => transport.finishAuth(callback.get('code')!);
  await login.during(async () => {
    transport = open();
    await client.connect(transport as never);
  }, finish);
  return {
    call: (name) => login.during(async () => textOf(await client.callTool({ name })), finish),
    close: () => client.close(),
  };
}

async function connectV2(url: string, login: OfficialLogin): Promise<Official> {
  const mode = { pin: '2026-07-28' } as const;
  const client = new ClientV2({ name: 'v2', version: '1' }, { versionNegotiation: { mode } });
  const open = () => new TransportV2(new URL(url), { authProvider: login });
  let transport = open();
  const finish = (callback: URLSearchParams) => transport.finishAuth(callback);
  await login.during(async () => {
    transport = open();
    await client.connect(transport);
  }, finish);
  return {
    call: (name) => login.during(async () => textOf(await client.callTool({ name })), finish),
    close: () => client.close(),
  };
}

function textOf(result: unknown): string {
  return (result as { content: { text: string }[] }).content[0]!.text;
}

describe.each([
  ['v1', 'jwt', connectV1],
  ['v2', 'jwt', connectV2],
  ['v2', 'opaque', connectV2],
] as const)('the official client %s with its own login, tokens: %s', (version, tokens, connect) => {
  it('logs in with the scopes of the challenge, steps up for a tool, and comes back after the end of its token (AUTH-S-004, AUTH-S-007)', async () => {
    const { authorization, url, expire } = await stage(tokens);
    const login = new OfficialLogin();
    login.keepsRefreshTokens = version === 'v2';
    // Whether the client wants to stay logged in is its own matter.
    const asked = (visit: number) =>
      login.visits[visit]!.split(' ')
        .filter((scope) => scope !== 'offline_access')
        .sort();
    const client = await connect(url, login);
    onTestFinished(() => client.close());
    expect(asked(0)).toEqual(['mcp:read']);
    expect(await client.call('read_one')).toBe('read');
    expect(login.visits.length).toBe(1);

    expect(await client.call('write_one')).toBe('written');
    expect(login.visits.length).toBe(2);
    expect(asked(1)).toEqual(['mcp:read', 'mcp:write']);

    const before = login.tokensSeen.length;
    expire();
    if (tokens === 'opaque') await authorization.expire(login.tokensSeen.at(-1)!);
    // After its end, the v1 client asks for the scopes of the first challenge only.
    expect(await client.call(version === 'v2' ? 'write_one' : 'read_one')).toMatch(/written|read/);
    expect(login.visits.length).toBe(version === 'v2' ? 2 : 3);
    expect(login.tokensSeen.length).toBe(before + 1);
  });
});

describe.each([
  ['v1', connectV1],
  ['v2', connectV2],
] as const)('the official client %s at the address of all servers', (version, connect) => {
  it('is stepped up once for a tool by its bare name, with the scope of every caller (AUTH-S-007, AUTH-S-008)', async () => {
    const { url } = await stage('jwt', {
      path: '/mcp',
      access: { servers: { files: { other: ['mcp:write'] } } },
      requiredScopes: ['mcp:read'],
    });
    const login = new OfficialLogin();
    login.keepsRefreshTokens = version === 'v2';
    const client = await connect(url, login);
    onTestFinished(() => client.close());
    expect(await client.call('send_one')).toBe('send_one of far');
    expect(await client.call('write_one')).toBe('written');
    const asked = login.visits.map((each) => each.split(' ').filter((scope) => scope !== 'offline_access'));
    expect(asked.map((scopes) => scopes.sort())).toEqual([['mcp:read'], ['mcp:read', 'mcp:write']]);
  });
});
