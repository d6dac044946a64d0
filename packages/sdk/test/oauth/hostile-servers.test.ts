import { connect, http } from '@isthmus/sdk';
import { describe, expect, it } from 'vitest';
import {
  asMetadata,
  CHALLENGE,
  failureOf,
  ISSUER,
  type LoginStage,
  loginStage,
  SERVER,
} from '../../../../test/support/scripted-authorization-server.js';
import type { OAuthOptions } from '../../src/oauth/options.js';

const METADATA = `${ISSUER}/.well-known/oauth-authorization-server`;

async function logIn(stage: LoginStage, options: OAuthOptions = {}, challenge = CHALLENGE) {
  const login = await stage.login(options).login(SERVER);
  return login.login(challenge);
}

/** A login with other metadata of the authorization server fails with this text, and no page was opened. */
async function refusedFor(changes: Record<string, unknown>, options?: OAuthOptions): Promise<string> {
  const stage = loginStage();
  stage.answers.set(METADATA, () => Response.json(asMetadata(changes)));
  const failure = await failureOf(logIn(stage, options));
  expect(stage.pages).toEqual([]);
  expect(stage.log.filter((line) => line.startsWith('POST'))).toEqual([]);
  return failure;
}

describe('a login on a scripted stage', () => {
  it('succeeds when nothing is hostile', async () => {
    const stage = loginStage();
    expect(await logIn(stage)).toMatchObject({ state: 'valid', issuer: ISSUER, clientId: 'client-1' });
    expect(stage.log).toEqual([
      'GET https://server.example/meta',
      `GET ${METADATA}`,
      `POST ${ISSUER}/register`,
      `POST ${ISSUER}/token`,
    ]);
    const exchange = stage.requests.at(-1)!.form;
    expect(Object.fromEntries(exchange)).toEqual({
      grant_type: 'authorization_code',
      client_id: 'client-1',
      code: 'the-code',
      redirect_uri: 'https://app.example/callback',
      code_verifier: expect.stringMatching(/^[\w-]{43}$/),
      resource: SERVER,
    });
  });
});

describe('what ends a login before anything is sent', () => {
  it('metadata about another resource: both URLs are named', async () => {
    const stage = loginStage();
    const body = { resource: 'https://bank.example/mcp', authorization_servers: [ISSUER] };
    stage.answers.set('https://server.example/meta', () => Response.json(body));
    const failure = await failureOf(logIn(stage));
    expect(failure).toContain('describes the resource https://bank.example/mcp');
    expect(failure).toContain('which is not https://server.example/mcp');
    expect(stage.log).toEqual(['GET https://server.example/meta']);
  });

  it('another issuer: both are named, and the switch', async () => {
    const failure = await refusedFor({ issuer: 'https://evil.example' });
    expect(failure).toContain(ISSUER);
    expect(failure).toContain('"https://evil.example"');
    expect(failure).toContain('--issuer');
  });

  it('no word about PKCE: the switch is named', async () => {
    expect(await refusedFor({ code_challenge_methods_supported: undefined })).toContain('--assume-pkce');
    expect(await refusedFor({ code_challenge_methods_supported: ['plain'] })).toContain('--assume-pkce');
  });

  it('no way to a client id: the redirect URI and the option are named', async () => {
    const failure = await refusedFor({ registration_endpoint: undefined });
    expect(failure).toContain('https://app.example/callback');
    expect(failure).toContain('--client-id');
  });

  it.each([
    ['authorization_endpoint', 'http://login.example/authorize', 'neither https nor a loopback address'],
    ['authorization_endpoint', 'javascript:alert(1)', 'neither https nor a loopback address'],
    ['authorization_endpoint', 'file:///etc/passwd', 'neither https nor a loopback address'],
    ['token_endpoint', 'http://login.example/token', 'neither https nor a loopback address'],
    ['token_endpoint', 'https://169.254.169.254/token', 'private address'],
    ['token_endpoint', 'https://[::ffff:10.0.0.1]/token', 'private address'],
    ['token_endpoint', 'https://user:pass@login.example/token', 'a user and a password'],
    ['registration_endpoint', 'http://127.0.0.1:8080/register', 'private address'],
    ['revocation_endpoint', 'data:text/plain,x', 'neither https nor a loopback address'],
    ['device_authorization_endpoint', 7, 'not a URL'],
  ])('%s %s', async (name, value, why) => {
    const failure = await refusedFor({ [name]: value });
    expect(failure).toContain(name);
    expect(failure).toContain(why);
  });

  it('an issuer with what a terminal would obey is not repeated', async () => {
    const stage = loginStage();
    const issuer = 'https://login.example/\u001b[2J';
    const body = { resource: SERVER, authorization_servers: [issuer] };
    stage.answers.set('https://server.example/meta', () => Response.json(body));
    expect(await logIn(stage).catch((error: Error) => error.message)).toBe(
      '"https://login.example/ [2J" is not a URL',
    );
  });
});

