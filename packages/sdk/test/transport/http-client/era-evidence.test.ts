import { describe, expect, it } from 'vitest';
import { eventually } from '../../../../../test/support/until.js';
import { DISCOVERED, type Fault, faultServer, INITIALIZED } from '../../support/fault-server.js';
import { failure, open } from '../../support/http-client.js';

/** What a server answers to the probe, and what is concluded (wire sheet §10). */

const probed = (probe: Fault, handshake: Fault = ({ reply }) => reply(INITIALIZED)) =>
  faultServer((exchange) => {
    if (exchange.method === 'server/discover') return probe(exchange);
    if (exchange.method === 'initialize') return handshake(exchange);
    exchange.say(exchange.verb === 'POST' ? 202 : 405, '');
  });

const error = (code: number, data?: object) => ({ code, message: 'no', data });

describe('a server is modern', () => {
  it('that answers the probe, however slowly', async () => {
    const server = await probed(({ reply }) => void setTimeout(() => reply(DISCOVERED), 200));
    const client = await open(server.url, {}, { silenceMs: 1, bootMs: 1 });
    expect(client.verdict).toMatchObject({ era: 'modern', why: 'it answered server/discover' });
    expect(server.methods()).toEqual(['server/discover']);
  });

  it.each([
    [-32022, { supported: ['2026-07-28'], requested: 'x' }],
    [-32020, undefined],
    [-32021, { requiredCapabilities: {} }],
  ])('that refuses the first probe with 400 and %i, and is asked once more', async (code, data) => {
    const server = await probed(({ before, refuse, reply }) =>
      before === 0 ? refuse(400, error(code, data)) : reply(DISCOVERED),
    );
    const client = await open(server.url);
    expect(client.verdict.era).toBe('modern');
    expect(server.methods()).toEqual(['server/discover', 'server/discover']);
  });

  it('that refuses both openings, the first with 404 and -32601', async () => {
    const server = await probed(
      ({ refuse }) => refuse(404, error(-32601)),
      ({ refuse }) => refuse(400, error(-32020)),
    );
    const client = await open(server.url);
    expect(client.verdict).toMatchObject({
      era: 'modern',
      revision: '2026-07-28',
      why: 'it answered server/discover with HTTP 404 and -32601',
    });
  });

  it('that refuses initialize with a bare 400 although legacy was asked for', async () => {
    const server = await probed(
      ({ reply }) => reply(DISCOVERED),
      ({ say }) => say(400, 'Bad Request'),
    );
    const client = await open(server.url, {}, { mode: 'legacy' });
    expect(client.verdict).toMatchObject({
      era: 'modern',
      why: 'it refused initialize and answered server/discover',
    });
  });
});

describe('a server is legacy', () => {
  it.each<[string, Fault, string]>([
    ['400 without a body', ({ say }) => say(400, ''), 'it answered server/discover with HTTP 400'],
    ['400 with a page', ({ say }) => say(400, '<p>no</p>'), 'it answered server/discover with HTTP 400'],
    ['404', ({ say }) => say(404, 'Not found'), 'it answered server/discover with HTTP 404'],
    ['405', ({ say }) => say(405, ''), 'it answered server/discover with HTTP 405'],
    ['406', ({ say }) => say(406, ''), 'it answered server/discover with HTTP 406'],
    [
      '400 with another code',
      ({ refuse }) => refuse(400, error(-32000)),
      'it answered server/discover with -32000 "no"',
    ],
    [
      '400 with -32602',
      ({ refuse }) => refuse(400, error(-32602)),
      'it answered server/discover with -32602 "no"',
    ],
    [
      '200 with an error',
      ({ refuse }) => refuse(200, error(-32601)),
      'it answered server/discover with -32601 "no"',
    ],
    [
      '200 with another result',
      ({ reply }) => reply({}),
      'its answer to server/discover is not a DiscoverResult',
    ],
    [
      '404 with -32601, but a handshake',
      ({ refuse }) => refuse(404, error(-32601)),
      'it answered server/discover with -32601 "no"',
    ],
  ])('that answers the probe with %s', async (_, probe, why) => {
    const server = await probed(probe);
    const client = await open(server.url);
    expect(client.verdict).toMatchObject({ era: 'legacy', revision: '2025-11-25', why });
    await eventually(() => expect(server.methods()).toContain('notifications/initialized'));
    expect(server.methods().slice(0, 3)).toEqual([
      'server/discover',
      'initialize',
      'notifications/initialized',
    ]);
  });
});

