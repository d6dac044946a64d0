import { expect, it } from 'vitest';
import { checkServer } from '../../../src/index.js';
import { readJwt } from '../../../src/tokens/sign-jwt.js';
import { createTokenSet } from '../../../src/tokens/token-set.js';
import { expectCaught, IN_A_HURRY } from '../../support/suites/expect-caught.js';
import { guard, SIGNED } from '../../support/suites/guard.js';
import { small } from '../../support/suites/http-bases.js';
import { proxyTarget } from '../../support/suites/http-proxy.js';
import { httpTokenMutants } from '../mutants/http-tokens.js';

expectCaught('the checks of tokens', httpTokenMutants);

it('AUTH-030, AUTH-031, AUTH-036, AUTH-039: the checks of tokens hold for a server that checks them', async () => {
  const { target, close } = await proxyTarget(guard(), small);
  try {
    const report = await checkServer(target, { ...IN_A_HURRY, tokens: SIGNED, only: ['http-tokens/*'] });
    expect(report.findings.map(({ id, outcome }) => `${outcome} ${id}`)).toEqual([
      'pass http-tokens/good',
      'pass http-tokens/expired',
      'pass http-tokens/foreign-audience',
      'pass http-tokens/no-audience',
      'pass http-tokens/foreign-issuer',
      'pass http-tokens/not-yet-valid',
      'pass http-tokens/changed',
      'pass http-tokens/unsigned',
      'pass http-tokens/strange-key',
      'pass http-tokens/says-invalid-token',
      'pass http-tokens/weak',
      'pass http-tokens/weak-complete',
      'pass http-tokens/broad',
      'pass http-tokens/sessions-apart',
    ]);
    // No token may be in a report, which people publish.
    expect(JSON.stringify(report)).not.toMatch(/eyJ/);
  } finally {
    await close();
  }
});

it('checks with the tokens that were given, without a key', async () => {
  const made = createTokenSet(SIGNED, Date.now);
  const given = { good: made.of('good')!, expired: made.of('expired')!, foreign: made.of('foreign')! };
  const { target, close } = await proxyTarget(guard({ ignores: ['aud'] }), small);
  try {
    const report = await checkServer(target, { ...IN_A_HURRY, tokens: { given }, only: ['http-tokens/*'] });
    const outcomes = Object.fromEntries(report.findings.map(({ id, outcome }) => [id, outcome]));
    expect(outcomes).toMatchObject({
      'http-tokens/good': 'pass',
      'http-tokens/expired': 'pass',
      'http-tokens/foreign-audience': 'fail',
      'http-tokens/changed': 'pass',
      'http-tokens/weak': 'skip',
      'http-tokens/not-yet-valid': 'skip',
    });
  } finally {
    await close();
  }
});

it('does not judge tokens of a server for which none were given', async () => {
  const { target, close } = await small();
  try {
    const report = await checkServer(target, { ...IN_A_HURRY, only: ['http-tokens/*'] });
    expect(new Set(report.findings.map(({ outcome }) => outcome))).toEqual(new Set(['skip']));
  } finally {
    await close();
  }
});

it('makes tokens with one fault each', () => {
  const tokens = createTokenSet(SIGNED, () => 1_000_000_000_000);
  const claims = (kind: Parameters<typeof tokens.of>[0]) => readJwt(tokens.of(kind)!)!.claims;
  expect(claims('good')).toMatchObject({ iat: 1_000_000_000, exp: 1_000_003_600, sub: 'ann' });
  expect(claims('expired')).toMatchObject({ exp: 999_996_400 });
  expect(claims('foreign')).toMatchObject({ aud: 'https://other.example/mcp' });
  expect(claims('no-audience')).not.toHaveProperty('aud');
  expect(claims('weak')).toMatchObject({ scope: 'read' });
  expect(readJwt(tokens.of('unsigned')!)).toMatchObject({ header: { alg: 'none' }, signature: '' });
  expect(readJwt(tokens.of('public-secret')!)).toMatchObject({ header: { alg: 'HS256', kid: 'one' } });
  expect(readJwt(tokens.of('brought-key')!)).toMatchObject({
    header: { alg: 'ES256', kid: 'one', jwk: { kty: 'EC', crv: 'P-256' } },
  });
});