describe('metadata that is hostile', () => {
  it('redirects to a private address are refused, at every hop', async () => {
    const stage = loginStage();
    const to = (location: string) => () => new Response(null, { status: 302, headers: { location } });
    stage.answers.set('https://server.example/meta', to('https://other.example/meta'));
    stage.answers.set('https://other.example/meta', to('https://169.254.169.254/latest'));
    expect(await failureOf(logIn(stage))).toContain('169.254.169.254 is a private address');
    expect(stage.log).toEqual(['GET https://server.example/meta', 'GET https://other.example/meta']);
  });

  it('a server that names any number of authorization servers, or of metadata: a few are tried', async () => {
    const many = Array.from({ length: 1000 }, (_, index) => `https://as-${index}.example`);
    const stage = loginStage();
    const body = { resource: SERVER, authorization_servers: many };
    stage.answers.set('https://server.example/meta', () => Response.json(body));
    const login = await stage.login().login(SERVER);
    await failureOf(login.login(CHALLENGE));
    // Two documents of each.
    expect(stage.log.filter((line) => line.includes('https://as-'))).toHaveLength(10);
    stage.log.length = 0;
    const named = many.map((url) => `resource_metadata="${url}/meta"`).join(', ');
    await failureOf(login.login(`Bearer ${named}`));
    expect(stage.log.filter((line) => line.endsWith('.example/meta'))).toHaveLength(3);
  });

  it('a server that lists thousands of scopes: no program gets a page with all of them', async () => {
    const stage = loginStage();
    const scopes = Array.from({ length: 5000 }, (_, index) => `scope-${index}`);
    const body = { resource: SERVER, authorization_servers: [ISSUER], scopes_supported: scopes };
    stage.answers.set('https://server.example/meta', () => Response.json(body));
    const failure = await failureOf((await stage.login().login(SERVER)).login(CHALLENGE));
    expect(failure).toContain('with 5000 scopes; name those that you need');
    expect(stage.pages).toEqual([]);
  });

  it('the query of the server, which may be a secret, is not in errors', async () => {
    const stage = loginStage();
    const url = `${SERVER}?key=s3cret`;
    const address = 'https://server.example/.well-known/oauth-protected-resource/mcp';
    for (const answer of [
      () => new Response('x', { status: 500 }),
      () => new Response('x'),
      () => Response.json({}),
    ]) {
      stage.answers.set(address, answer);
      const failure = await failureOf((await stage.login().login(url)).login('Bearer'));
      expect(failure).toContain(address);
      expect(failure).not.toContain('s3cret');
    }
  });

  it('redirects that loop end', async () => {
    const stage = loginStage();
    const headers = { location: 'https://server.example/meta' };
    stage.answers.set('https://server.example/meta', () => new Response(null, { status: 302, headers }));
    expect(await failureOf(logIn(stage))).toContain('it redirects, which is not followed');
    expect(stage.log).toHaveLength(4);
  });

  it('a long answer is not read to its end', async () => {
    const stage = loginStage();
    let chunks = 0;
    const endless = new ReadableStream({
      pull(controller) {
        chunks += 1;
        controller.enqueue(new Uint8Array(65_536).fill(32));
      },
    });
    stage.answers.set(METADATA, () => new Response(endless));
    expect(await failureOf(logIn(stage))).toContain('its answer is longer than 262144 bytes');
    expect(chunks).toBeLessThan(10);
  });

  it.each<[string, string, Record<string, unknown>, string]>([
    [
      'an access token',
      `${ISSUER}/token`,
      { access_token: 'x'.repeat(16_385) },
      'longer than 16384 characters',
    ],
    ['a refresh token', `${ISSUER}/token`, { access_token: 'x', refresh_token: 'x'.repeat(32_769) }, '32768'],
    ['scopes', `${ISSUER}/token`, { access_token: 'x', scope: 'a '.repeat(17_000) }, '32768'],
    [
      'the id of a client',
      `${ISSUER}/register`,
      { client_id: 'x'.repeat(4097) },
      'longer than 4096 characters',
    ],
    [
      'an endpoint',
      METADATA,
      asMetadata({ token_endpoint: `${ISSUER}/${'x'.repeat(2000)}` }),
      '2000 characters',
    ],
    [
      'a resource',
      'https://server.example/meta',
      { resource: `${SERVER}?${'x'.repeat(2000)}`, authorization_servers: [ISSUER] },
      '2000 characters',
    ],
  ])('of any length is not kept: %s', async (_what, url, body, why) => {
    const stage = loginStage();
    const status = url.endsWith('/register') ? 201 : 200;
    stage.answers.set(url, () => Response.json(body, { status }));
    expect(await failureOf(logIn(stage))).toContain(why);
  });

  it('broken JSON, a list, and a server that fails are not "nothing there"', async () => {
    for (const body of ['{"resource":', '[]', '<html>']) {
      const stage = loginStage();
      stage.answers.set('https://server.example/meta', () => new Response(body));
      expect(await failureOf(logIn(stage))).toContain('did not answer with a JSON object');
      expect(stage.log).toHaveLength(1);
    }
    const stage = loginStage();
    stage.answers.set('https://server.example/meta', () => new Response('', { status: 502 }));
    expect(await failureOf(logIn(stage))).toContain('HTTP 502');
    expect(stage.log).toHaveLength(1);
  });

  it('a second authorization server is used when the first one cannot be read', async () => {
    const stage = loginStage();
    const body = { resource: SERVER, authorization_servers: ['https://down.example', ISSUER] };
    stage.answers.set('https://server.example/meta', () => Response.json(body));
    stage.answers.set('https://down.example/.well-known/oauth-authorization-server', () => {
      throw new Error('unreachable');
    });
    expect(await logIn(stage)).toMatchObject({ state: 'valid', issuer: ISSUER });
  });

  it('an outage of the authorization server of a login does not lead to another one', async () => {
    const stage = loginStage();
    const login = await stage.login().login(SERVER);
    await login.login(CHALLENGE);
    const body = { resource: SERVER, authorization_servers: ['https://other.example', ISSUER] };
    stage.answers.set('https://server.example/meta', () => Response.json(body));
    stage.answers.set(METADATA, () => new Response('', { status: 503 }));
    expect(await failureOf(login.login(CHALLENGE))).toContain('HTTP 503');
    expect(stage.log.some((line) => line.includes('other.example'))).toBe(false);
  });
});