describe('nothing is concluded', () => {
  it.each([
    [401, 'UNAUTHORIZED'],
    [403, 'UNAUTHORIZED'],
    [408, 'HTTP_STATUS'],
    [429, 'HTTP_STATUS'],
    [500, 'HTTP_STATUS'],
    [502, 'HTTP_STATUS'],
    [503, 'HTTP_STATUS'],
  ])('from %i: it is the error', async (status, code) => {
    const server = await probed(({ say }) => say(status, 'no'));
    expect(await failure(open(server.url))).toMatchObject({ name: 'IsthmusError', code, status });
    expect(server.methods()).toEqual(['server/discover']);
  });

  it('from 500 with a message', async () => {
    const server = await probed(({ refuse }) => refuse(500, error(-32603)));
    expect(await failure(open(server.url))).toEqual({
      name: 'ProtocolError',
      code: -32603,
      message: 'no',
      status: 500,
    });
    expect(server.methods()).toEqual(['server/discover']);
  });

  it('from a connection that breaks off', async () => {
    const server = await probed(({ res }) => res.destroy());
    expect(await failure(open(server.url))).toMatchObject({ code: 'CONNECTION_CLOSED', sent: 'maybe' });
    expect(server.methods()).toEqual(['server/discover']);
  });

  it('from silence: it is a timeout', async () => {
    const server = await probed(() => {});
    const connecting = open(server.url, {}, { connectTimeoutMs: 300, silenceMs: 1, bootMs: 1 });
    expect(await failure(connecting)).toMatchObject({ code: 'TIMED_OUT' });
    expect(server.methods()).toEqual(['server/discover']);
  });

  it('from a server that was legacy and is away now', async () => {
    const server = await probed(
      ({ say }) => say(400, ''),
      ({ before, reply, say }) => (before === 0 ? reply(INITIALIZED) : say(503, 'restarting')),
    );
    const { memoryEraCache } = await import('../../../src/index.js');
    const cache = memoryEraCache();
    await open(server.url, {}, { cache });
    expect(await failure(open(server.url, {}, { cache }))).toMatchObject({ status: 503 });
    expect(server.methods().filter((method) => method === 'server/discover')).toHaveLength(1);
  });
});

describe('HTTP with SSE of 2024-11-05', () => {
  const sse = (endpoint: string) =>
    faultServer(({ verb, path, method, id, say, stream, res }) => {
      if (verb === 'GET') {
        stream();
        res.write(`event: endpoint\ndata: ${endpoint}\n\n`);
        answers = (text) => res.write(text);
        end = () => res.end();
        return;
      }
      if (path !== '/messages?session=1') return say(405, '');
      say(202, 'Accepted');
      const result =
        method === 'initialize' ? { ...INITIALIZED, protocolVersion: '2024-11-05' } : { tools: [] };
      if (id !== undefined)
        answers(`event: message\ndata: ${JSON.stringify({ jsonrpc: '2.0', id, result })}\n\n`);
    });
  let answers: (text: string) => void;
  let end: () => void;

  it('is found where both openings are refused', async () => {
    const server = await sse('/messages?session=1');
    const client = await open(server.url);
    expect(client.verdict).toMatchObject({ era: 'legacy', revision: '2024-11-05' });
    expect(await client.listTools()).toEqual([]);
    expect(server.methods()).toEqual([
      'server/discover',
      'initialize',
      'GET',
      'initialize',
      'notifications/initialized',
      'tools/list',
    ]);
  });

  it('is spoken at once where that is asked for', async () => {
    const server = await sse('/messages?session=1');
    const client = await open(server.url, { sse: 'only' }, { mode: 'legacy' });
    expect(await client.listTools()).toEqual([]);
    expect(server.methods()).toEqual(['GET', 'initialize', 'notifications/initialized', 'tools/list']);
  });

  it('is not looked for where that is not wanted', async () => {
    const server = await sse('/messages?session=1');
    expect(await failure(open(server.url, { sse: 'never' }))).toMatchObject({
      code: 'HTTP_STATUS',
      status: 405,
    });
    expect(server.methods()).toEqual(['server/discover', 'initialize']);
  });

  it('is left alone when it sends us to another origin', async () => {
    const server = await sse('http://localhost:1/messages?session=1');
    expect(await failure(open(server.url))).toMatchObject({ code: 'HTTP_STATUS', status: 405 });
    expect(await failure(open(server.url, { sse: 'only' }, { mode: 'legacy' }))).toMatchObject({
      code: 'NO_COMMON_REVISION',
      message: `Cannot use ${server.url}: ${server.url} named an endpoint of another origin: http://localhost:1/messages`,
    });
  });

  it('is opened again when its stream ends', async () => {
    const server = await sse('/messages?session=1');
    const client = await open(server.url);
    end();
    await expect.poll(() => client.listTools().catch(() => 'lost'), { timeout: 20_000 }).toEqual([]);
    expect(server.methods().filter((method) => method === 'GET')).toHaveLength(2);
  });
});
