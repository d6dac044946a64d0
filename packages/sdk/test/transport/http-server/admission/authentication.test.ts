import { connect } from 'node:net';
import { describe, expect, it } from 'vitest';
import { type Context, createServer } from '../../../../src/index.js';
import type { HttpRequestFacts } from '../../../../src/transport/http.js';
import {
  ask,
  initialize,
  legacy,
  modern,
  modernCall,
  open,
  openSession,
  plainServer,
  serveHttp,
} from '../../../support/http-server.js';

const TOKENS: Record<string, string> = { 'Bearer ada': 'ada', 'Bearer bob': 'bob' };
const byToken = (request: HttpRequestFacts) => TOKENS[request.header('Authorization') ?? ''];
const ADA = { authorization: 'Bearer ada' };
const BOB = { authorization: 'Bearer bob' };

function whoServer() {
  const server = createServer({ name: 'who', version: '1' });
  server.tool('who', {}, (_args, ctx: Context) => ctx.peer.principal ?? 'nobody');
  return server;
}

describe('authenticate', () => {
  it('tells handlers of both eras who calls', async () => {
    const { url } = await serveHttp(whoServer(), { authenticate: byToken });
    const modernAnswer = await ask(url, modernCall(1, 'who', {}, { headers: BOB }));
    expect(modernAnswer.json.result?.content).toEqual([{ type: 'text', text: 'bob' }]);
    const session = await openSession(url, { headers: ADA });
    const answer = await session.post({
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name: 'who' },
    });
    expect(answer.json.result?.content).toEqual([{ type: 'text', text: 'ada' }]);
  });

  it('is asked on every request, with what it needs to know', async () => {
    const seen: unknown[] = [];
    const { url } = await serveHttp(plainServer(), {
      authenticate: async (request) => {
        seen.push([request.method, request.target, request.header('X-KEY'), request.header('x-none')]);
        return 'ada';
      },
    });
    await ask(`${url}?tenant=1`, modern(1, 'server/discover', {}, { headers: { 'x-key': 'k' } }));
    await ask(url, { method: 'GET', headers: { accept: 'text/event-stream', 'mcp-session-id': 'x' } });
    await ask(url, { method: 'DELETE', headers: { 'mcp-session-id': 'x' } });
    expect(seen).toEqual([
      ['POST', '/mcp?tenant=1', 'k', undefined],
      ['GET', '/mcp', undefined, undefined],
      ['DELETE', '/mcp', undefined, undefined],
    ]);
  });

  it('AUTH-S-003: refuses two credentials with 400, since a proxy may have checked the other one', async () => {
    let asked = 0;
    const { url } = await serveHttp(plainServer(), {
      authenticate: () => {
        asked += 1;
        return 'ada';
      },
    });
    const { hostname, port, pathname } = new URL(url);
    const text = await new Promise<string>((resolve) => {
      const socket = connect(Number(port), hostname);
      let all = '';
      socket.on('data', (chunk) => {
        all += chunk;
      });
      socket.on('close', () => resolve(all));
      const lines = [
        ...[`POST ${pathname} HTTP/1.1`, `Host: ${hostname}:${port}`, 'Connection: close'],
        ...['Authorization: Bearer ada', 'AUTHORIZATION: Bearer bob', 'Content-Length: 2'],
      ];
      socket.write(`${lines.join('\r\n')}\r\n\r\n{}`);
    });
    expect(text).toMatch(/^HTTP\/1\.1 400 /);
    expect(text.toLowerCase()).toContain('www-authenticate: bearer error="invalid_request"');
    expect(asked).toBe(0);
  });

  it('comes before the body: what is not authorized is not read, and not judged', async () => {
    const { url } = await serveHttp(plainServer(), { authenticate: () => undefined, maxBodyBytes: 10 });
    const bad = [
      { ...modern(1, 'server/discover'), body: 'x'.repeat(100_000) },
      { body: 'no JSON', headers: { 'content-type': 'text/plain' } },
      { method: 'GET' },
      { method: 'PUT' },
    ];
    for (const given of bad) expect((await ask(url, given)).status).toBe(401);
  });

  it.each([
    [
      'throws',
      () => {
        throw new Error('secret: db at 10.0.0.7');
      },
    ],
    [
      'rejects',
      async () => {
        throw new Error('secret: db at 10.0.0.7');
      },
    ],
    ['gives something odd', () => true as unknown as string],
    ['gives a number', () => 42 as unknown as string],
  ])('lets nobody in when the hook %s, and does not say why', async (_what, authenticate) => {
    let runs = 0;
    const server = plainServer();
    server.tool('run', {}, () => {
      runs += 1;
      return String(runs);
    });
    const { url } = await serveHttp(server, { authenticate });
    const answer = await ask(url, modernCall(1, 'run'));
    expect(answer.status).toBe(500);
    expect(answer.text).not.toMatch(/secret|10\.0\.0\.7|\.ts|\.js|at /);
    expect(runs).toBe(0);
    // And it goes on serving refusals.
    expect((await ask(url, legacy(initialize(1)))).status).toBe(500);
  });

  it.each([
    ['undefined', undefined],
    ['null', null],
  ])('takes %s for nobody', async (_what, nobody) => {
    const { url } = await serveHttp(plainServer(), { authenticate: () => nobody as undefined });
    const { status, headers, json } = await ask(url, modern(1, 'server/discover'));
    expect([status, headers['www-authenticate'], json.error?.code]).toEqual([401, 'Bearer', -32600]);
    expect(json).not.toHaveProperty('id');
  });

  it('refuses in its own words', async () => {
    const { url } = await serveHttp(plainServer(), {
      authenticate: (request) =>
        request.header('authorization') === undefined
          ? { status: 401, challenge: 'scope="files:read"' }
          : { status: 403, challenge: 'error="insufficient_scope", scope="files:read files:write"' },
    });
    const nobody = await ask(url, modern(1, 'server/discover'));
    expect([nobody.status, nobody.headers['www-authenticate']]).toEqual([401, 'Bearer scope="files:read"']);
    const somebody = await ask(url, modern(1, 'server/discover', {}, { headers: ADA }));
    expect([somebody.status, somebody.headers['www-authenticate']]).toEqual([
      403,
      'Bearer error="insufficient_scope", scope="files:read files:write"',
    ]);
  });

  it('is waited for, and does not hold up others', async () => {
    let letIn: (name: string) => void = () => {};
    const { url } = await serveHttp(whoServer(), {
      authenticate: (request) =>
        request.header('authorization') === 'slow'
          ? new Promise<string>((resolve) => {
              letIn = resolve;
            })
          : 'quick',
    });
    const slow = ask(url, modernCall(1, 'who', {}, { headers: { authorization: 'slow' } }));
    const quick = await ask(url, modernCall(1, 'who'));
    expect(quick.json.result?.content[0].text).toBe('quick');
    letIn('late');
    expect((await slow).json.result?.content[0].text).toBe('late');
  });
});

