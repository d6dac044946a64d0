import { generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { type AddressInfo, createServer as createSocketServer } from 'node:net';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { freshFolder } from '../../packages/gateway/test/support/open-gateway.js';
import { serveFile } from '../../packages/gateway/test/support/serve-file.js';
import { eventually } from '../support/until.js';

/** Something inside of the network. It counts who connects. Systems take 0.0.0.0 for themselves, and it is no loopback address. */
async function canary() {
  let connections = 0;
  const server = createSocketServer((socket) => {
    connections += 1;
    socket.destroy();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  return { url: `https://0.0.0.0:${(server.address() as AddressInfo).port}`, heard: () => connections };
}

/** A server that wants a token, and leads to the canary in one of several ways. */
async function hostile(way: string, target: string) {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(`${request.method} ${request.url}`);
    request.resume();
    const path = request.url ?? '';
    const send = (status: number, headers: Record<string, string>, body: object = {}) =>
      response
        .writeHead(status, { 'content-type': 'application/json', ...headers })
        .end(JSON.stringify(body));
    const resource = {
      resource: `${origin}/mcp`,
      authorization_servers: [way === 'issuer' ? target : origin],
    };
    if (path.startsWith('/.well-known/oauth-protected-resource')) {
      return way === 'redirect' ? send(302, { location: `${target}/metadata` }) : send(200, {}, resource);
    }
    if (path.startsWith('/.well-known/')) {
      if (way === 'redirect of the issuer') return send(302, { location: `${target}/metadata` });
      const endpoints = {
        authorization_endpoint: `${target}/authorize`,
        token_endpoint: `${target}/token`,
        code_challenge_methods_supported: ['S256'],
      };
      return send(200, {}, { issuer: origin, ...endpoints });
    }
    const named = way === 'challenge' ? ` resource_metadata="${target}/metadata"` : '';
    send(401, { 'www-authenticate': `Bearer${named}` });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { url: `${origin}/mcp`, asked };
}

it('AUTH-G-011: servers behind isthmus serve that lead to an address inside of the network learn nothing, and the status says why', async () => {
  const there = await canary();
  const ways = ['challenge', 'redirect', 'issuer', 'redirect of the issuer', 'endpoints'];
  const upstreams = await Promise.all(ways.map((way) => hostile(way, there.url)));
  // With client credentials the gateway asks for a token by itself, as soon as the server wants one.
  const auth = { mode: 'client-credentials', clientId: 'gateway', privateKeyFile: keyFile() };
  const mcpServers = Object.fromEntries(
    ways.map((way, at) => [way.replaceAll(' ', '-'), { url: upstreams[at]!.url, auth }]),
  );
  const served = await serveFile({ mcpServers });
  await eventually(async () => {
    const { servers } = await served.status();
    for (const [name, { reason }] of Object.entries(servers)) {
      expect([name, reason]).toEqual([name, expect.stringContaining('0.0.0.0 is a private address')]);
    }
  });
  for (const { asked } of upstreams) expect(asked.length).toBeGreaterThan(1);
  expect(there.heard()).toBe(0);
});

function keyFile(): string {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const file = join(freshFolder(), 'key.pem');
  writeFileSync(file, privateKey.export({ type: 'pkcs8', format: 'pem' }));
  return file;
}
