import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, request as httpRequest } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { AuthServerOptions } from '@isthmus/gateway/internal/auth/auth-server.js';
import { createAuthenticate } from '@isthmus/gateway/internal/auth/create-authenticate.js';
import { Command } from 'commander';
import { readAuthOptions } from 'isthmus/internal/serve/access/auth-options.js';
import { addServeOptions, type ServeCommandOptions } from 'isthmus/internal/serve/serve-options.js';
import { describe, expect, it, onTestFinished } from 'vitest';
import { bearer, guarded } from '../../packages/gateway/test/support/auth.js';
import { Browser, callAs, questionIn } from '../../packages/gateway/test/support/connect-page.js';
import {
  company,
  companyHouse,
  remote,
  upstreamStage,
} from '../../packages/gateway/test/support/personal-stage.js';
import type { House } from '../../packages/gateway/test/support/secured-gateway.js';
import { startAuthorizationServer } from '../support/authorization-server.js';

/**
 * The recipes of docs/enterprise.md, against oidc-provider configured to behave like each product: the same claims, the same
 * fields of the metadata, the same kinds of tokens. The products themselves are not asked.
 */
interface Behaviour {
  readonly tokens?: 'jwt' | 'opaque';
  /** What its access tokens have. */
  readonly customize?: (jwt: { header?: object; payload: Record<string, unknown> }) => void;
  /** Fields that its metadata does not have. */
  readonly without?: readonly string[];
  /** The audience of its tokens. */
  readonly audience?: string;
  /** Its issuer ends with a slash. */
  readonly hasSlash?: boolean;
}

/** What the line of `isthmus serve` in docs/enterprise.md says for a product, as the command reads it. */
function recipe(product: string, applicationId = ''): Partial<AuthServerOptions> {
  const [, line = ''] =
    new RegExp(`### ${product}\\n[^#]*?\`\`\`sh\\nisthmus serve (.*?)\`\`\``, 's').exec(PAGE) ?? [];
  const words = line
    .replaceAll('GATEWAY', 'gw.example')
    .replaceAll('APPLICATION_ID', applicationId)
    .split(/[\s\\]+/)
    .filter((word) => word !== '');
  const flags = addServeOptions(new Command('serve'))
    .parse(words, { from: 'user' })
    .opts<ServeCommandOptions>();
  const [server] = readAuthOptions(flags, () => {})!.authServers!;
  const { issuer, ...options } = server!;
  expect(new URL(issuer).protocol).toBe('https:');
  return options;
}

const PAGE = readFileSync(new URL('../../docs/enterprise.md', import.meta.url), 'utf8');

const CLIENT = {
  client_id: 'mcp-gateway',
  client_secret: 'the-secret-of-the-gateway',
  redirect_uris: [],
  response_types: [],
  grant_types: ['client_credentials'],
};

const RESOURCE = 'https://gw.example/mcp';

/** A token as the product would give one, and what the gateway makes of it with the options of the recipe. */
async function tried(behaviour: Behaviour, options: Partial<AuthServerOptions>) {
  const { tokens = 'jwt', customize, without = [], audience = RESOURCE, hasSlash = false } = behaviour;
  const authorization = await startAuthorizationServer({
    tokens,
    clients: [CLIENT],
    more: {
      formats: {
        customizers: {
          jwt: (
            _context: unknown,
            _token: unknown,
            jwt: { header?: object; payload: Record<string, unknown> },
          ) => {
            jwt.payload['aud'] = audience;
            if (hasSlash) jwt.payload['iss'] = `${jwt.payload['iss']}/`;
            customize?.(jwt);
          },
        },
      },
    },
  });
  onTestFinished(() => authorization.close());
  const front = await withoutFields(authorization.issuer, without, hasSlash);
  const token = await fetch(`${authorization.issuer}/token`, {
    method: 'POST',
    headers: { authorization: `Basic ${btoa(`${CLIENT.client_id}:${CLIENT.client_secret}`)}` },
    body: new URLSearchParams({ grant_type: 'client_credentials', resource: RESOURCE, scope: 'mcp:read' }),
  }).then(async (response) => ((await response.json()) as { access_token: string }).access_token);
  const fetchThere: typeof fetch = (url, init) =>
    fetch(String(url).replace(authorization.issuer, front), init);
  const issuer = `${authorization.issuer}${hasSlash ? '/' : ''}`;
  const server = { ...options, issuer, fetch: fetchThere };
  const { who } = await guarded({ authServers: [server] });
  const { authenticate } = createAuthenticate({ authServers: [server] });
  const verdict = await authenticate({
    method: 'POST',
    target: '/mcp',
    header: (name) => (name === 'authorization' ? `Bearer ${token}` : undefined),
  });
  return { issuer, who: await who(bearer(token)), verdict };
}

