import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { FakeClock } from '../../../../test/support/fake-clock.js';
import { modernCall } from '../../../sdk/test/support/http-server.js';
import type { AuditRecord } from '../../src/audit/audit-record.js';
import { RefusalLog } from '../../src/audit/refusal-log.js';
import { createAuthenticate } from '../../src/auth/create-authenticate.js';
import { AUDIENCE, bearer, ISSUER, openAuthority } from '../support/auth.js';
import { freshFolder } from '../support/open-gateway.js';
import { as, scopedHouse } from '../support/scoped-tokens.js';

const NOW = Math.floor(Date.now() / 1000);

describe('refused requests in the audit log', () => {
  it('have who, as far as it is known, why, and the id that the client got; never the token', async () => {
    const authority = await openAuthority();
    const { jwksUrl } = authority;
    const jwt = { jwksUrl, audience: AUDIENCE, issuer: ISSUER, requiredScopes: ['mcp:read'] };
    const file = join(freshFolder(), 'audit.jsonl');
    const house = await scopedHouse({}, { audit: { file }, endpoint: createAuthenticate({ jwt }) });
    const tokens = [
      await authority.token({ exp: NOW - 60, azp: 'desk' }),
      await authority.token({ aud: 'https://other.example' }),
      `${(await authority.token()).slice(0, -9)}AAAAAAAAA`,
      await authority.token({ scope: 'mcp:write' }),
      'not-a-token-of-anybody',
    ];
    const ids: unknown[] = [];
    for (const headers of [{}, ...tokens.map((token) => bearer(token))]) {
      const { json } = await house.ask('/mcp/files', modernCall(1, 'read_one', {}, { headers }));
      ids.push((json.error?.data as { correlationId?: string } | undefined)?.correlationId);
    }
    await house.operation.close();
    const text = readFileSync(file, 'utf8');
    const lines: AuditRecord[] = text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    const ada = 'jwt:https://login.example.com|ada';
    const shown = lines.map(({ principal, clientId, server, outcome, error }) => [
      ...[principal, clientId, server, outcome, error],
    ]);
    expect(shown).toEqual([
      [undefined, undefined, 'files', 'unauthenticated', 'No credentials were sent'],
      [ada, 'desk', 'files', 'unauthenticated', 'The token has expired'],
      [ada, undefined, 'files', 'unauthenticated', 'The claim aud does not fit'],
      // The signature is wrong, so nothing that it says is known.
      [undefined, undefined, 'files', 'unauthenticated', 'The token cannot be verified'],
      ...[
        [
          ada,
          undefined,
          'files',
          'insufficient_scope',
          'The token has not the scopes that every caller needs',
        ],
      ],
      [undefined, undefined, 'files', 'unauthenticated', 'The credentials are not known here'],
    ]);
    expect(lines.map(({ correlationId }) => correlationId)).toEqual(ids);
    expect(lines[4]?.scopes).toEqual(['mcp:read']);
    for (const token of tokens) expect(text).not.toContain(token.split('.').at(-1));
  });

  it('have those of pages of other sites', async () => {
    const file = join(freshFolder(), 'audit.jsonl');
    const house = await scopedHouse({}, { audit: { file } });
    const headers = { ...as('ada/').headers, origin: 'https://evil.example' };
    const { status } = await house.ask('/mcp/files', modernCall(1, 'read_one', {}, { headers }));
    await house.operation.close();
    const { outcome, error } = JSON.parse(readFileSync(file, 'utf8')) as AuditRecord;
    expect([status, outcome, error]).toEqual([403, 'denied', 'Pages of this origin may not call']);
  });

  it.each([
    [['loopback'], '203.0.113.9'],
    [['10.0.0.0/8'], '127.0.0.1'],
  ])(
    'have the client that a proxy names, as calls do, if the proxy is trusted (%j)',
    async (trustProxy, remote) => {
      const file = join(freshFolder(), 'audit.jsonl');
      const house = await scopedHouse({}, { audit: { file }, endpoint: { trustProxy } });
      const forwarded = { 'x-forwarded-for': '198.51.100.1, 203.0.113.9' };
      for (const credential of [as('ada/').headers, {}]) {
        const headers = { ...credential, ...forwarded };
        await house.ask('/mcp/files', modernCall(1, 'read_one', {}, { headers }));
        await house.ask('/mcp/nothing', modernCall(1, 'read_one', {}, { headers }));
      }
      await house.operation.close();
      const lines = readFileSync(file, 'utf8').trim().split('\n');
      const shown = lines.map((line) => JSON.parse(line) as AuditRecord);
      expect(shown.map((each) => [each.outcome, each.remote, each.count])).toEqual([
        ['ok', remote, undefined],
        ['unauthenticated', remote, undefined],
        ['unauthenticated', remote, 1],
      ]);
    },
  );

  it('are the same for a path without a server, so that names cannot be found out', async () => {
    const house = await scopedHouse({ scopes: { all: ['mcp:read'] } });
    const challengeAt = async (path: string) =>
      String((await house.ask(path, modernCall(1, 'read_one'))).headers['www-authenticate']);
    const [real, none] = [await challengeAt('/mcp/files'), await challengeAt('/mcp/nothing')];
    expect(real).toContain('scope="mcp:read"');
    expect(none.replace('nothing', 'files')).toBe(real);
  });
});

