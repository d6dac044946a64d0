/** What clients and files say goes where it belongs, and nowhere else: not into variables, headers or prototypes. */
import { createServer as createWebServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { serve } from '@isthmus/sdk';
import { httpHandler } from '@isthmus/sdk/http';
import { describe, expect, it, onTestFinished } from 'vitest';
import {
  legacyCall,
  modernCall,
  openSession,
  POST_HEADERS,
  plainServer,
} from '../../../sdk/test/support/http-server.js';
import { openHouse, tellsAll, textOf } from '../support/secured-gateway.js';
import { urlUnit } from '../support/server-definitions.js';

const HEADERS = {
  ...{ 'x-env-path': '/evil', 'x-env-node_options': '--import=evil', 'x-env-api_key': 'injected' },
  ...{
    env: 'NODE_OPTIONS=injected',
    'x-mcp-env': 'injected',
    'x-forwarded-for': 'injected',
    cookie: 'injected=1',
  },
  ...{
    authorization: 'Bearer injected',
    'x-api-key': 'injected',
    'x-evil': 'injected',
    'proxy-authorization': 'injected',
  },
};

describe('the headers of a client', () => {
  it('reach no variable and no argument of a process', async () => {
    const env = { GREETING: 'line one\nINJECTED=line two\r\nend' };
    const house = await openHouse([tellsAll('a', { env, processes: 'per-conversation' })]);
    const session = await openSession(house.at('/mcp'), { headers: HEADERS });
    const said = [
      textOf(await house.ask('/mcp', modernCall(1, 'environment', {}, { headers: HEADERS }))),
      textOf(await session.post(legacyCall(1, 'environment'))),
    ];
    for (const text of said) {
      const variables = JSON.parse(text) as Record<string, string>;
      expect(variables['GREETING']).toBe('line one\nINJECTED=line two\r\nend');
      const ours = new Set([...Object.keys(process.env), 'GREETING']);
      expect(Object.keys(variables).filter((name) => !ours.has(name))).toEqual([]);
      expect(text).not.toContain('injected');
    }
    const words = textOf(await house.ask('/mcp', modernCall(1, 'words', {}, { headers: HEADERS })));
    expect(words).not.toContain('injected');
  });

  it('reach no server over HTTP', async () => {
    const far = await openWebFar();
    const house = await openHouse([urlUnit('far', far.url, { headers: { 'x-ours': 'yes' } })]);
    expect(textOf(await house.ask('/mcp', modernCall(1, 'echo', { text: 'hi' }, { headers: HEADERS })))).toBe(
      'hi',
    );
    const session = await openSession(house.at('/mcp'), { headers: HEADERS });
    expect(textOf(await session.post(legacyCall(1, 'echo', { text: 'ho' })))).toBe('ho');
    expect(far.seen.length).toBeGreaterThan(1);
    expect(far.seen.every((headers) => headers['x-ours'] === 'yes')).toBe(true);
    expect(JSON.stringify(far.seen)).not.toContain('injected');
  });
});

describe('line breaks', () => {
  const BREAK = 'a\r\nx-injected: 1\r\n\r\nGET /injected HTTP/1.1';

  it('in names, URIs and traces make no header of a request to a server', async () => {
    const far = await openWebFar();
    const house = await openHouse([urlUnit('far', far.url)]);
    const session = await openSession(house.at('/mcp'));
    const meta = { traceparent: BREAK, tracestate: BREAK, baggage: BREAK };
    const calls = [
      legacyCall(1, BREAK),
      legacyCall(2, 'echo', { text: BREAK }, meta),
      { jsonrpc: '2.0', id: 3, method: 'resources/read', params: { uri: BREAK } },
      { jsonrpc: '2.0', id: 4, method: 'prompts/get', params: { name: BREAK } },
    ];
    for (const call of calls) {
      const { json } = await session.post(call);
      expect(json.error ?? json.result).toBeDefined();
    }
    const inModern = await house.ask('/mcp', modernCall(5, 'echo', { text: BREAK }, { meta }));
    expect(textOf(inModern)).toBe(BREAK);
    expect(far.seen.filter((headers) => headers['x-injected'] !== undefined)).toEqual([]);
    expect(far.paths()).toEqual(['/mcp']);
  });

  it('in a header of the configuration cost that server alone, and are never sent', async () => {
    const far = await openWebFar();
    const headers = { 'x-ours': BREAK };
    const house = await openHouse([urlUnit('bad', far.url, { headers }), urlUnit('good', far.url)]);
    expect(textOf(await house.ask('/mcp/bad', modernCall(1, 'echo', { text: 'hi' })))).toMatch(
      /^error -32603/,
    );
    expect(textOf(await house.ask('/mcp/good', modernCall(1, 'echo', { text: 'hi' })))).toBe('hi');
    expect(far.seen.filter((each) => each['x-injected'] !== undefined)).toEqual([]);
    expect((await house.operation.gateway.status()).servers['bad']!.state).toBe('failed');
  });
});

describe('what no process can be given', () => {
  it.each([
    ['a zero in a variable', { env: { A: 'b\0NODE_OPTIONS=--import=evil' } }],
    ['a zero in the name of a variable', { env: { 'A\0B': 'c' } }],
    ['a zero in the command', { command: 'node\0evil' }],
    ['a zero in a folder', { cwd: '/tmp\0evil' }],
  ])('costs that server alone: %s', async (_what, definition) => {
    const house = await openHouse([tellsAll('bad', definition), tellsAll('good')]);
    expect(textOf(await house.ask('/mcp/bad', modernCall(1, 'pid')))).toMatch(/^error -32603/);
    expect(textOf(await house.ask('/mcp/good', modernCall(1, 'pid')))).toMatch(/^\d+$/);
    expect((await house.operation.gateway.status()).servers['bad']!.state).toBe('failed');
  });
});

describe('names that every object has', () => {
  const ODD = ['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty'];
  const POISON = '{"__proto__":{"poisoned":1},"constructor":{"prototype":{"poisoned":1}}}';

  it('are arguments like any other, and change no other object', async () => {
    const house = await openHouse([tellsAll('a'), tellsAll('b')]);
    const body = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a__mirror","arguments":${POISON},"__proto__":{"poisoned":1},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{},"__proto__":{"poisoned":1}}}}`;
    const headers = {
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': 'tools/call',
      'mcp-name': 'a__mirror',
    };
    const { json } = await house.ask('/mcp', { body, headers: { ...POST_HEADERS, ...headers } });
    expect(String(json.result.content[0].text)).toContain(`"arguments":${POISON}`);
    expect(({} as Record<string, unknown>)['poisoned']).toBeUndefined();
  });

  it('are no servers, tools, prompts or resources', async () => {
    const house = await openHouse([tellsAll('a'), tellsAll('b')]);
    for (const name of ODD) {
      const { status } = await house.ask(`/mcp/${name}`, modernCall(1, 'pid'));
      expect([name, status]).toEqual([name, 404]);
      for (const tool of [name, `${name}__pid`, `a__${name}`]) {
        const { json } = await house.ask('/mcp', modernCall(1, tool));
        expect([tool, json.error?.code]).toEqual([tool, -32602]);
      }
      expect((await house.ask(`/${name}`, { method: 'GET' })).status).toBe(404);
      expect((await house.ask(`/healthz?${name}=1&${name}[poisoned]=1`, { method: 'GET' })).status).toBe(200);
    }
    expect(({} as Record<string, unknown>)['poisoned']).toBeUndefined();
  });
});

/** A server over HTTP that keeps the headers of all that is asked of it. */
async function openWebFar() {
  const seen: IncomingHttpHeaders[] = [];
  const paths = new Set<string>();
  const endpoint = httpHandler();
  const served = await serve(plainServer(), endpoint);
  const web = createWebServer((request, response) => {
    seen.push(request.headers);
    paths.add(request.url!);
    void endpoint.node(request, response);
  });
  await new Promise<void>((resolve) => web.listen(0, '127.0.0.1', resolve));
  onTestFinished(async () => {
    await served.close({ graceMs: 0 });
    web.closeAllConnections();
    web.close();
  });
  return {
    seen,
    paths: () => [...paths],
    url: `http://127.0.0.1:${(web.address() as AddressInfo).port}/mcp`,
  };
}
