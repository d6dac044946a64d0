import { memoryLoginStore } from '@isthmus/sdk';
import { systemClock } from '@isthmus/sdk/internal/async/clock.js';
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

/** A stage with a login, and a clock that a test can advance. */
async function loggedIn(options: OAuthOptions = {}, prepare: (stage: LoginStage) => unknown = () => {}) {
  const stage = loginStage();
  prepare(stage);
  const time = { now: 1_000_000 };
  const clock = { ...systemClock, now: () => time.now };
  const auth = stage.login({ clock, ...options });
  const login = await auth.login(SERVER);
  await login.login(CHALLENGE);
  stage.log.length = 0;
  return { stage, time, auth, login };
}

function answerTokens(stage: LoginStage, body: object, status = 400): void {
  stage.answers.set(`${ISSUER}/token`, () => Response.json(body, { status }));
}

const refusal = (authorization: string | undefined, attempt = 0, header = CHALLENGE) =>
  ({ status: 401, wwwAuthenticate: header, authorization, attempt }) as const;

describe('a token endpoint that is busy or broken', () => {
  it.each([
    [503, { error: 'temporarily_unavailable' }],
    [429, { error: 'rate_limited' }],
    [400, { error: 'server_error' }],
    [200, { error: 'temporarily_unavailable' }],
    [500, {}],
  ])('HTTP %i %j does not end the login', async (status, body) => {
    const { stage, time, login } = await loggedIn();
    answerTokens(stage, body, status);
    time.now += 3_590_000;
    expect(await login.authorization()).toBe('Bearer access-1');
    time.now += 20_000;
    expect(await failureOf(login.authorization() as Promise<unknown>)).toContain(`HTTP ${status}`);
    expect(await login.status()).toMatchObject({ state: 'stale', isRenewable: true });
    expect(stage.pages).toHaveLength(1);
  });
});

describe('a refresh that is refused', () => {
  it('ends in needs-login, keeps the registration, and is not repeated', async () => {
    const { stage, time, login } = await loggedIn();
    answerTokens(stage, { error: 'invalid_grant', error_description: 'gone' });
    time.now += 3_600_000;
    expect(await login.authorization()).toBe(undefined);
    expect(await login.authorization()).toBe(undefined);
    expect(stage.log).toEqual([`POST ${ISSUER}/token`]);
    expect(await login.status()).toMatchObject({
      state: 'needs-login',
      clientId: 'client-1',
      reason: 'invalid_grant: gone',
    });
  });

  it('of a client that is not known any more leads to a new registration', async () => {
    const { stage, time, login } = await loggedIn();
    const good = stage.answers.get(`${ISSUER}/token`)!;
    answerTokens(stage, { error: 'invalid_client' }, 401);
    time.now += 3_600_000;
    expect(await login.authorization()).toBe(undefined);
    expect((await login.status()).state).toBe('needs-login');
    stage.answers.set(`${ISSUER}/token`, good);
    stage.answers.set(`${ISSUER}/register`, () => Response.json({ client_id: 'client-2' }));
    await login.login(CHALLENGE);
    expect((await login.status()).clientId).toBe('client-2');
  });

  it('for its scopes is repeated once without them', async () => {
    const { stage, time, login } = await loggedIn({ scopes: ['a'] });
    const good = stage.answers.get(`${ISSUER}/token`)!;
    stage.answers.set(`${ISSUER}/token`, (request) =>
      request.form.has('scope') ? Response.json({ error: 'invalid_scope' }, { status: 400 }) : good(request),
    );
    time.now += 3_600_000;
    expect(await login.authorization()).toBe('Bearer access-2');
    expect(stage.log).toHaveLength(2);
  });
});