describe('a session', () => {
  it('is valid only for the principal that opened it: for others it does not exist (SESS-011, SESS-012)', async () => {
    const { url } = await serveHttp(whoServer(), { authenticate: byToken });
    const session = await openSession(url, { headers: ADA });
    const stolen = { 'mcp-session-id': session.id, 'mcp-protocol-version': '2025-11-25' };
    const ping = { jsonrpc: '2.0', id: 1, method: 'ping' };
    const attempts = (headers: Record<string, string>) => [
      legacy(ping, { ...stolen, ...headers }),
      { method: 'GET', headers: { accept: 'text/event-stream', ...stolen, ...headers } },
      { method: 'DELETE', headers: { ...stolen, ...headers } },
    ];
    for (const attempt of attempts(BOB)) expect((await ask(url, attempt)).status).toBe(404);
    for (const attempt of attempts({})) expect((await ask(url, attempt)).status).toBe(401);
    expect((await session.post(ping)).json.result).toEqual({});
  });

  it('cannot be listened to by another: its stream is not replaced', async () => {
    const { url } = await serveHttp(whoServer(), { authenticate: byToken });
    const session = await openSession(url, { headers: ADA });
    const standing = await session.get();
    const thief = await ask(url, {
      method: 'GET',
      headers: { accept: 'text/event-stream', 'mcp-session-id': session.id, ...BOB },
    });
    expect(thief.status).toBe(404);
    expect(standing.over).toBe(false);
  });
});