describe('responses of the browser', () => {
  const good = { code: 'the-code', iss: ISSUER };
  const invalid = 'nothing of it was used';
  it.each<[string, (state: string) => [string, string][], string]>([
    ['another state', () => [['state', 'x'], ...Object.entries(good)], 'belongs to no login'],
    ['two codes', (state) => [['state', state], ...Object.entries(good), ['code', 'b']], invalid],
    ['two states', (state) => [['state', state], ...Object.entries(good), ['state', 'b']], invalid],
    ['two issuers', (state) => [['state', state], ...Object.entries(good), ['iss', 'b']], invalid],
    [
      'no issuer',
      (state) => [
        ['state', state],
        ['code', 'c'],
      ],
      invalid,
    ],
    [
      'an issuer with a slash',
      (state) => [
        ['state', state],
        ['code', 'c'],
        ['iss', `${ISSUER}/`],
      ],
      invalid,
    ],
    [
      'an error',
      (state) => [
        ['state', state],
        ['iss', ISSUER],
        ['error', 'access_denied'],
      ],
      'access_denied',
    ],
    [
      'an error that is not one of OAuth',
      (state) => [
        ['state', state],
        ['iss', ISSUER],
        ['error', 'call_0800_EVIL'],
      ],
      invalid,
    ],
  ])('%s', async (_, params, expected) => {
    const stage = loginStage();
    const failures: unknown[] = [];
    const auth = stage.login({
      timeoutMs: expected === 'belongs to no login' ? 20 : 60_000,
      open: (page) => {
        setImmediate(() => {
          const response = new URLSearchParams(params(page.searchParams.get('state')!));
          try {
            auth.finish(response);
          } catch (error) {
            failures.push(error);
          }
        });
      },
    });
    const failure = await failureOf((await auth.login(SERVER)).login(CHALLENGE));
    expect(`${failure} ${String(failures[0])}`).toContain(expected);
    expect(failure).not.toContain('EVIL');
    expect(stage.log.filter((line) => line.endsWith('/token'))).toEqual([]);
  });

  it('no word of an error with a wrong issuer is repeated', async () => {
    const stage = loginStage();
    stage.response = (page) =>
      new URLSearchParams({
        error: 'access_denied',
        error_description: 'call 0800-EVIL',
        error_uri: 'https://evil.example',
        iss: 'https://evil.example',
        state: page.searchParams.get('state')!,
      });
    const failure = await failureOf(logIn(stage));
    expect(failure).toContain('nothing of it was used');
    expect(failure).not.toMatch(/EVIL|evil|access_denied/);
  });

  it('two logins that wait at the same time each get their own', async () => {
    const stage = loginStage();
    const open: URL[] = [];
    const auth = stage.login({ open: (page) => void open.push(page) });
    stage.answers.set('https://server.example/.well-known/oauth-protected-resource/two', () =>
      Response.json({ resource: 'https://server.example/two', authorization_servers: [ISSUER] }),
    );
    const first = (await auth.login(SERVER)).login(CHALLENGE);
    await expect.poll(() => open.length).toBe(1);
    const second = (await auth.login('https://server.example/two')).login();
    await expect.poll(() => open.length).toBe(2);
    auth.finish(stage.response(open[1]!));
    expect(await second).toMatchObject({ state: 'valid', server: 'https://server.example/two' });
    auth.finish(stage.response(open[0]!));
    expect(await first).toMatchObject({ state: 'valid', server: SERVER });
    expect(() => auth.finish('code=a&state=b')).toThrow('No login waits for a response');
  });
});

