import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { FakeClock } from '../../../../test/support/fake-clock.js';
import { within } from '../../../sdk/test/support/http-server.js';
import { createAuthenticate } from '../../src/auth/create-authenticate.js';
import { AUDIENCE, type Authority, bearer, callWho, guarded, openAuthority } from '../support/auth.js';

/** A clock that can be moved, near enough to the one that the tokens are made by. */
class MovedClock extends FakeClock {
  override now(): number {
    return super.now() - 1_000_000 + STARTED;
  }
}
const STARTED = Date.now();

async function behind(authority: Authority, timeoutMs = 5000) {
  const clock = new MovedClock();
  const jwt = { jwksUrl: authority.jwksUrl, audience: AUDIENCE, timeoutMs };
  const guard = await guarded({
    jwt,
    clock,
    apiKeys: [{ name: 'bob', key: 'bob-has-a-key-of-32-characters-00' }],
  });
  return { ...guard, clock };
}

describe('keys that cannot be fetched', () => {
  it.each(['down', 'broken', 'endless'] as const)(
    '(%s) let nobody in and refuse with 503, until they come',
    async (how) => {
      const authority = await openAuthority();
      authority.behave(how);
      const { url, who, clock, warnings } = await behind(authority);
      const token = await authority.token();
      const refused = await callWho(url, bearer(token));
      expect([refused.status, refused.headers['retry-after'], refused.headers['www-authenticate']]).toEqual([
        503,
        '5',
        undefined,
      ]);
      expect(refused.json.error?.message).toBe(
        'Authentication is unavailable at the moment; try again later',
      );
      // Others do not need them.
      expect(await who(bearer('bob-has-a-key-of-32-characters-00'))).toBe('key:bob');
      authority.behave(undefined);
      clock.advance(5000);
      expect(await who(bearer(token))).toBe('jwt:https://login.example.com|ada');
      const why = {
        down: 'HTTP 500',
        broken: '.*JSON.*',
        endless: 'the answer is longer than 1048576 bytes',
      };
      expect(warnings).toEqual([
        expect.stringMatching(`/keys gives no keys \\(${why[how]}\\): tokens that need them are refused$`),
        expect.stringMatching(/\/keys gives keys again$/),
      ]);
    },
  );

  it('are not waited for longer than allowed', async () => {
    const authority = await openAuthority();
    authority.behave('silent');
    const { who } = await behind(authority, 150);
    const token = await authority.token();
    expect(await within(8000, 'the refusal', who(bearer(token)))).toEqual([503, undefined]);
    authority.behave(undefined);
  });

  it('are not asked for by every token that comes: once in five seconds', async () => {
    const authority = await openAuthority();
    authority.behave('down');
    const { url, who, clock } = await behind(authority);
    const token = await authority.token();
    await Promise.all(Array.from({ length: 20 }, () => who(bearer(token))));
    expect(authority.asked()).toBe(1);
    clock.advance(3000);
    const refused = await callWho(url, bearer(token));
    expect([refused.status, refused.headers['retry-after']]).toEqual([503, '2']);
    expect(authority.asked()).toBe(1);
    clock.advance(2000);
    expect(await who(bearer(token))).toEqual([503, undefined]);
    expect(authority.asked()).toBe(2);
  });

  it('do no harm while the ones before are good', async () => {
    const authority = await openAuthority();
    const { who } = await behind(authority);
    const token = await authority.token();
    expect(await who(bearer(token))).toBe('jwt:https://login.example.com|ada');
    authority.behave('down');
    expect(await who(bearer(token))).toBe('jwt:https://login.example.com|ada');
    expect(await who(bearer(await authority.token({ sub: 'eve' })))).toBe(
      'jwt:https://login.example.com|eve',
    );
  });
});

const CANNOT = [401, 'Bearer error="invalid_token", error_description="The token cannot be verified"'];

it('each time that keys stop coming is worth a warning', async () => {
  vi.useFakeTimers({ toFake: ['Date'] });
  onTestFinished(() => void vi.useRealTimers());
  const warnings: string[] = [];
  let isDown = true;
  const fetchKeys = async () => (isDown ? new Response('', { status: 502 }) : Response.json({ keys: [] }));
  const jwt = { jwksUrl: 'https://keys.example.com/jwks?secret=1', audience: AUDIENCE, fetch: fetchKeys };
  const { authenticate } = createAuthenticate({ jwt, onWarning: (warning) => warnings.push(warning) });
  // Well-formed, and of a key that nobody has.
  const header = Buffer.from(JSON.stringify({ alg: 'ES256', kid: 'x' })).toString('base64url');
  const request = { method: 'POST', target: '/mcp', header: () => `Bearer ${header}.e30.AAAA` };
  const statuses: unknown[] = [];
  for (const next of [true, true, false, false, true]) {
    isDown = next;
    statuses.push(((await authenticate(request)) as { status: number }).status);
    // The keys that were fetched are too old by then.
    vi.setSystemTime(Date.now() + 601_000);
  }
  expect(statuses).toEqual([503, 503, 401, 401, 503]);
  expect(warnings).toEqual([
    'https://keys.example.com/jwks gives no keys (HTTP 502): tokens that need them are refused',
    'https://keys.example.com/jwks gives keys again',
    'https://keys.example.com/jwks gives no keys (HTTP 502): tokens that need them are refused',
  ]);
});

describe('a token of a key that is not known', () => {
  it('is refused, and the keys are not fetched for each of them', async () => {
    const authority = await openAuthority();
    const { who } = await behind(authority);
    for (let n = 0; n < 5; n += 1) {
      expect(await who(bearer(await authority.token({}, { kid: `unknown-${n}` })))).toEqual(CANNOT);
    }
    expect(authority.asked()).toBe(1);
  });

  it('is good when the first fetch brings the key', async () => {
    const authority = await openAuthority();
    const { who } = await behind(authority);
    const key = await authority.rotate('two');
    expect(await who(bearer(await authority.token({}, { kid: 'two', key })))).toBe(
      'jwt:https://login.example.com|ada',
    );
    expect(await who(bearer(await authority.token({}, { kid: 'one', key })))).toEqual(CANNOT);
  });
});

it('keys that are replaced are fetched again for a token of a new one, at most every 30 s', async () => {
  vi.useFakeTimers({ toFake: ['Date'] });
  onTestFinished(() => void vi.useRealTimers());
  const authority = await openAuthority();
  const jwt = { jwksUrl: authority.jwksUrl, audience: AUDIENCE };
  const { who } = await guarded({ jwt });
  expect(await who(bearer(await authority.token()))).toBe('jwt:https://login.example.com|ada');
  const key = await authority.rotate('two');
  const token = await authority.token({}, { kid: 'two', key });
  expect(await who(bearer(token))).toEqual(CANNOT);
  expect(authority.asked()).toBe(1);
  vi.setSystemTime(Date.now() + 31_000);
  expect(await who(bearer(token))).toBe('jwt:https://login.example.com|ada');
  expect(authority.asked()).toBe(2);
});

it('keys that come without TLS are worth a warning, unless they come from this machine', () => {
  const warnings: string[] = [];
  const onWarning = (warning: string) => warnings.push(warning);
  for (const jwksUrl of [
    'http://keys.example.com/jwks',
    'https://keys.example.com/jwks',
    'http://localhost:1/jwks',
  ]) {
    createAuthenticate({ jwt: { jwksUrl, audience: 'a' }, onWarning });
  }
  expect(warnings).toEqual([
    'http://keys.example.com is asked for keys without TLS: anyone on the network path can forge tokens; use https',
  ]);
});
