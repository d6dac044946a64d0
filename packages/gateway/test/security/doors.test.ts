/** Who has no key gets in nowhere, and learns nothing at the door. */
import { afterEach, describe, expect, it, vi } from 'vitest';
import { ISTHMUS, startChild } from '../../../../test/support/child.js';
import {
  type Ask,
  ask,
  initialize,
  legacy,
  modern,
  modernCall,
  rawSocket,
} from '../../../sdk/test/support/http-server.js';
import { ALICE, EACH_ITS_OWN, KEYS, openHouse, tellsAll, textOf } from '../support/secured-gateway.js';

const { compared } = vi.hoisted(() => ({ compared: [] as [number, number][] }));
vi.mock('node:crypto', async (original) => {
  const crypto = await original<typeof import('node:crypto')>();
  const timingSafeEqual: typeof crypto.timingSafeEqual = (a, b) => {
    compared.push([a.byteLength, b.byteLength]);
    return crypto.timingSafeEqual(a, b);
  };
  return { ...crypto, timingSafeEqual };
});
afterEach(() => void compared.splice(0));

const GET: Ask = { method: 'GET', headers: { accept: 'text/event-stream' } };
const NAME = 'hidden-project';

/** All that is behind the door. */
const INSIDE: readonly (readonly [path: string, request: Ask])[] = [
  ...['/mcp', `/mcp/${NAME}`, `/servers/${NAME}/mcp`].flatMap((path): [string, Ask][] => [
    [path, modernCall(1, 'pid')],
    [path, modern(1, 'server/discover')],
    [path, legacy(initialize(1))],
    [path, GET],
    [path, { method: 'DELETE', headers: { 'mcp-session-id': 'x' } }],
  ]),
  ...['/sse', `/mcp/${NAME}/sse`, `/servers/${NAME}/sse`].map((path): [string, Ask] => [path, GET]),
  ...['/message', `/mcp/${NAME}/message?sessionId=x`].map((path): [string, Ask] => [
    path,
    legacy(initialize(1)),
  ]),
  ['/status', { method: 'GET' }],
  ['/status', { method: 'HEAD' }],
  ['/metrics', { method: 'GET' }],
];

const { key } = KEYS[0]!;
const WRONG: readonly Record<string, string>[] = [
  {},
  { 'x-api-key': '' },
  { 'x-api-key': key.slice(0, -1) },
  { 'x-api-key': `${key}x` },
  { 'x-api-key': key.toUpperCase() },
  { 'x-api-key': `${key},${key}` },
  { 'x-api-key': 'alice' },
  { 'x-api-key': `alice=${key}` },
  { authorization: key },
  { authorization: `Basic ${Buffer.from(`alice:${key}`).toString('base64')}` },
  { authorization: 'Bearer' },
  { authorization: `Bearer ${key}x` },
  { cookie: `x-api-key=${key}` },
];

const opened = () => openHouse([tellsAll(NAME, EACH_ITS_OWN), tellsAll('b', EACH_ITS_OWN)], { keys: KEYS });

