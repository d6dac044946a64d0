import { describe, expect, it } from 'vitest';
import { ask, legacyCall, modern, openSession } from '../../../sdk/test/support/http-server.js';
import { createAuthenticate } from '../../src/auth/create-authenticate.js';
import { bearer, guarded } from '../support/auth.js';

const ADA = 'ada-has-a-key-of-32-characters-00';
const BOB = 'bob-has-a-key-of-32-characters-00';

describe('API keys', () => {
  it('admit a caller that has one, by either header', async () => {
    const { who, warnings } = await guarded({ apiKeys: [{ name: 'ada', key: ADA }, { key: BOB }] });
    expect(await who({ 'x-api-key': ADA })).toBe('key:ada');
    expect(await who(bearer(ADA))).toBe('key:ada');
    expect(await who({ authorization: `bearer   ${ADA} ` })).toBe('key:ada');
    expect(await who({ 'x-api-key': BOB })).toBe('key:cba87509d48f');
    expect(warnings).toEqual([]);
  });

  it('keep out everybody else, and say what is wrong', async () => {
    const { who } = await guarded({ apiKeys: [{ name: 'ada', key: ADA }] });
    const missing = [401, 'Bearer realm="mcp"'];
    const wrong = [401, 'Bearer error="invalid_token", error_description="The credential is not valid here"'];
    expect(await who({})).toEqual(missing);
    expect(await who({ 'x-api-key': '' })).toEqual(missing);
    expect(await who({ authorization: 'Bearer' })).toEqual(missing);
    expect(await who({ authorization: `Basic ${ADA}` })).toEqual(missing);
    expect(await who({ authorization: ADA })).toEqual(missing);
    for (const almost of [
      ADA.slice(0, -1),
      `${ADA}0`,
      ADA.toUpperCase(),
      `${ADA},${ADA}`,
      'ada',
      'key:ada',
    ]) {
      expect(await who(bearer(almost))).toEqual(wrong);
      expect(await who({ 'x-api-key': almost })).toEqual(wrong);
    }
  });

  it('look at both headers before they say no', async () => {
    const { who } = await guarded({ apiKeys: [{ name: 'ada', key: ADA }] });
    expect(await who({ 'x-api-key': 'stale', ...bearer(ADA) })).toBe('key:ada');
    expect(await who({ 'x-api-key': ADA, ...bearer('stale') })).toBe('key:ada');
  });

  it('of the same name are the same caller, so that a key can be replaced', async () => {
    const keys = [
      { name: 'ada', key: ADA },
      { name: 'ada', key: BOB },
    ];
    const { url, who } = await guarded({ apiKeys: keys });
    expect(await who(bearer(BOB))).toBe('key:ada');
    const session = await openSession(url, { headers: bearer(ADA) });
    const answer = await session.post(legacyCall(1, 'who'), bearer(BOB));
    expect(answer.json.result?.content[0].text).toBe('key:ada');
  });

  it('bind sessions: what one has opened is nothing to another (SESS-011)', async () => {
    const keys = [
      { name: 'ada', key: ADA },
      { name: 'bob', key: BOB },
    ];
    const { url } = await guarded({ apiKeys: keys });
    const session = await openSession(url, { headers: bearer(ADA) });
    expect((await session.post(legacyCall(1, 'who'), bearer(BOB))).status).toBe(404);
    expect((await session.post(legacyCall(1, 'who'))).status).toBe(200);
  });

  it.each([
    ['no key at all', [{ key: '' }], 'apiKeys: entry 1 has no key'],
    [
      'a key that no header can hold',
      [{ key: ADA }, { key: 'grün' }],
      'apiKeys: entry 2 has a key that is not of visible ASCII characters',
    ],
    [
      'a name that nobody can read',
      [{ name: ' ', key: ADA }],
      'apiKeys: entry 1 has a name that cannot be read',
    ],
    [
      'one key for two',
      [
        { name: 'ada', key: ADA },
        { name: 'bob', key: ADA },
      ],
      'apiKeys: entry 2 (key:bob) has the key of key:ada: it could be either of them',
    ],
  ])('are refused with %s', (_what, apiKeys, message) => {
    expect(() => createAuthenticate({ apiKeys })).toThrow(
      expect.objectContaining({ code: 'INVALID_OPTION', message }),
    );
  });

  it('that can be guessed are worth a warning', async () => {
    const { warnings } = await guarded({ apiKeys: [{ name: 'ada', key: 'secret' }] });
    expect(warnings).toEqual([
      'The API key of ada has only 6 characters and can be guessed: take 32 random ones',
    ]);
  });
});

it('refuses options without any way to authenticate', () => {
  expect(() => createAuthenticate({ apiKeys: [] })).toThrow(
    'authentication needs at least one of apiKeys, bearerFile, jwt and authServers',
  );
});

describe('metadata of the protected resource (RFC 9728)', () => {
  const protectedResource = { authorizationServers: ['https://login.example.com'] };

  it.each(['/mcp', '/mcp/weather', '/servers/weather/mcp'])(
    'is named by the challenges at %s, and is where they say',
    async (path) => {
      const { url, who } = await guarded({ apiKeys: [{ key: ADA }] }, { protectedResource, path });
      const { origin } = new URL(url);
      const where = `${origin}/.well-known/oauth-protected-resource${path}`;
      expect(await who({})).toEqual([401, `Bearer resource_metadata="${where}", realm="mcp"`]);
      expect(await who(bearer('wrong'))).toEqual([
        401,
        `Bearer resource_metadata="${where}", error="invalid_token", error_description="The credential is not valid here"`,
      ]);
      const metadata = await ask(where, { method: 'GET' });
      expect([metadata.status, metadata.json]).toEqual([
        200,
        {
          resource: `${origin}${path}`,
          authorization_servers: ['https://login.example.com'],
          bearer_methods_supported: ['header'],
        },
      ]);
    },
  );

  it('is named on the transport of 2024-11-05, too', async () => {
    const options = { protectedResource, sse: true };
    const { url } = await guarded({ apiKeys: [{ key: ADA }] }, options);
    const { origin } = new URL(url);
    const refused = await ask(`${origin}/sse`, { method: 'GET', headers: { accept: 'text/event-stream' } });
    expect([refused.status, refused.headers['www-authenticate']]).toEqual([
      401,
      `Bearer resource_metadata="${origin}/.well-known/oauth-protected-resource/mcp", realm="mcp"`,
    ]);
  });
});

it('discovery is behind the door as well', async () => {
  const { url } = await guarded({ apiKeys: [{ key: ADA }] });
  expect((await ask(url, modern(1, 'server/discover'))).status).toBe(401);
  expect((await ask(url, modern(1, 'server/discover', {}, { headers: bearer(ADA) }))).status).toBe(200);
});
