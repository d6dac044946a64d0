/** A remote server whose tokens are got in exchange for those of the callers (RFC 8693), at a real authorization server. */
import type { Authenticate, Grant } from '@isthmus/sdk/internal/transport/http-server/options.js';
import { describe, expect, it } from 'vitest';
import { modern, modernCall } from '../../../sdk/test/support/http-server.js';
import { bearer } from '../support/auth.js';
import { connectV1, connectV2 } from '../support/official-clients.js';
import {
  CLIENT_SECRET,
  company,
  companyHouse,
  EXCHANGE_CLIENT,
  remote,
  upstreamStage,
} from '../support/personal-stage.js';
import { KEYS, openHouse } from '../support/secured-gateway.js';
import { openFar, withTools } from '../support/upstream.js';

async function exchangeStage({ accessTokenTtl = 60 } = {}) {
  const us = await company();
  const stage = await upstreamStage({ clients: [EXCHANGE_CLIENT], exchange: us.ownerOf, accessTokenTtl });
  const { issuer } = stage.authorization;
  const auth = { mode: 'token-exchange', clientId: 'gateway', clientSecret: CLIENT_SECRET, issuer } as const;
  const unit = remote('issues', stage.server.url, auth);
  const exchanges = () => stage.authorization.log.filter((line) => line.includes('token-exchange')).length;
  return { us, ...stage, unit, exchanges };
}

