import { describe, expect, it } from 'vitest';
import { FakeClock } from '../../../../test/support/fake-clock.js';
import { createAuthenticate } from '../../src/auth/create-authenticate.js';
import { KnownTokens } from '../../src/auth/known-tokens.js';
import { bearer, guarded } from '../support/auth.js';
import { publishedAuthority } from '../support/published-authority.js';

const RESOURCE = 'https://gw.example/mcp';
const SECRET = 'a secret: of%the gateway';

const CLIENT = { clientId: 'gateway', clientSecret: SECRET };

async function stage() {
  const authority = await publishedAuthority();
  const clock = new FakeClock();
  const authServers = [{ issuer: authority.issuer, resource: RESOURCE, introspection: CLIENT }];
  const active = (more: object = {}) => ({ active: true, sub: 'ada', aud: RESOURCE, ...more });
  return { authority, clock, active, authServers, ...(await guarded({ authServers, clock })) };
}

/** Of a caller that is refused. */
const statusOf = async (verdict: Promise<unknown>) => ((await verdict) as [number])[0];

const asked = (log: readonly string[]) => log.filter((line) => line === 'POST /introspect').length;

describe('a token that is not a JWT (RFC 7662)', () => {
  it('is asked about as the client of the gateway', async () => {
    const { authority, who, active } = await stage();
    authority.opaque.set('opaque-1', active());
    expect(await who(bearer('opaque-1'))).toBe(`jwt:${authority.issuer}|ada`);
    const pair = Buffer.from('gateway:a+secret%3A+of%25the+gateway').toString('base64');
    expect(authority.asked).toEqual([
      { body: 'token=opaque-1&token_type_hint=access_token', authorization: `Basic ${pair}` },
    ]);
  });

  it.each([
    ['is not active', { active: false }, 'The token is not active'],
    [
      'is for another server (AUTH-S-005)',
      { aud: 'https://other.example' },
      'The token is for another server',
    ],
    ['says no audience', { aud: undefined }, 'The token is for another server'],
    ['has ended', { exp: 1000 }, 'The token is not active'],
    ['is a refresh token', { token_type: 'refresh_token' }, 'The token is not active'],
    ['is of another issuer', { iss: 'https://other.example' }, 'The token is of another issuer'],
    ['has neither a subject nor a client', { sub: undefined }, 'The token has no subject (sub)'],
  ])('is refused if it %s', async (_why, more, description) => {
    const { authority, who, active } = await stage();
    authority.opaque.set('opaque', active(more));
    expect(await who(bearer('opaque'))).toEqual([
      401,
      `Bearer error="invalid_token", error_description="${description}"`,
    ]);
  });

  it('is that of the client where no user has it, and the resource may be in resource', async () => {
    const { authority, who, active } = await stage();
    authority.opaque.set('opaque', active({ sub: undefined, client_id: 'ci', aud: [], resource: RESOURCE }));
    expect(await who(bearer('opaque'))).toBe(`jwt:${authority.issuer}|client:ci`);
  });

  it('is asked about once for 30 s, and once at a time', async () => {
    const { authority, who, clock, active } = await stage();
    authority.opaque.set('opaque', active());
    await Promise.all(Array.from({ length: 20 }, () => who(bearer('opaque'))));
    expect(asked(authority.log)).toBe(1);
    clock.advance(29_000);
    await who(bearer('opaque'));
    expect(asked(authority.log)).toBe(1);
    authority.opaque.delete('opaque');
    clock.advance(2000);
    expect(await statusOf(who(bearer('opaque')))).toBe(401);
    expect(asked(authority.log)).toBe(2);
  });

  it('is not kept beyond its end, and a refusal for 5 s', async () => {
    const { authority, who, clock, active } = await stage();
    authority.opaque.set('short', active({ exp: Math.floor(clock.now() / 1000) + 10 }));
    expect(await who(bearer('short'))).toBe(`jwt:${authority.issuer}|ada`);
    clock.advance(11_000);
    expect(await statusOf(who(bearer('short')))).toBe(401);
    expect(asked(authority.log)).toBe(2);
    clock.advance(4000);
    await who(bearer('short'));
    expect(asked(authority.log)).toBe(2);
    clock.advance(1500);
    await who(bearer('short'));
    expect(asked(authority.log)).toBe(3);
  });

  it('is 503 while the endpoint is away, which is asked once a second, and comes back', async () => {
    const { authority, who, clock, active, warnings } = await stage();
    authority.opaque.set('one', active());
    authority.opaque.set('two', active());
    expect(await who(bearer('one'))).toBe(`jwt:${authority.issuer}|ada`);
    authority.fail(503);
    // What is known stays good.
    expect(await who(bearer('one'))).toBe(`jwt:${authority.issuer}|ada`);
    for (let count = 0; count < 5; count += 1) expect(await who(bearer('two'))).toEqual([503, undefined]);
    expect(asked(authority.log)).toBe(2);
    authority.fail(undefined);
    clock.advance(1001);
    expect(await who(bearer('two'))).toBe(`jwt:${authority.issuer}|ada`);
    expect(warnings).toEqual([
      expect.stringMatching(/^tokens cannot be checked, and are refused until they can be: .*HTTP 503$/),
      'the introspection endpoint answers again',
    ]);
  });

  it('stands as long as the authorization server says so', async () => {
    const { authority, clock, active, authServers } = await stage();
    const { authenticate } = createAuthenticate({ authServers, clock });
    authority.opaque.set('opaque', active({ exp: Math.floor(clock.now() / 1000) + 3600 }));
    const verdict = await authenticate({
      method: 'POST',
      target: '/mcp',
      header: (name) => (name === 'authorization' ? 'Bearer opaque' : undefined),
    });
    const { standing } = verdict as { standing(): Promise<string> };
    expect(await standing()).toBe('good');
    authority.opaque.delete('opaque');
    clock.advance(31_000);
    expect(await standing()).toBe('revoked');
  });
});