describe('no credential reaches another origin', () => {
  it('across redirects of the server', async () => {
    const stage = loginStage();
    const auth = stage.login();
    await (await auth.login(SERVER)).login(CHALLENGE);
    const seen: (string | null)[] = [];
    const fetch: typeof globalThis.fetch = async (input, init) => {
      const request = new Request(input, init);
      seen.push(`${new URL(request.url).host} ${request.headers.get('authorization')}`);
      const location = 'https://other.example/mcp';
      return request.url === SERVER
        ? new Response(null, { status: 307, headers: { location } })
        : new Response(null, { status: 401, headers: { 'www-authenticate': 'Bearer scope="all"' } });
    };
    const connector = http(SERVER, { auth, fetch, allowCrossOriginRedirects: true });
    expect(await failureOf(connect(connector, { mode: 'modern' }))).toContain('UNAUTHORIZED');
    expect(seen).toEqual(['server.example Bearer access-1', 'other.example null']);
    expect(stage.pages).toHaveLength(1);
  });

  it('across redirects of the token endpoint', async () => {
    const stage = loginStage();
    const headers = { location: 'https://evil.example/token' };
    stage.answers.set(`${ISSUER}/token`, () => new Response(null, { status: 307, headers }));
    expect(await failureOf(logIn(stage))).toContain('it redirects, which is not followed');
    expect(stage.log.some((line) => line.includes('evil.example'))).toBe(false);
  });
});