describe('token exchange', () => {
  it('gives each principal its own token, for official clients of both eras, and asks once for many calls', async () => {
    const { us, unit, server, exchanges } = await exchangeStage();
    const house = await companyHouse(us, [unit]);
    const alice = await us.tokenOf('alice');
    const bob = await us.tokenOf('bob');
    const clients = await Promise.all([
      connectV1(house.at('/mcp/issues'), bearer(alice)),
      connectV2(house.at('/mcp/issues'), bearer(alice)),
      connectV1(house.at('/mcp/issues'), bearer(bob)),
      connectV2(house.at('/mcp/issues'), bearer(bob)),
    ]);
    const calls = clients.flatMap((client, at) =>
      Array.from({ length: 5 }, async () => [at < 2 ? 'alice' : 'bob', await client.call('whoami')]),
    );
    for (const [owner, told] of await Promise.all(calls)) expect(told).toBe(owner);
    expect(exchanges()).toBe(2);
    // AUTH-G-001: the tokens for the gateway stay at the gateway.
    for (const token of us.tokens) expect(server.received()).not.toContain(token);
    expect(server.received()).not.toContain(CLIENT_SECRET);
    const status = await house.operation.gateway.status();
    expect(status.servers['issues']).toMatchObject({
      state: 'ready',
      logins: [
        { principal: 'jwt:https://login.example.com|alice', state: 'valid' },
        { principal: 'jwt:https://login.example.com|bob', state: 'valid' },
      ],
    });
  });

  it('uses a token only for calls with the token that it was got for', async () => {
    const { us, unit, exchanges, authorization } = await exchangeStage();
    const house = await companyHouse(us, [unit]);
    const narrow = await us.tokenOf('alice', { scope: 'read' });
    const wide = await us.tokenOf('alice', { scope: 'read write' });
    const url = house.at('/mcp/issues');
    const [one, two] = await Promise.all([connectV2(url, bearer(narrow)), connectV2(url, bearer(wide))]);
    const rounds = Array.from({ length: 10 }, () => [one.call('whoami'), two.call('whoami')]).flat();
    expect(new Set(await Promise.all(rounds))).toEqual(new Set(['alice']));
    expect(exchanges()).toBe(2);
    expect(new Set(authorization.subjects())).toEqual(new Set([narrow, wide]));
  });

  it('is done for a list at the address of all servers that is the first request of all', async () => {
    const { us, unit, exchanges } = await exchangeStage();
    const far = await openFar(withTools('elsewhere'));
    const house = await companyHouse(us, [unit, far.unit('other', { stateless: true })]);
    const headers = bearer(await us.tokenOf('alice'));
    const { json } = await house.ask('/mcp', modern(1, 'tools/list', {}, { headers }));
    const names = json.result.tools.map(({ name }: { name: string }) => name);
    expect(names).toEqual(['issues__read', 'issues__write', 'issues__whoami', 'other__elsewhere']);
    expect(exchanges()).toBe(1);
  });

  it('is not done for a caller without the scope that all need: nothing reaches a server in its name', async () => {
    const { us, unit, exchanges } = await exchangeStage();
    const far = await openFar(withTools('elsewhere'));
    const gate: Authenticate = async (request) => {
      const known = (await us.authenticate(request)) as Grant;
      const requiredScopes = ['gw:use'];
      if (known.scopes?.includes('gw:use')) return { ...known, requiredScopes };
      return { status: 403, scopes: requiredScopes, grant: { ...known, requiredScopes } };
    };
    const house = await openHouse([unit, far.unit('other', { stateless: true })], {
      access: { scopes: { readOnly: [], other: ['write'] } },
      endpoint: { authenticate: gate },
    });
    const [out, inside] = [await us.tokenOf('alice'), await us.tokenOf('alice', { scope: 'gw:use' })];
    const ask = async (path: string, tool: string, token: string) => {
      const { status, headers } = await house.ask(path, modernCall(1, tool, {}, { headers: bearer(token) }));
      return [status, /scope="([^"]*)"/.exec(String(headers['www-authenticate']))?.[1]];
    };
    expect(await ask('/mcp/issues', 'read', out)).toEqual([403, 'gw:use write']);
    expect(await ask('/mcp', 'issues__read', out)).toEqual([403, 'gw:use write']);
    expect(await ask('/mcp', 'whoami', out)).toEqual([403, 'gw:use']);
    expect(exchanges()).toBe(0);
    expect(await ask('/mcp', 'whoami', inside)).toEqual([403, 'gw:use write']);
    expect(exchanges()).toBe(1);
  });

  it('asks once more for a server that wants more scopes, and renews a token that ends', async () => {
    const { us, unit, exchanges, authorization, server } = await exchangeStage({ accessTokenTtl: 3 });
    const house = await companyHouse(us, [unit]);
    const client = await connectV2(house.at('/mcp/issues'), bearer(await us.tokenOf('alice')));
    expect(await client.call('write')).toBe('written');
    expect(exchanges()).toBe(2);
    const used = /authorization: Bearer ([\w-]+)\r\n(?![\s\S]*authorization: )/i.exec(server.received())![1]!;
    await authorization.expire(used);
    expect(await client.call('read')).toBe('read');
    expect(exchanges()).toBe(3);
  });

  it('that is refused is an error of the gateway and the status of that caller, without the token, and not asked for with every call', async () => {
    const { us, unit, exchanges } = await exchangeStage();
    const house = await companyHouse(us, [unit]);
    const good = await connectV2(house.at('/mcp/issues'), bearer(await us.tokenOf('alice')));
    expect(await good.call('whoami')).toBe('alice');
    const client = await connectV2(house.at('/mcp/issues'), bearer(await us.tokenOf('mallory')));
    const token = us.tokens.pop()!;
    for (let at = 0; at < 3; at += 1) {
      const failure = await client.call('whoami').catch((error: unknown) => error);
      expect(failure).toMatchObject({
        code: -32603,
        message: expect.stringContaining(
          'did not exchange the token of the caller: invalid_grant: [hidden] is not a good token',
        ),
      });
    }
    expect(exchanges()).toBe(2);
    const status = JSON.stringify(await house.operation.gateway.status());
    expect(status).toContain('"principal":"jwt:https://login.example.com|mallory","state":"needs-login"');
    expect(status + house.logged()).not.toContain(token);
    expect(await good.call('whoami')).toBe('alice');
  });

  it('never sends a key of the gateway to an authorization server', async () => {
    const { unit, authorization } = await exchangeStage();
    const house = await openHouse([unit], { keys: KEYS });
    const headers = { authorization: `Bearer ${KEYS[0]!.key}` };
    await expect(connectV1(house.at('/mcp/issues'), headers)).rejects.toThrow(
      'issues needs the token of its caller for an exchange, and key:alice has none',
    );
    expect(authorization.log.filter((line) => line.startsWith('POST'))).toEqual([]);
  });
});