describe('RFC 9728', () => {
  const protectedResource = {
    authorizationServers: ['https://login.example'],
    scopes: ['files:read', 'files:write'],
    documentation: 'https://docs.example',
  };

  it('is named in the challenge and served without authentication (AUTH-003, AUTH-004)', async () => {
    const { url, port } = await serveHttp(plainServer(), { authenticate: byToken, protectedResource });
    const refused = await ask(url, modern(1, 'server/discover'));
    expect(refused.status).toBe(401);
    // AUTH-S-004: with the scopes that are needed.
    const challenge = /^Bearer resource_metadata="([^"]+)", scope="files:read files:write"$/;
    const where = challenge.exec(refused.headers['www-authenticate']!)?.[1];
    expect(where).toBe(`http://127.0.0.1:${port}/.well-known/oauth-protected-resource/mcp`);
    for (const place of [where!, `http://127.0.0.1:${port}/.well-known/oauth-protected-resource`]) {
      const { status, headers, json } = await ask(place, { method: 'GET' });
      expect([status, headers['content-type']]).toEqual([200, 'application/json']);
      expect(json).toEqual({
        resource: url,
        authorization_servers: ['https://login.example'],
        bearer_methods_supported: ['header'],
        scopes_supported: ['files:read', 'files:write'],
        resource_documentation: 'https://docs.example',
      });
    }
  });

  it('names the resource as clients know it behind a proxy', async () => {
    const { url, port } = await serveHttp(plainServer(), {
      authenticate: byToken,
      protectedResource: { ...protectedResource, resource: 'https://mcp.example/mcp' },
    });
    const refused = await ask(url, modern(1, 'server/discover'));
    expect(refused.headers['www-authenticate']).toBe(
      'Bearer resource_metadata="https://mcp.example/.well-known/oauth-protected-resource/mcp", scope="files:read files:write"',
    );
    const metadata = await ask(`http://127.0.0.1:${port}/.well-known/oauth-protected-resource/mcp`, {
      method: 'GET',
    });
    expect(metadata.json).toMatchObject({ resource: 'https://mcp.example/mcp' });
  });

  it('is not there unless configured, and pages of every origin may read it', async () => {
    const plain = await serveHttp(plainServer());
    const place = (port: number) => `http://127.0.0.1:${port}/.well-known/oauth-protected-resource`;
    expect((await ask(place(plain.port), { method: 'GET' })).status).toBe(404);
    const { port } = await serveHttp(plainServer(), { authenticate: byToken, protectedResource });
    const headers = { origin: 'https://page.example' };
    const foreign = await ask(place(port), { method: 'GET', headers });
    expect([foreign.status, foreign.headers['access-control-allow-origin']]).toEqual([200, '*']);
    const preflight = await ask(place(port), { method: 'OPTIONS', headers });
    expect([preflight.status, preflight.headers['access-control-allow-headers']]).toEqual([
      204,
      'accept, mcp-protocol-version',
    ]);
    const rebound = await ask(place(port), { method: 'GET', headers: { ...headers, host: 'page.example' } });
    expect(rebound.status).toBe(403);
  });

  it('only answers GET there', async () => {
    const { port } = await serveHttp(plainServer(), { authenticate: byToken, protectedResource });
    const { status } = await ask(`http://127.0.0.1:${port}/.well-known/oauth-protected-resource`, {
      method: 'DELETE',
    });
    expect(status).toBe(405);
  });
});

describe('what an error says', () => {
  it.each(['modern', 'legacy'])('never has a stack or a path, %s era', async (era) => {
    const server = plainServer();
    server.tool('throws_odd', {}, () => {
      throw { toString: () => 'odd' };
    });
    server.use(async (call, next) => {
      if (call.method === 'prompts/list')
        throw new TypeError("Cannot read properties of undefined (reading 'x')");
      return next();
    });
    server.prompt('p', {}, () => 'p');
    const { url } = await serveHttp(server);
    const session = era === 'legacy' ? await openSession(url) : undefined;
    const say = (id: number, method: string, params: Record<string, unknown>) =>
      session ? session.post({ jsonrpc: '2.0', id, method, params }) : ask(url, modern(id, method, params));
    for (const answer of [
      await say(1, 'tools/call', { name: 'throws_odd' }),
      await say(2, 'tools/call', { name: 'fail' }),
      await say(3, 'prompts/list', {}),
    ]) {
      expect(answer.status).toBe(200);
      expect(answer.text).not.toMatch(/\.ts:|\.js:|node_modules|\bat .*\(/);
    }
    const alive = await open(url, modern(1, 'server/discover'));
    expect(alive.status).toBe(200);
  });
});