describe('what one request may cause', () => {
  it('one login: a token that is refused at once is final, and the error says for what it was given', async () => {
    const stage = loginStage();
    const login = await stage.login().login(SERVER);
    expect(await login.refused(refusal(undefined))).toBe(true);
    const failure = await failureOf(login.refused(refusal('Bearer access-1', 1)));
    expect(failure).toContain(`refuses the token that ${ISSUER} has just given for ${SERVER}`);
    expect(failure).not.toContain('access-1');
    expect(stage.pages).toHaveLength(1);
  });

  it('one refresh and one login: then it is final', async () => {
    const { stage, login } = await loggedIn();
    expect(await login.refused(refusal('Bearer access-1'))).toBe(true);
    expect(await login.refused(refusal('Bearer access-2', 1))).toBe(true);
    expect(await login.refused(refusal('Bearer access-3', 2))).toBe(false);
    expect(stage.log.filter((line) => line === `POST ${ISSUER}/token`)).toHaveLength(2);
    expect(stage.pages).toHaveLength(2);
  });

  it('three logins in 10 minutes, and again later', async () => {
    const { stage, time, login } = await loggedIn();
    await login.login(CHALLENGE);
    await login.login(CHALLENGE);
    expect(await failureOf(login.login(CHALLENGE))).toContain('refused 3 new logins within 10 minutes');
    time.now += 600_000;
    await login.login(CHALLENGE);
    expect(stage.pages).toHaveLength(4);
  });

  it('no login for a 403 without a challenge, or with another error', async () => {
    const { stage, login } = await loggedIn();
    for (const header of [undefined, 'Bearer', 'Bearer error="invalid_token"', 'Basic realm="x"']) {
      const facts = { status: 403, wwwAuthenticate: header, authorization: 'Bearer access-1', attempt: 0 };
      expect(await login.refused(facts as never)).toBe(false);
    }
    expect(stage.log).toEqual([]);
  });

  it('one page for logins that are begun at the same time', async () => {
    const stage = loginStage();
    const login = await stage.login().login(SERVER);
    await Promise.all([login.login(CHALLENGE), login.login(CHALLENGE), login.refused(refusal(undefined))]);
    expect(stage.pages).toHaveLength(1);
  });
});

describe('scopes', () => {
  const pageScopes = (stage: LoginStage) => stage.pages.map((page) => page.searchParams.get('scope'));

  it('a step-up keeps what was asked for before, also with configured scopes', async () => {
    const { stage, login } = await loggedIn({ scopes: ['a'] });
    for (const [index, scope] of ['b', 'c'].entries()) {
      const header = `Negotiate, Bearer error="insufficient_scope", scope="${scope}"`;
      const authorization = `Bearer access-${index + 1}`;
      const facts = { status: 403, wwwAuthenticate: header, authorization, attempt: 0 } as const;
      expect(await login.refused(facts)).toBe(true);
    }
    expect(pageScopes(stage)).toEqual(['a', 'a b', 'a b c']);
  });

  it('two step-ups for the same scopes, and then it is final for 10 minutes', async () => {
    const { time, login } = await loggedIn();
    const stepUp = (token: string) =>
      login.refused({
        status: 403,
        wwwAuthenticate: 'Bearer error="insufficient_scope", scope="b"',
        authorization: `Bearer ${token}`,
        attempt: 0,
      });
    expect(await stepUp('access-1')).toBe(true);
    expect(await stepUp('access-2')).toBe(true);
    expect(await stepUp('access-3')).toBe(false);
    time.now += 600_000;
    expect(await stepUp('access-3')).toBe(true);
  });

  it('configured scopes are not widened by what a server lists', async () => {
    const stage = loginStage();
    const body = { resource: SERVER, authorization_servers: [ISSUER], scopes_supported: ['x', 'y'] };
    stage.answers.set('https://server.example/meta', () => Response.json(body));
    await (await stage.login({ scopes: ['a'] }).login(SERVER)).refused(refusal(undefined));
    await (await stage.login().login(SERVER)).refused(refusal(undefined));
    expect(pageScopes(stage)).toEqual(['a', 'x y']);
  });
});