/** The same server, whose metadata lacks some fields. */
async function withoutFields(issuer: string, names: readonly string[], hasSlash: boolean): Promise<string> {
  const server = createServer((request, response) => {
    const onward = httpRequest(`${issuer}${request.url}`, {
      method: request.method,
      headers: request.headers,
    });
    onward.on('response', async (answer) => {
      let text = '';
      for await (const chunk of answer) text += chunk;
      if (request.url?.startsWith('/.well-known/')) {
        if (names.includes(request.url)) return void response.writeHead(404).end();
        const document = JSON.parse(text) as Record<string, unknown>;
        for (const name of names) delete document[name];
        if (hasSlash) document['issuer'] = `${document['issuer']}/`;
        text = JSON.stringify(document);
      }
      response.writeHead(answer.statusCode ?? 502, { 'content-type': 'application/json' }).end(text);
    });
    request.pipe(onward);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

describe('the recipes of docs/enterprise.md, tried with oidc-provider in the place of each product', () => {
  it('Entra ID: OpenID metadata without PKCE, the id of the application as the audience, scp, azp', async () => {
    const { verdict, issuer } = await tried(
      {
        audience: '6f1c0f3e-0000-4000-8000-000000000001',
        without: ['/.well-known/oauth-authorization-server', 'code_challenge_methods_supported'],
        customize(jwt) {
          Object.assign(jwt, { header: { ...jwt.header, typ: 'JWT' } });
          Object.assign(jwt.payload, {
            sub: 'ada',
            scp: 'mcp:read',
            azp: 'desk',
            scope: undefined,
            client_id: undefined,
          });
        },
      },
      recipe('Microsoft Entra ID', '6f1c0f3e-0000-4000-8000-000000000001'),
    );
    expect(verdict).toMatchObject({ principal: `jwt:${issuer}|ada`, scopes: ['mcp:read'], clientId: 'desk' });
  });

  it('Okta: a custom authorization server, scp as a list, cid', async () => {
    const { verdict, issuer } = await tried(
      {
        audience: 'api://mcp',
        customize(jwt) {
          Object.assign(jwt, { header: { ...jwt.header, typ: 'JWT' } });
          Object.assign(jwt.payload, {
            sub: 'ada@example.com',
            scp: ['mcp:read'],
            cid: 'desk',
            scope: undefined,
            client_id: undefined,
          });
        },
      },
      recipe('Okta'),
    );
    expect(verdict).toMatchObject({
      ...{ principal: `jwt:${issuer}|ada@example.com`, scopes: ['mcp:read'], clientId: 'desk' },
    });
  });

  it('Keycloak: typ Bearer in the claims, several audiences, azp; without the mapper the audience is account', async () => {
    const like = (aud: unknown): Behaviour => ({
      customize(jwt) {
        Object.assign(jwt, { header: { ...jwt.header, typ: 'JWT' } });
        Object.assign(jwt.payload, {
          sub: 'ada',
          typ: 'Bearer',
          azp: 'desk',
          aud,
          nonce: 'n',
          client_id: undefined,
        });
      },
    });
    const mapped = await tried(like(['account', RESOURCE]), recipe('Keycloak'));
    expect(mapped.verdict).toMatchObject({ principal: `jwt:${mapped.issuer}|ada`, clientId: 'desk' });
    const { who } = await tried(like('account'), recipe('Keycloak'));
    expect(who).toEqual([
      401,
      'Bearer error="invalid_token", error_description="The claim aud does not fit"',
    ]);
  });

  it('Auth0: a token of an application for itself, with permissions in the place of scopes', async () => {
    const machine = (more: object) => ({
      hasSlash: true,
      customize(jwt: { header?: object; payload: Record<string, unknown> }) {
        Object.assign(jwt, { header: { ...jwt.header, typ: 'JWT' } });
        const own = { sub: 'app@clients', azp: 'app', client_id: undefined, scope: undefined };
        Object.assign(jwt.payload, own, more);
      },
    });
    const options = { ...recipe('Auth0'), scopeClaim: 'permissions' };
    const gty = 'client-credentials';
    const bare = await tried(machine({ gty }), options);
    expect(bare.verdict).toMatchObject({ principal: `jwt:${bare.issuer}|app@clients`, scopes: [] });
    const able = await tried(machine({ gty, permissions: ['mcp:read'] }), options);
    expect(able.verdict).toMatchObject({ clientId: 'app', scopes: ['mcp:read'] });
    // An ID token may have permissions or roles, too.
    for (const more of [{ permissions: ['mcp:read'] }, { permissions: ['mcp:read'], gty: 'password' }])
      expect((await tried(machine(more), options)).verdict).toMatchObject({ status: 401 });
  });

  it('Auth0: an issuer with a slash, opaque tokens for clients that ask for no audience, JWTs with several audiences otherwise', async () => {
    const introspection = { clientId: CLIENT.client_id, clientSecret: CLIENT.client_secret };
    const jwt = await tried(
      {
        hasSlash: true,
        customize({ payload }) {
          const aud = [RESOURCE, 'https://tenant.example/userinfo'];
          Object.assign(payload, { sub: 'auth0|ada', azp: 'desk', aud, client_id: undefined });
        },
      },
      recipe('Auth0'),
    );
    expect(jwt.verdict).toMatchObject({ principal: `jwt:${jwt.issuer}|auth0|ada`, clientId: 'desk' });
    const opaque = await tried({ tokens: 'opaque' }, recipe('Auth0'));
    expect(opaque.who).toEqual([
      401,
      'Bearer error="invalid_token", error_description="The credential is not valid here"',
    ]);
    const asked = await tried({ tokens: 'opaque' }, { ...recipe('Auth0'), introspection });
    expect(asked.who).toBe(`jwt:${asked.issuer}|client:mcp-gateway`);
  });
});

it('GitHub: a server whose authorization server registers nobody, and gives opaque tokens without an end and without a refresh token', async () => {
  const us = await company();
  const callback = 'https://gateway.example/connect/callback/github';
  const app = {
    ...{ client_id: 'Iv1.app', client_secret: 'a-secret-of-the-oauth-app', application_type: 'web' },
    ...{ redirect_uris: [callback], grant_types: ['authorization_code'], response_types: ['code'] },
  };
  const bodies: Record<string, unknown>[] = [];
  const { authorization, server } = await upstreamStage({
    ...{ registration: false, clients: [app], account: () => 'octocat' },
    rewrite(answer) {
      const body = answer.body as Record<string, unknown> | undefined;
      if (answer.path.startsWith('/.well-known/')) {
        for (const name of ['registration_endpoint', 'introspection_endpoint']) delete body?.[name];
      }
      if (answer.path !== '/token' || !body) return;
      // Errors come with 200, scopes with commas, tokens without an end.
      if (body['error'] !== undefined) answer.status = 200;
      for (const name of ['expires_in', 'refresh_token', 'id_token']) delete body[name];
      Object.assign(body, { token_type: 'bearer', scope: 'mcp:read,mcp:write' });
      bodies.push({ ...body });
    },
  });
  const { issuer } = authorization;
  const { client_id: clientId, client_secret: clientSecret } = app;
  const auth = { mode: 'per-user', clientId, clientSecret, issuer } as const;
  const connect = { publicUrl: 'https://gateway.example' };
  const house = await companyHouse(us, [remote('github', server.url, auth)], { connect });
  const token = await us.tokenOf('alice');
  const end = await connected(house, '/mcp/github', token);
  expect(end.text).toContain('github is connected.');
  const whoami = async () =>
    (await callAs(house, '/mcp/github', token, 'whoami')).json.result?.content?.[0].text;
  expect(await whoami()).toBe('octocat');
  expect(bodies).toEqual([
    { access_token: expect.any(String), token_type: 'bearer', scope: 'mcp:read,mcp:write' },
  ]);
  // The person takes the access back at GitHub. Nothing can be renewed, so the person is asked again.
  await authorization.expire(String(bodies[0]!['access_token']));
  expect((await callAs(house, '/mcp/github', token, 'whoami')).json.result).toMatchObject({
    resultType: 'input_required',
  });
  const { logins } = (await house.operation.gateway.status()).servers['github']!;
  expect(logins).toMatchObject([{ state: 'needs-login' }]);
});

it.each([undefined, true] as const)(
  'Entra ID behind a gateway, which hides that it supports PKCE, with assumePkce: %s (AUTH-C-022)',
  async (assumePkce) => {
    const us = await company();
    const app = {
      ...{ client_id: '6f1c0f3e', client_secret: 'a-secret-of-the-application', application_type: 'web' },
      ...{ redirect_uris: ['https://gateway.example/connect/callback/reports'] },
    };
    const { authorization, server } = await upstreamStage({
      ...{ registration: false, clients: [app], account: () => 'ada-there' },
      rewrite(answer) {
        const body = answer.body as Record<string, unknown> | undefined;
        if (answer.path.startsWith('/.well-known/oauth-authorization-server')) answer.status = 404;
        if (answer.path.startsWith('/.well-known/')) delete body?.['code_challenge_methods_supported'];
      },
    });
    const { client_id: clientId, client_secret: clientSecret } = app;
    const given = { mode: 'per-user', clientId, clientSecret, issuer: authorization.issuer } as const;
    const auth = { ...given, ...(assumePkce && { assumePkce }) };
    const connect = { publicUrl: 'https://gateway.example' };
    const house = await companyHouse(us, [remote('reports', server.url, auth)], { connect });
    const end = await connected(house, '/mcp/reports', await us.tokenOf('alice'));
    const whoami = await callAs(house, '/mcp/reports', await us.tokenOf('alice'), 'whoami');
    if (assumePkce) {
      expect(end.text).toContain('reports is connected.');
      expect(whoami.json.result.content?.[0].text).toBe('ada-there');
      // It takes no login without PKCE.
      expect(authorization.log.filter((line) => line.startsWith('GET /auth'))).not.toEqual([]);
    } else {
      expect(end.status).toBe(502);
      expect(end.text).toContain('does not say that it supports PKCE with S256');
      expect(whoami.json.result).toMatchObject({ resultType: 'input_required' });
      expect(authorization.log.filter((line) => line.startsWith('GET /auth'))).toEqual([]);
    }
  },
);

/** The person goes through the pages of the gateway. The last page. */
async function connected(house: House, path: string, token: string) {
  const question = questionIn(await callAs(house, path, token, 'connect'));
  const browser = new Browser();
  browser.resolve = (url) =>
    url.host === 'gateway.example' ? new URL(url.pathname + url.search, house.origin) : url;
  const code = /code (\S+)\./.exec(question.message)![1]!;
  return browser.send(await browser.send(await browser.open(question.url), { code }));
}
