/** Our login at servers of the official SDK, which guard themselves with the helpers of that SDK. */
import { connect, http, memoryLoginStore, oauth } from '@isthmus/sdk';
import { describe, expect, it, onTestFinished } from 'vitest';
import { browse, startAuthorizationServer } from '../../support/authorization-server.js';
import { guardedV1, guardedV2 } from './official-servers.js';

async function login(url: string, mode: 'legacy' | 'modern') {
  const pages: URL[] = [];
  const store = memoryLoginStore();
  const open = (page: URL) => {
    pages.push(page);
    void browse(page);
  };
  const auth = oauth({ open, store });
  const client = await connect(http(url, { auth }), { mode, cache: false });
  onTestFinished(() => client.close());
  const read = async () => (await client.callTool('read')).content;
  return { client, pages, store, read, status: async () => (await auth.login(url)).status() };
}

const READ = [{ type: 'text', text: 'read' }];
const WRITTEN = [{ type: 'text', text: 'written' }];

describe('a server of version 1 with mcpAuthRouter and requireBearerAuth', () => {
  it('login, call, renewal and more scopes, in one legacy session', async () => {
    const { url, statuses, provider } = await guardedV1();
    const { client, pages, read, status } = await login(url, 'legacy');
    expect(await read()).toEqual(READ);
    expect(pages).toHaveLength(1);
    expect(pages[0]!.searchParams.get('resource')).toBe(url);
    expect(pages[0]!.searchParams.get('scope')).toBe('mcp:read');
    expect(await status()).toMatchObject({ state: 'valid', issuer: `${new URL(url).origin}/` });
    provider.expire();
    expect(await Promise.all([read(), read(), read()])).toEqual([READ, READ, READ]);
    expect([provider.refreshes, pages.length]).toEqual([1, 1]);
    expect((await client.callTool('write')).content).toEqual(WRITTEN);
    expect(pages[1]!.searchParams.get('scope')).toBe('mcp:read mcp:write');
    expect(statuses.filter((code) => code === 403)).toEqual([403]);
    expect(await read()).toEqual(READ);
    expect(pages).toHaveLength(2);
  });
});

describe('a server of version 2 with oauthMetadataResponse and requireBearerAuth', () => {
  it('login, call, renewal, more scopes, and a token of another server', async () => {
    const authorization = await startAuthorizationServer();
    onTestFinished(() => authorization.close());
    const { url, statuses } = await guardedV2(authorization);
    const { client, pages, read, store } = await login(url, 'modern');
    expect(await read()).toEqual(READ);
    expect(pages).toHaveLength(1);
    const [{ record } = { record: undefined }] = await store.list();
    await authorization.expire(record!.token!.access);
    expect(await Promise.all([read(), read(), read()])).toEqual([READ, READ, READ]);
    const refreshes = () => authorization.log.filter((line) => line === 'POST /token refresh_token');
    expect([refreshes().length, pages.length]).toEqual([1, 1]);
    expect((await client.callTool('write')).content).toEqual(WRITTEN);
    expect(statuses.filter((code) => code === 403)).toEqual([403]);
    expect(pages).toHaveLength(2);
    // A second server with the same authorization server: each has a token of its own.
    const other = await guardedV2(authorization);
    const second = await login(other.url, 'modern');
    expect(await second.read()).toEqual(READ);
    const token = (await store.list())[0]!.record.token!.access;
    const foreign = await fetch(other.url, { method: 'POST', headers: { authorization: `Bearer ${token}` } });
    expect(foreign.status).toBe(401);
  });
});
