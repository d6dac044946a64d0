/**
 * Our client and the official one (@modelcontextprotocol/client) before the same servers. Each test is about one thing that
 * ours does and the official one does not. A test that fails because the official one has learned it is good news: remove it.
 */
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileLoginStore, oauthProvider } from '@isthmus/sdk';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { asMetadata, failureOf, ISSUER, SERVER } from '../../support/scripted-authorization-server.js';
import {
  type ComparedStage,
  comparedStage,
  officialClient,
  ourClient,
  PlainProvider,
} from './compared-stage.js';

const TOKEN = `${ISSUER}/token`;
const WELL_KNOWN = 'https://server.example/.well-known/oauth-protected-resource/mcp';
const grants = (stage: ComparedStage, type: string) =>
  stage.requests.filter(({ form }) => form.get('grant_type') === type);

/** Both, each before a stage of its own. */
async function both(prepare: (stage: ComparedStage) => unknown = () => {}) {
  const [ours, theirs] = [await comparedStage(), await comparedStage()];
  for (const stage of [ours, theirs]) await prepare(stage);
  return { ours, theirs, auth: ours.login(), provider: new PlainProvider() };
}

describe('the challenge of the server', () => {
  it('is found behind another scheme (AUTH-C-010)', async () => {
    const { ours, theirs, auth, provider } = await both((stage) => {
      stage.answers.delete(WELL_KNOWN);
      stage.challenge = `Negotiate, ${stage.challenge}`;
    });
    await ourClient(ours, auth);
    expect(`${ours.pages[0]!.origin}${ours.pages[0]!.pathname}`).toBe(`${ISSUER}/authorize`);
    expect(await failureOf(officialClient(theirs, provider))).not.toBe('it succeeded');
    expect(theirs.log).not.toContain('GET https://server.example/meta');
  });

  it('names its scope by the whole name of the parameter', async () => {
    const { ours, theirs, auth, provider } = await both((stage) => {
      stage.challenge = 'Bearer x_scope="wrong", scope="right"';
    });
    await ourClient(ours, auth);
    await officialClient(theirs, provider);
    expect(ours.pages[0]!.searchParams.get('scope')).toBe('right');
    expect(provider.pages[0]!.searchParams.get('scope')).toBe('wrong');
  });
});