describe('a flood of refusals', () => {
  const nothing = { clientId: undefined, server: 'files', method: undefined, prompt: undefined };
  const refused = (more: Partial<AuditRecord>): AuditRecord => ({
    ...{ time: '', correlationId: 'x', principal: undefined, remote: '10.0.0.1', tool: undefined },
    ...{ ...nothing, uri: undefined, outcome: 'unauthenticated', error: 'expired', scopes: undefined },
    durationMs: undefined,
    ...more,
  });
  const stage = () => {
    const clock = new FakeClock();
    const written: AuditRecord[] = [];
    return { clock, written, log: new RefusalLog(clock, (record) => written.push(record)) };
  };

  it('is counted per address and reason for a second, under the id of the first', () => {
    const { clock, written, log } = stage();
    const ids = Array.from({ length: 1000 }, (_, at) => log.add(refused({ correlationId: `id-${at}` })));
    expect(new Set(ids)).toEqual(new Set(['id-0']));
    expect(written).toHaveLength(1);
    clock.advance(1000);
    expect(written.map(({ correlationId, count }) => [correlationId, count])).toEqual([
      ['id-0', undefined],
      ['id-0', 999],
    ]);
    expect(log.add(refused({ correlationId: 'later' }))).toBe('later');
    expect(written).toHaveLength(3);
  });

  it('gets one id for all servers, so that callers cannot find out which there are', () => {
    const { log } = stage();
    const ids = ['files', undefined, 'mail'].map((server, at) =>
      log.add(refused({ server, correlationId: `id-${at}` })),
    );
    expect(ids).toEqual(['id-0', 'id-0', 'id-0']);
  });

  it('of many addresses and names writes a bounded number of lines, and does not hide a known caller', () => {
    const { clock, written, log } = stage();
    for (let at = 0; at < 5000; at += 1) {
      log.add(refused({ remote: `10.0.${at % 100}.${at % 250}`, error: `reason ${at % 50}` }));
      log.add(refused({ principal: 'key:flood', outcome: 'denied', tool: `tool-${at}` }));
    }
    log.add(refused({ principal: 'key:ada', outcome: 'denied', tool: 'delete_one' }));
    clock.advance(1000);
    const lines = (isFrom: (record: AuditRecord) => boolean) => written.filter(isFrom).length;
    expect(lines(({ principal }) => principal === undefined)).toBeLessThanOrEqual(162);
    expect(lines(({ principal }) => principal === 'key:flood')).toBe(22);
    expect(lines(({ principal, tool }) => principal === 'key:ada' && tool === 'delete_one')).toBe(1);
    // Each one is counted.
    const total = written.reduce((sum, { count = 1 }) => sum + count, 0);
    expect(total).toBe(10_001);
  });
});