describe('without the right key', () => {
  it('nobody gets in, whatever is asked for, and nothing is told', async () => {
    const house = await opened();
    for (const [path, request] of INSIDE) {
      for (const wrong of WRONG) {
        const { status, text, headers } = await house.ask(path, {
          ...request,
          headers: { ...request.headers, ...wrong },
        });
        const what = `${request.method ?? 'POST'} ${path} with ${JSON.stringify(wrong)}`;
        expect([what, status]).toEqual([what, 401]);
        expect(text).not.toMatch(/hidden|alice|bob|key|isthmus|node/i);
        expect(headers['www-authenticate']).toMatch(
          /^Bearer (realm="mcp"|error="invalid_token", error_description="The credential is not valid here")$/,
        );
      }
    }
    // No process was started for any of them.
    const { servers } = await house.operation.gateway.status();
    expect(Object.values(servers).flatMap(({ processes }) => processes!.processes)).toEqual([]);
  });

  it('a key in the address is not accepted', async () => {
    const house = await opened();
    for (const query of [`?key=${key}`, `?api_key=${key}`, `?access_token=${key}`, `?x-api-key=${key}`]) {
      expect((await house.ask(`/mcp${query}`, modernCall(1, 'pid'))).status).toBe(401);
    }
  });

  it('nobody learns which servers there are', async () => {
    const house = await opened();
    const answers = await Promise.all(
      [`/mcp/${NAME}`, '/mcp/no-such-server', '/servers/no-such-server/mcp', '/mcp/no-such-server/sse'].map(
        async (path) => {
          const { status, text } = await house.ask(path, modernCall(1, 'pid'));
          return [status, text];
        },
      ),
    );
    expect(answers).toEqual(answers.map(() => answers[0]));
  });

  it('only what says that it lives is told, and no names', async () => {
    const house = await opened();
    expect((await house.ask('/healthz', { method: 'GET' })).text).toBe('{"alive":true}\n');
    expect((await house.ask('/readyz', { method: 'GET' })).text).not.toContain(NAME);
  });

  it('no other way of writing the path leads in', async () => {
    const house = await opened();
    for (const path of [
      ...['/%73tatus', '/status/', '//status', '/./status', '/x/../status', '/%2e/status', '/mcp/../status'],
      ...['/mcp/%2e%2e/status', '/healthz/../status', '/healthz%2f..%2fstatus', '/healthz/..;/status'],
      ...['/status;x', '/status%00', '/status?', '/STATUS', '\\status', '/metrics%20', '/mcp/..%5cstatus'],
      `http://127.0.0.1:${house.port}/status`,
    ]) {
      const socket = await rawSocket(house.port);
      socket.write(`GET ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n`);
      await socket.until('an answer', () => socket.status !== undefined);
      expect([path, [400, 401, 404].includes(socket.status!)]).toEqual([path, true]);
      expect(socket.text).not.toContain(NAME);
    }
  });
});

it('keys are compared in a time that says nothing, each of them, whatever was sent', async () => {
  const house = await opened();
  const tries = [key, `${key.slice(0, -1)}x`, 'x', KEYS[1]!.key, 'x'.repeat(5000)];
  for (const sent of tries) {
    compared.splice(0);
    await house.ask('/status', { method: 'GET', headers: { 'x-api-key': sent } });
    expect(compared).toEqual(KEYS.map(() => [32, 32]));
  }
});

it('the right key opens, in either header', async () => {
  const house = await opened();
  for (const headers of [ALICE, { authorization: `Bearer ${key}` }, { authorization: `bearer ${key}` }]) {
    const answer = await house.ask(`/mcp/${NAME}`, modernCall(1, 'pid', {}, { headers }));
    expect(textOf(answer)).toMatch(/^\d+$/);
  }
});

describe('an address that others can reach', () => {
  const serve = (...args: string[]) => startChild(ISTHMUS, { args: ['serve', '--no-control', ...args] });

  it.each([
    ['--listen', 'http://0.0.0.0:0/mcp'],
    ['--listen', 'http://[::]:0/mcp'],
    ['--host', '0.0.0.0', '--port', '0'],
    ['--listen', 'tcp://0.0.0.0:0'],
    ['--listen', 'http://127.0.0.1:0/mcp', '--listen', 'http://10.0.0.7:0/mcp'],
  ])('is refused where nobody would be asked who it is: %s %s', async (...args) => {
    const child = serve(...args);
    expect((await child.exit()).code).toBe(2);
    expect(child.stderr).toContain('without authentication: other machines can reach it');
    expect(child.stderr).toContain('--allow-unauthenticated');
  });

  it('is served when somebody says so, or when there is a key', async () => {
    const open = serve('--listen', 'http://0.0.0.0:0/mcp', '--json', '--allow-unauthenticated');
    const kept = serve('--listen', 'http://0.0.0.0:0/mcp', '--json', '--api-key', key);
    const portOf = async (child: ReturnType<typeof serve>) => {
      await child.until('its address', () => child.messages.length > 0);
      const [address] = (child.messages[0] as unknown as { addresses: string[] }).addresses;
      return new URL(address!).port;
    };
    const url = async (child: ReturnType<typeof serve>) => `http://127.0.0.1:${await portOf(child)}/mcp`;
    expect((await ask(await url(open), modern(1, 'tools/list'))).status).toBe(200);
    expect((await ask(await url(kept), modern(1, 'tools/list'))).status).toBe(401);
    expect((await ask(await url(kept), modern(1, 'tools/list', {}, { headers: ALICE }))).status).toBe(200);
    expect(kept.stderr).not.toContain(key);
  });
});
