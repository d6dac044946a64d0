/** DNS rebinding: a page of another site makes its own name point at this machine, and calls. */
import { describe, expect, it } from 'vitest';
import {
  type Ask,
  initialize,
  legacy,
  modern,
  modernCall,
  rawSocket,
} from '../../../sdk/test/support/http-server.js';
import { type HouseOptions, KEYS, openHouse } from '../support/secured-gateway.js';
import { openFar } from '../support/upstream.js';

const GET: Ask = { method: 'GET', headers: { accept: 'text/event-stream' } };

/** Everything that a gateway answers to. */
const REQUESTS: readonly (readonly [what: string, path: string, request: Ask])[] = [
  ['a call at /mcp', '/mcp', modernCall(1, 'count')],
  ['a call at /mcp/a', '/mcp/a', modernCall(1, 'count')],
  ['a call at the other path', '/servers/a/mcp', modernCall(1, 'count')],
  ['a path that is written otherwise', '/mcp/%61/', modernCall(1, 'count')],
  ['a subscription', '/mcp', modern(1, 'subscriptions/listen', { notifications: {} })],
  ['a session', '/mcp/a', legacy(initialize(1))],
  ['a stream', '/mcp/a', GET],
  ['the end of a session', '/mcp/a', { method: 'DELETE', headers: { 'mcp-session-id': 'x' } }],
  ['a stream of 2024', '/sse', GET],
  ['a stream of 2024 of one server', '/mcp/a/sse', GET],
  ['a message of 2024', '/message?sessionId=x', legacy(initialize(1))],
  ['/status', '/status', { method: 'GET' }],
  ['/metrics', '/metrics', { method: 'GET' }],
];

const HOSTS = [
  ...['evil.example', 'evil.example:8080', 'localhost.evil.example', '127.0.0.1.evil.example'],
  ...['127.0.0.1@evil.example', 'localhost:80@evil.example', '2130706433', '0.0.0.0', '127.1', '10.0.0.7'],
  ...['localhost.', ' evil.example ', 'xn--lclhost-1ya'],
];
const ORIGINS = [
  ...['http://evil.example', 'https://evil.example', 'null', 'file://', 'http://localhost.evil.example'],
  ...['http://127.0.0.1.evil.example', 'http://localhost@evil.example', 'chrome-extension://abc', ''],
];

async function opened(options: HouseOptions = {}) {
  let count = 0;
  const far = await openFar((server) => {
    server.tool('count', {}, () => {
      count += 1;
      return String(count);
    });
  });
  const house = await openHouse([far.unit('a')], options);
  await house.operation.gateway.unit('a').start();
  return { house, calls: () => count };
}

describe('a page that has rebound its name', () => {
  it.each(REQUESTS)(
    'is refused %s under any name but those of this machine',
    async (_what, path, request) => {
      const { house, calls } = await opened();
      for (const host of HOSTS) {
        const { status, text } = await house.ask(path, { ...request, headers: { ...request.headers, host } });
        expect([host, status]).toEqual([host, 403]);
        expect(text).not.toContain('"a"');
      }
      expect(calls()).toBe(0);
    },
  );

  it.each(REQUESTS)('is refused %s with an origin that is not ours', async (_what, path, request) => {
    const { house, calls } = await opened();
    for (const origin of ORIGINS) {
      const { status, headers } = await house.ask(path, {
        ...request,
        headers: { ...request.headers, origin },
      });
      expect([origin, status]).toEqual([origin, 403]);
      expect(headers['access-control-allow-origin']).toBeUndefined();
    }
    expect(calls()).toBe(0);
  });

  it('is refused before it is asked who it is, and with the right key as well', async () => {
    const { house, calls } = await opened({ keys: KEYS });
    for (const [, path, request] of REQUESTS) {
      const headers = { ...request.headers, host: 'evil.example', 'x-api-key': KEYS[0]!.key };
      expect((await house.ask(path, { ...request, headers })).status, path).toBe(403);
    }
    expect(calls()).toBe(0);
  });

  it('gets no leave from a preflight', async () => {
    const { house } = await opened();
    for (const [, path] of REQUESTS) {
      const headers = { origin: 'http://evil.example', 'access-control-request-method': 'POST' };
      const { status, headers: given } = await house.ask(path, { method: 'OPTIONS', headers });
      expect(status, path).toBeGreaterThanOrEqual(400);
      expect(given['access-control-allow-origin']).toBeUndefined();
    }
  });

  it('does not get by with two hosts, or with a host in the request line', async () => {
    const { house, calls } = await opened();
    const body = String(modernCall(1, 'count').body);
    const rest = `content-type: application/json\r\naccept: */*\r\nmcp-method: tools/call\r\nmcp-name: count\r\nmcp-protocol-version: 2026-07-28\r\ncontent-length: ${body.length}\r\n\r\n${body}`;
    for (const head of [
      'POST /mcp HTTP/1.1\r\nhost: evil.example\r\nhost: localhost\r\n',
      'POST /mcp HTTP/1.1\r\nhost: localhost\r\nhost: evil.example\r\n',
      'POST http://localhost/mcp HTTP/1.1\r\nhost: evil.example\r\n',
      'POST http://evil.example/mcp HTTP/1.1\r\nhost: localhost\r\n',
    ]) {
      const socket = await rawSocket(house.port);
      socket.write(`${head}${rest}`);
      await socket.until('an answer', () => socket.status !== undefined);
      expect([head, socket.status! >= 400]).toEqual([head, true]);
    }
    expect(calls()).toBe(0);
  });
});

it('a program of this machine is served, whatever it calls this machine', async () => {
  const { house, calls } = await opened();
  for (const host of [
    'localhost',
    'LOCALHOST:1',
    '127.0.0.1',
    `127.0.0.1:${house.port}`,
    '[::1]',
    '[::1]:1',
  ]) {
    const { headers, body } = modernCall(1, 'count');
    expect((await house.ask('/mcp', { body: body!, headers: { ...headers, host } })).status, host).toBe(200);
  }
  expect(calls()).toBe(6);
});