describe('what is sent to the authorization server', () => {
  it('resource, also where the server publishes nothing about itself (AUTH-C-051)', async () => {
    const own = 'https://server.example';
    const { ours, theirs, auth, provider } = await both((stage) => {
      stage.answers.delete(WELL_KNOWN);
      stage.challenge = 'Bearer';
      const endpoints = {
        authorization_endpoint: `${own}/authorize`,
        registration_endpoint: `${ISSUER}/register`,
      };
      const metadata = asMetadata({ issuer: own, ...endpoints });
      stage.answers.set(`${own}/.well-known/oauth-authorization-server`, () => Response.json(metadata));
      const respond = stage.response;
      stage.response = (page) => {
        const params = respond(page);
        params.set('iss', own);
        return params;
      };
    });
    await ourClient(ours, auth);
    await officialClient(theirs, provider);
    const sent = (page: URL, stage: ComparedStage) => [
      page.searchParams.get('resource'),
      grants(stage, 'authorization_code')[0]!.form.get('resource'),
    ];
    expect(sent(ours.pages[0]!, ours)).toEqual([SERVER, SERVER]);
    expect(sent(provider.pages[0]!, theirs)).toEqual([null, null]);
  });

  it('nothing, where it does not say that it supports PKCE (AUTH-C-022)', async () => {
    const { ours, theirs, auth, provider } = await both((stage) => {
      const metadata = asMetadata({ code_challenge_methods_supported: undefined });
      stage.answers.set(`${ISSUER}/.well-known/oauth-authorization-server`, () => Response.json(metadata));
    });
    expect(await failureOf(ourClient(ours, auth))).toContain('--assume-pkce');
    expect(ours.pages).toEqual([]);
    await officialClient(theirs, provider);
    expect(provider.pages).toHaveLength(1);
  });

  it('a secret that is encoded as forms are (RFC 6749 §2.3.1)', async () => {
    const { ours, theirs } = await both();
    const client = { clientId: 'me', clientSecret: 'a:b%c' };
    await ourClient(ours, ours.login({ ...client, issuer: ISSUER }));
    const provider = new PlainProvider({
      client: { client_id: 'me', client_secret: 'a:b%c', issuer: ISSUER },
    });
    await officialClient(theirs, provider);
    const basic = (stage: ComparedStage) => {
      const [, pair = ''] = grants(stage, 'authorization_code')[0]!.headers.get('authorization')!.split(' ');
      return Buffer.from(pair, 'base64').toString();
    };
    expect(basic(ours)).toBe('me:a%3Ab%25c');
    expect(basic(theirs)).toBe('me:a:b%c');
  });

  it('a state, and a response with another one is not used (AUTH-C-056)', async () => {
    const { ours, theirs, provider } = await both((stage) => {
      stage.response = () => new URLSearchParams({ code: 'foreign', state: 'foreign', iss: ISSUER });
    });
    const auth = ours.login({
      timeoutMs: 1,
      open(page) {
        ours.pages.push(page);
        expect(() => auth.finish(ours.response(page))).toThrow('belongs to no login that waits');
      },
    });
    expect(await failureOf(ourClient(ours, auth))).toContain('was not finished');
    expect(grants(ours, 'authorization_code')).toEqual([]);
    expect(ours.pages[0]!.searchParams.get('state')!.length).toBeGreaterThan(21);
    await officialClient(theirs, provider);
    expect(provider.pages[0]!.searchParams.get('state')).toBe(null);
    expect(grants(theirs, 'authorization_code')).toHaveLength(1);
  });
});

describe('which authorization server', () => {
  it('the second one, where the first one publishes nothing (AUTH-C-013)', async () => {
    const { ours, theirs, auth, provider } = await both((stage) => {
      const body = { resource: SERVER, authorization_servers: ['https://gone.example', ISSUER] };
      stage.answers.set('https://server.example/meta', () => Response.json(body));
    });
    await ourClient(ours, auth);
    expect(ours.pages[0]!.origin).toBe(ISSUER);
    expect(await failureOf(officialClient(theirs, provider))).not.toBe('it succeeded');
  });

  it('stored credentials that do not say where they belong are not sent to whatever is named (AUTH-C-037)', async () => {
    const evil = 'https://evil.example';
    const { ours, theirs } = await both((stage) => {
      const body = { resource: SERVER, authorization_servers: [evil] };
      stage.answers.set('https://server.example/meta', () => Response.json(body));
      const metadata = asMetadata({
        issuer: evil,
        authorization_endpoint: `${evil}/authorize`,
        token_endpoint: `${evil}/token`,
        registration_endpoint: `${evil}/register`,
      });
      stage.answers.set(`${evil}/.well-known/oauth-authorization-server`, () => Response.json(metadata));
      stage.answers.set(`${evil}/register`, () => Response.json({ error: 'no' }, { status: 400 }));
      stage.answers.set(`${evil}/token`, () => Response.json({ error: 'invalid_grant' }, { status: 400 }));
    });
    const kept = () => ({
      client: { client_id: 'me', client_secret: 'the-secret' },
      tokens: { access_token: 'old', token_type: 'Bearer', refresh_token: 'the-refresh-token' },
    });
    const sentTo = (stage: ComparedStage) =>
      stage.requests
        .filter(({ url }) => url.origin === evil)
        .map(({ body, headers }) => {
          const [, pair = ''] = (headers.get('authorization') ?? '').split(' ');
          return `${body} ${Buffer.from(pair, 'base64')}`;
        })
        .join();
    const ourAuth = oauthProvider(new PlainProvider(kept()), { fetch: ours.fetch });
    expect(await failureOf(ourClient(ours, ourAuth))).toContain('did not register this client');
    expect(sentTo(ours)).not.toMatch(/the-refresh-token|the-secret/);
    await failureOf(officialClient(theirs, new PlainProvider(kept())));
    expect(sentTo(theirs)).toMatch(/the-refresh-token/);
    expect(sentTo(theirs)).toMatch(/the-secret/);
  });
});