describe('a flood of random tokens', () => {
  /** What the gateway answers to a token that comes from an address. */
  async function flooded() {
    const { authority, clock, active, authServers } = await stage();
    const { authenticate } = createAuthenticate({ authServers, clock });
    const ask = async (token: string, remote: string) => {
      const header = (name: string) => (name === 'authorization' ? `Bearer ${token}` : undefined);
      const verdict = await authenticate({ method: 'POST', target: '/mcp', header, remote });
      return verdict && typeof verdict === 'object' && 'status' in verdict ? verdict.status : 200;
    };
    const many = (count: number, remote: string, name = 'random') =>
      Promise.all(Array.from({ length: count }, (_, at) => ask(`${name}-${at}`, remote)));
    return { authority, clock, active, ask, many };
  }

  it('of one address is not noticed by a caller of another, whose token is new', async () => {
    const { authority, active, ask, many } = await flooded();
    authority.opaque.set('victim', active());
    await ask('first', '10.0.0.1');
    const flood = many(1000, '10.9.9.9');
    expect(await ask('victim', '10.0.0.1')).toBe(200);
    const statuses = await flood;
    // So many are asked about; the others are told to come back.
    expect(statuses.filter((status) => status === 401).length).toBe(100);
    expect(statuses.filter((status) => status === 503).length).toBe(900);
    expect(asked(authority.log)).toBe(102);
  });

  it('is not noticed by a caller of the same address whose token was good before', async () => {
    const { authority, clock, active, ask, many } = await flooded();
    authority.opaque.set('victim', active());
    expect(await ask('victim', '10.9.9.9')).toBe(200);
    clock.advance(31_000);
    const flood = many(1000, '10.9.9.9');
    expect(await ask('victim', '10.9.9.9')).toBe(200);
    await flood;
  });

  it('of one client behind a trusted proxy is not noticed by another, whose address it invents', async () => {
    const { authority, clock, active, authServers } = await stage();
    const { who } = await guarded({ authServers, clock }, { trustProxy: ['loopback'] });
    authority.opaque.set('victim', active());
    const from = (hops: string, token: string) => who({ ...bearer(token), 'x-forwarded-for': hops });
    const flood = await Promise.all(
      Array.from({ length: 120 }, (_, at) => from('203.0.113.7, 203.0.113.9', `random-${at}`)),
    );
    const statuses = flood.map(([status]) => status);
    expect(statuses.filter((status) => status === (503 as never)).length).toBe(20);
    expect(await from('203.0.113.7', 'victim')).toBe(`jwt:${authority.issuer}|ada`);
  });

  it('takes nothing from what is known of good tokens', async () => {
    const { authority, clock, active, ask, many } = await flooded();
    authority.opaque.set('victim', active());
    await ask('victim', '10.0.0.1');
    for (let round = 0; round < 4; round += 1) {
      await many(100, '10.9.9.9', `round-${round}`);
      clock.advance(1000);
    }
    const before = asked(authority.log);
    expect(await ask('victim', '10.0.0.1')).toBe(200);
    expect(asked(authority.log)).toBe(before);
  });

  it.each([400, 413, 414])('that the server cannot read (%i) keeps no other caller out', async (status) => {
    const { authority, active, ask } = await flooded();
    authority.opaque.set('victim', active());
    await ask('first', '10.0.0.1');
    authority.fail(status);
    expect(await ask('unreadable', '10.9.9.9')).toBe(401);
    authority.fail(undefined);
    expect(await ask('victim', '10.0.0.1')).toBe(200);
  });

  it('that are not tokens (RFC 6750, §2.1) is not sent to the server', async () => {
    const { authority, ask } = await flooded();
    for (const token of ['a b', 'a"b', 'é', 'x'.repeat(9000)]) expect(await ask(token, '10.9.9.9')).toBe(401);
    expect(asked(authority.log)).toBe(0);
  });
});