describe('logins and stores', () => {
  it('a login that another client made is not used, and its secret goes nowhere', async () => {
    const { stage } = await loggedIn();
    const store = memoryLoginStore();
    await (
      await stage.login({ store, clientId: 'one', clientSecret: 'secret-one', issuer: ISSUER }).login(SERVER)
    ).login();
    stage.requests.length = 0;
    const other = await stage
      .login({ store, clientId: 'two', clientSecret: 'secret-two', issuer: ISSUER })
      .login(SERVER);
    expect(await other.authorization()).toBe(undefined);
    await other.logout();
    const sent = stage.requests.map(({ headers, body }) => {
      const [, pair = ''] = (headers.get('authorization') ?? '').split(' ');
      return `${Buffer.from(pair, 'base64')} ${body}`;
    });
    expect(sent).toEqual([]);
    expect(stage.warnings).toEqual([
      'The tokens are forgotten and not revoked. The client one has a secret, which was not given: give it as for the ' +
        'login (clientId with clientSecret or privateKey; --client-id with --client-secret-file)',
    ]);
  });

  it('a stored login of another issuer than the configured one is not renewed', async () => {
    const store = memoryLoginStore();
    const { stage } = await loggedIn({ store, clientId: 'one' });
    const other = await stage.login({ store, clientId: 'one', issuer: 'https://new.example' }).login(SERVER);
    expect(await other.authorization()).toBe(undefined);
    expect(stage.log).toEqual([]);
  });

  it('nothing of an old authorization server goes to a new one', async () => {
    const { stage, login } = await loggedIn();
    const next = 'https://new.example';
    const body = { resource: SERVER, authorization_servers: [next] };
    stage.answers.set('https://server.example/meta', () => Response.json(body));
    const metadata = asMetadata({
      issuer: next,
      token_endpoint: `${next}/token`,
      registration_endpoint: `${next}/register`,
    });
    stage.answers.set(`${next}/.well-known/oauth-authorization-server`, () => Response.json(metadata));
    stage.answers.set(`${next}/register`, () => Response.json({ client_id: 'client-new' }));
    stage.answers.set(`${next}/token`, () => Response.json({ access_token: 'access-new' }));
    stage.response = (page) =>
      new URLSearchParams({ code: 'c', state: page.searchParams.get('state')!, iss: next });
    stage.requests.length = 0;
    await login.login(CHALLENGE);
    expect(await login.status()).toMatchObject({ issuer: next, clientId: 'client-new', state: 'valid' });
    const sent = stage.requests.filter(({ url }) => url.origin === next).map(({ body: text }) => text);
    expect(sent.join()).not.toMatch(/client-1|access-1|refresh-1/);
  });

  it('a logout while a token is renewed stays a logout, and revokes the new token', async () => {
    const { stage, time, login } = await loggedIn();
    const good = stage.answers.get(`${ISSUER}/token`)!;
    let letGo = () => {};
    const held = new Promise<void>((resolve) => {
      letGo = resolve;
    });
    stage.answers.set(`${ISSUER}/token`, async (request) => {
      await held;
      return good(request);
    });
    time.now += 3_600_000;
    const renewal = login.authorization();
    await expect.poll(() => stage.log).toEqual([`POST ${ISSUER}/token`]);
    const logout = login.logout();
    letGo();
    await Promise.all([renewal, logout]);
    expect((await login.status()).state).toBe('none');
    const revoked = stage.requests.filter(({ url }) => url.pathname === '/revoke');
    expect(revoked.map(({ form }) => form.get('token'))).toEqual(['refresh-2', 'access-2']);
  });

  it('client credentials are asked for again before their end, as often as it takes', async () => {
    const options = {
      grant: 'client-credentials',
      clientId: 'me',
      clientSecret: 's',
      issuer: ISSUER,
    } as const;
    const { stage, time, login } = await loggedIn(options, (given) =>
      given.answers.set(`${ISSUER}/token`, () => Response.json({ access_token: 'first', expires_in: 60 })),
    );
    stage.answers.set(`${ISSUER}/token`, ({ form }) =>
      Response.json({ access_token: `${form.get('grant_type')}-${time.now}`, expires_in: 60 }),
    );
    time.now += 3_600_000;
    for (let minute = 0; minute < 8; minute += 1) {
      expect(await login.authorization()).toBe(`Bearer client_credentials-${time.now}`);
      time.now += 60_000;
    }
    expect(stage.log).toEqual(Array.from({ length: 8 }, () => `POST ${ISSUER}/token`));
  });
});