describe('a token that has ended', () => {
  afterEach(() => void vi.useRealTimers());

  /** The token endpoint answers when the server has refused two requests. */
  function holdUntilTwoWereRefused(stage: ComparedStage): void {
    const answer = stage.answers.get(TOKEN)!;
    stage.answers.set(TOKEN, async (request) => {
      if (request.form.get('grant_type') === 'refresh_token') {
        await vi.waitUntil(() => stage.refusals() >= 3, { timeout: 20_000, interval: 1 });
      }
      return answer(request);
    });
  }

  it('is renewed before it ends: the server sees no bad token', async () => {
    const { ours, theirs, auth, provider } = await both();
    const [mine, official] = [await ourClient(ours, auth), await officialClient(theirs, provider)];
    const [before, beforeOfficial] = [ours.refusals(), theirs.refusals()];
    for (const stage of [ours, theirs]) stage.ended.add('access-1');
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 3_600_000 });
    await mine.callTool('read');
    await official.callTool({ name: 'read', arguments: {} });
    expect([ours.refusals() - before, grants(ours, 'refresh_token').length]).toEqual([0, 1]);
    expect([theirs.refusals() - beforeOfficial, grants(theirs, 'refresh_token').length]).toEqual([1, 1]);
  });

  it('of two connections of one program: one refresh', async () => {
    const { ours, theirs, auth, provider } = await both();
    const mine = [await ourClient(ours, auth), await ourClient(ours, auth)];
    const official = [await officialClient(theirs, provider), await officialClient(theirs, provider)];
    for (const stage of [ours, theirs]) {
      stage.ended.add('access-1');
      holdUntilTwoWereRefused(stage);
    }
    await Promise.all(mine.map((client) => client.callTool('read')));
    await Promise.all(official.map((client) => client.callTool({ name: 'read', arguments: {} })));
    expect(grants(ours, 'refresh_token')).toHaveLength(1);
    expect(grants(theirs, 'refresh_token')).toHaveLength(2);
  });

  it('of two processes that share what they keep: a refresh token is used once (AUTH-C-072)', async () => {
    const { ours, theirs, provider } = await both();
    const folder = await mkdtemp(join(tmpdir(), 'isthmus-compared-'));
    const process = () => ours.login({ store: fileLoginStore(folder) });
    const mine = [await ourClient(ours, process()), await ourClient(ours, process())];
    const official = [
      await officialClient(theirs, provider),
      await officialClient(theirs, new PlainProvider(provider.kept)),
    ];
    for (const stage of [ours, theirs]) {
      stage.ended.add('access-1');
      holdUntilTwoWereRefused(stage);
    }
    await Promise.all(mine.map((client) => client.callTool('read')));
    await Promise.all(official.map((client) => client.callTool({ name: 'read', arguments: {} })));
    const used = (stage: ComparedStage) =>
      grants(stage, 'refresh_token').map(({ form }) => form.get('refresh_token'));
    expect(used(ours)).toEqual(['refresh-1']);
    expect(used(theirs)).toEqual(['refresh-1', 'refresh-1']);
  });

  it('is renewed with its scopes, which some authorization servers want', async () => {
    const { ours, theirs, auth, provider } = await both((stage) => {
      stage.challenge = `${stage.challenge}, scope="a b"`;
    });
    const [mine, official] = [await ourClient(ours, auth), await officialClient(theirs, provider)];
    for (const stage of [ours, theirs]) stage.ended.add('access-1');
    await mine.callTool('read');
    await official.callTool({ name: 'read', arguments: {} });
    expect(grants(ours, 'refresh_token')[0]!.form.get('scope')).toBe('a b');
    expect(grants(theirs, 'refresh_token')[0]!.form.get('scope')).toBe(null);
  });
});