it('what is known of 10,000 tokens takes at most 32 MiB, and of tokens that are not active 10,000 are known', async () => {
  const clock = new FakeClock();
  const claims = { active: true, sub: 'ada', note: 'x'.repeat(4000) };
  let isActive = true;
  const http = { send: async () => Response.json(isActive ? claims : { active: false }) };
  const known = new KnownTokens({ introspection: CLIENT, http, clock, warn: () => {} });
  const server = { issuer: 'https://a', introspectionEndpoint: 'https://a/introspect' };
  const learn = async (count: number, name: string) => {
    for (let at = 0; at < count; at += 1) {
      if (at % 100 === 0) clock.advance(1000);
      await known.stateOf({ token: `${name}-${at}`, remote: '10.0.0.1' }, server as never);
    }
  };
  await learn(9000, 'good');
  expect(known.size.bytes).toBeLessThanOrEqual(32 * 1024 * 1024);
  expect(known.size.active).toBeGreaterThan(7000);
  isActive = false;
  const before = known.size.active;
  await learn(10_100, 'bad');
  expect(known.size).toMatchObject({ active: before, inactive: 10_000 });
});

it('a token that is bound to a key is no bearer token (RFC 9449, RFC 8705)', async () => {
  const { authority, who, active } = await stage();
  const cnf = { jkt: 'thumbprint' };
  const refused = [
    401,
    'Bearer error="invalid_token", error_description="The token is bound to a key; bearer tokens are accepted here"',
  ];
  authority.opaque.set('bound', active({ cnf }));
  expect(await who(bearer('bound'))).toEqual(refused);
  expect(await who(bearer(await authority.token({ aud: RESOURCE, cnf })))).toEqual(refused);
});

it('a JWT of the same server is not asked about', async () => {
  const { authority, who } = await stage();
  expect(await who(bearer(await authority.token({ aud: RESOURCE })))).toBe(`jwt:${authority.issuer}|ada`);
  expect(asked(authority.log)).toBe(0);
});
