import { connect, http, oauth } from '@isthmus/sdk';
import { systemClock } from '@isthmus/sdk/internal/async/clock.js';
import { describe, expect, it, onTestFinished } from 'vitest';
import {
  type AuthorizationServerOptions,
  browse,
  startAuthorizationServer,
} from '../../../../test/support/authorization-server.js';
import { startProtectedServer } from '../../../../test/support/protected-server.js';
import type { OAuthOptions } from '../../src/oauth/options.js';

async function stage(options: AuthorizationServerOptions = {}) {
  const authorization = await startAuthorizationServer(options);
  onTestFinished(() => authorization.close());
  const server = await startProtectedServer(authorization);
  onTestFinished(() => server.close());
  return { authorization, server };
}

async function connectTo(url: string, options: OAuthOptions = {}) {
  const pages: Promise<{ status: number; text: string }>[] = [];
  const auth = oauth({ open: (page) => void pages.push(browse(page)), ...options });
  const client = await connect(http(url, { auth }), { mode: 'modern', cache: false });
  onTestFinished(() => client.close());
  return { client, auth, pages };
}

describe('a login at a real authorization server', () => {
  it('registers, asks the user once, and the page says success after the token was got', async () => {
    const { authorization, server } = await stage();
    const { client, pages, auth } = await connectTo(server.url);
    expect((await client.callTool('read')).content).toEqual([{ type: 'text', text: 'read' }]);
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

  it('asks for more scopes when a tool needs them, with what was asked for before', async () => {
    const { server } = await stage();
    const { client, pages, auth } = await connectTo(server.url);
    expect((await client.callTool('write')).content).toEqual([{ type: 'text', text: 'written' }]);
    expect(pages).toHaveLength(2);
    const { scopes } = await (await auth.login(server.url)).status();
    expect(scopes).toEqual(expect.arrayContaining(['mcp:read', 'mcp:write']));
    expect(server.log).toEqual(['401', '200', '403', '200']);
  });

  it('renews a token that has expired once for 50 calls at the same time', async () => {
    const { authorization, server } = await stage({ accessTokenTtl: 3600 });
    let later = 0;
    const clock = { ...systemClock, now: () => Date.now() + later };
    const { client, pages } = await connectTo(server.url, { clock });
    await client.callTool('read');
    later = 3_600_000;
    server.log.length = 0;
    await Promise.all(Array.from({ length: 50 }, () => client.callTool('read')));
    expect(pages).toHaveLength(1);
    expect(authorization.log.filter((line) => line === 'POST /token refresh_token')).toHaveLength(1);
    expect(server.log.filter((line) => line !== '200')).toEqual([]);
  });
});
