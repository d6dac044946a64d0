import { generateKeyPairSync } from 'node:crypto';
import { mkdtemp, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileLoginStore, memoryLoginStore } from '@isthmus/sdk';
import { systemClock } from '@isthmus/sdk/internal/async/clock.js';
import { describe, expect, it, onTestFinished } from 'vitest';
import { startAuthorizationServer } from '../../../../test/support/authorization-server.js';
import { fixture, startChild } from '../../../../test/support/child.js';
import { connectTo, realStage } from '../../../../test/support/login-stage.js';

const READ = [{ type: 'text', text: 'read' }];
const refreshes = (log: readonly string[]) => log.filter((line) => line === 'POST /token refresh_token');

function laterClock() {
  const time = { later: 0 };
  return { time, clock: { ...systemClock, now: () => Date.now() + time.later } };
}

describe('a login at a real authorization server', () => {
  it('registers, asks the user once, and the page says success after the token was got', async () => {
    const { authorization, server } = await realStage();
    const { client, pages, auth } = await connectTo(server.url);
    expect((await client.callTool('read')).content).toEqual(READ);
    expect(pages).toHaveLength(1);
    const page = await pages[0]!;
    expect([page.status, page.text.includes('You are logged in')]).toEqual([200, true]);
    expect(authorization.log.filter((line) => line.startsWith('POST'))).toEqual([
      'POST /reg',
      'POST /token authorization_code',
    ]);
    const status = await (await auth.login(server.url)).status();
    expect(status).toMatchObject({ state: 'valid', issuer: authorization.issuer, isRenewable: true });
  });

  it('uses the document of deploy/ that describes the client, and registers none (AUTH-C-031, AUTH-C-038)', async () => {
    const { authorization, server } = await realStage();
    const clientMetadataUrl = 'https://app.example/client.json';
    // The document for people who host it: only its own address is theirs.
    const file = new URL('../../../../deploy/client-metadata.json', import.meta.url);
    const document = JSON.parse(await readFile(file, 'utf8')) as Record<string, unknown>;
    expect(document['client_id']).toMatch(/^https:\/\/[^/]+\/.+/);
    expect(document['grant_types']).toContain('refresh_token');
    authorization.publish(clientMetadataUrl, { ...document, client_id: clientMetadataUrl });
    const { client, auth } = await connectTo(server.url, { clientMetadataUrl });
    expect((await client.callTool('read')).content).toEqual(READ);
    expect(authorization.log).not.toContain('POST /reg');
    expect((await (await auth.login(server.url)).status()).clientId).toBe(clientMetadataUrl);
  });

  it('with scopes of the program: the registration does not limit what is asked for', async () => {
    const { server } = await realStage();
    const { client, pages } = await connectTo(server.url, { scopes: ['mcp:write'] });
    expect((await client.callTool('write')).content).toEqual([{ type: 'text', text: 'written' }]);
    expect((await client.callTool('read')).content).toEqual(READ);
    expect(pages).toHaveLength(1);
  });

  it('asks for more scopes when a tool needs them, with what was asked for before', async () => {
    const { server } = await realStage();
    const { client, pages, auth } = await connectTo(server.url);
    expect((await client.callTool('write')).content).toEqual([{ type: 'text', text: 'written' }]);
    expect(pages).toHaveLength(2);
    const { scopes } = await (await auth.login(server.url)).status();
    expect(scopes).toEqual(expect.arrayContaining(['mcp:read', 'mcp:write']));
    expect(server.log).toEqual(['401', '200', '403', '200']);
  });
});

describe('clients that were registered before', () => {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
  const base = {
    application_type: 'native',
    redirect_uris: ['http://localhost/callback'],
    grant_types: ['authorization_code', 'refresh_token', 'client_credentials'],
    response_types: ['code'],
  };
  const secret = 'a:b%c d+e-f';
  const clients = [
    {
      ...base,
      grant_types: base.grant_types.slice(0, 2),
      client_id: 'none',
      token_endpoint_auth_method: 'none',
    },
    {
      ...base,
      client_id: 'basic:1',
      client_secret: secret,
      token_endpoint_auth_method: 'client_secret_basic',
    },
    { ...base, client_id: 'post', client_secret: secret, token_endpoint_auth_method: 'client_secret_post' },
    {
      ...base,
      client_id: 'key',
      token_endpoint_auth_method: 'private_key_jwt',
      jwks: { keys: [{ ...publicKey.export({ format: 'jwk' }), kid: 'k1', use: 'sig', alg: 'ES256' }] },
    },
  ];
  const key = { privateKey: { pem, algorithm: 'ES256', keyId: 'k1' } };

  it.each([
    ['none', {}, undefined],
    ['basic:1', { clientSecret: secret }, undefined],
    ['post', { clientSecret: secret }, ['client_secret_post']],
    ['key', key, undefined],
  ])('%s: a login and a renewal', async (clientId, means, methods) => {
    const { authorization, server } = await realStage({ clients, ...(methods && { authMethods: methods }) });
    const { time, clock } = laterClock();
    const { issuer } = authorization;
    const { client } = await connectTo(server.url, { clientId, issuer, ...means, clock });
    time.later = 3_600_000;
    expect((await client.callTool('read')).content).toEqual(READ);
    expect(authorization.log.filter((line) => line.startsWith('POST'))).toEqual([
      'POST /token authorization_code',
      'POST /token refresh_token',
    ]);
  });

  it.each([
    ['basic:1', { clientSecret: secret }, undefined],
    ['post', { clientSecret: secret }, ['client_secret_post']],
    ['key', key, undefined],
  ])('%s: client credentials, without a user', async (clientId, means, methods) => {
    const { authorization, server } = await realStage({ clients, ...(methods && { authMethods: methods }) });
    const { issuer } = authorization;
    const grant = 'client-credentials';
    const { client, pages } = await connectTo(server.url, { clientId, issuer, grant, ...means });
    expect((await client.callTool('read')).content).toEqual(READ);
    expect(pages).toEqual([]);
  });
});

describe('refresh tokens that are used once', () => {
  it('renews a token that has expired once for 50 calls at the same time', async () => {
    const { authorization, server } = await realStage({ accessTokenTtl: 3600 });
    const { time, clock } = laterClock();
    const { client, pages } = await connectTo(server.url, { clock });
    await client.callTool('read');
    time.later = 3_600_000;
    server.log.length = 0;
    await Promise.all(Array.from({ length: 50 }, () => client.callTool('read')));
    expect(pages).toHaveLength(1);
    expect(refreshes(authorization.log)).toHaveLength(1);
    expect(server.log.filter((line) => line !== '200')).toEqual([]);
  });

  it('a refresh token that somebody has used before ends the login, once', async () => {
    const { authorization, server } = await realStage();
    const { time, clock } = laterClock();
    const store = memoryLoginStore();
    const { client, auth } = await connectTo(server.url, { clock, store });
    const [{ key, record } = { key: '', record: undefined }] = await store.list();
    time.later = 3_600_000;
    await client.callTool('read');
    await store.write(key, record!);
    await client.close();
    authorization.log.length = 0;
    // The stolen one: a second use ends the whole family.
    const second = connectTo(server.url, { clock, store, open: undefined as never });
    await expect(second).rejects.toMatchObject({ code: 'UNAUTHORIZED', status: 401 });
    await expect(second).rejects.toThrow('invalid_grant');
    expect(refreshes(authorization.log)).toHaveLength(1);
    expect((await (await auth.login(server.url)).status()).state).toBe('needs-login');
  });

  it('8 processes with one store: one refresh, also when the holder of the lock is killed', async () => {
    const { authorization, server } = await realStage();
    const folder = await mkdtemp(join(tmpdir(), 'isthmus-logins-'));
    const store = fileLoginStore(folder);
    await connectTo(server.url, { store });
    const [{ key, record } = { key: '', record: undefined }] = await store.list();
    const now = Date.now();
    const token = { ...record!.token!, expiresAt: now - 1, obtainedAt: now - 10_000 };
    await store.write(key, { ...record!, token });
    const program = fixture('login-process.mjs');
    const killed = startChild(program, { args: [server.url, folder, 'kill'] });
    expect(await killed.ended).toMatchObject({ signal: 'SIGKILL' });
    const all = Array.from({ length: 8 }, () => startChild(program, { args: [server.url, folder] }));
    const ends = await Promise.all(all.map((child) => child.ended));
    expect(all.map((child) => child.stderr).join('')).toBe('');
    expect(ends.map(({ code }) => code)).toEqual(Array(8).fill(0));
    expect(refreshes(authorization.log)).toHaveLength(1);
    expect((await store.read(key))?.token?.generation).toBe(2);
  }, 120_000);
});

describe('authorization servers that change', () => {
  it('one that forgot its clients: a new registration and a new login', async () => {
    const { authorization, server } = await realStage();
    const { time, clock } = laterClock();
    const { client, pages, auth } = await connectTo(server.url, { clock });
    const { clientId } = await (await auth.login(server.url)).status();
    await authorization.forget(clientId!);
    time.later = 3_600_000;
    expect((await client.callTool('read')).content).toEqual(READ);
    expect(pages).toHaveLength(2);
    expect(authorization.log.filter((line) => line === 'POST /reg')).toHaveLength(2);
  });

  it('another one: nothing of the old one is sent there', async () => {
    const { server } = await realStage();
    const { client, auth } = await connectTo(server.url);
    const next = await startAuthorizationServer();
    onTestFinished(() => next.close());
    server.move(next);
    expect((await client.callTool('read')).content).toEqual(READ);
    expect((await (await auth.login(server.url)).status()).issuer).toBe(next.issuer);
    expect(next.log.filter((line) => line.startsWith('POST'))).toEqual([
      'POST /reg',
      'POST /token authorization_code',
    ]);
  });

  it('a logout revokes both tokens', async () => {
    const { authorization, server } = await realStage();
    const store = memoryLoginStore();
    const { auth } = await connectTo(server.url, { store });
    const [stored] = await store.list();
    const { access, refresh } = stored!.record.token!;
    await (await auth.login(server.url)).logout();
    const { AccessToken, RefreshToken } = authorization.provider;
    expect(await AccessToken.find(access)).toBe(undefined);
    expect(await RefreshToken.find(refresh!)).toBe(undefined);
    expect(await store.list()).toEqual([]);
  });
});
