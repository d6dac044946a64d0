import { once } from 'node:events';
import { describe, expect, it, vi } from 'vitest';
import { FakeClock } from '../../../../../test/support/fake-clock.js';
import { eventually } from '../../../../../test/support/until.js';
import { http } from '../../../src/transport/http.js';
import { requestMessage } from '../../../src/wire/json-rpc.js';
import { type Fault, FINE, modernFaults } from '../../support/fault-server.js';
import { failure, open, textOf } from '../../support/http-client.js';

/** A modern server that does badly, and what becomes of the call that met it, and of those after it. */

const endsEarly: Fault = ({ stream, res }) => {
  stream();
  res.end();
};

describe('a stream', () => {
  it('that is cut fails its call at once, which may have run, and no other', async () => {
    const server = await modernFaults({
      cut: ({ stream, event, res }) => {
        stream();
        event({ method: 'notifications/message', params: { level: 'info', data: 'begun' } });
        res.write('data: {"jsonrpc":"2.0","id"', () => res.destroy());
      },
    });
    const client = await open(server.url);
    expect(await failure(client.callTool('cut'))).toEqual({
      name: 'IsthmusError',
      code: 'CONNECTION_CLOSED',
      message: `The connection to ${server.url} was lost: other side closed`,
      sent: 'maybe',
    });
    expect(textOf(await client.callTool('other'))).toBe('fine');
    expect(server.methods()).toEqual(['server/discover', 'tools/call', 'tools/call']);
  });

  it('that ends normally but without the answer fails as well', async () => {
    const server = await modernFaults({ end: endsEarly });
    const client = await open(server.url);
    expect(await failure(client.callTool('end'))).toEqual({
      name: 'IsthmusError',
      code: 'CONNECTION_CLOSED',
      message: `${server.url} ended its answer to tools/call without a result`,
      sent: 'maybe',
    });
  });

  it('is made again, once, for a call that may run twice, on the same connection', async () => {
    const server = await modernFaults({
      cut: (exchange) => (exchange.before === 0 ? endsEarly(exchange) : exchange.reply(FINE)),
    });
    const client = await open(server.url);
    const result = await client.request('tools/call', { name: 'cut' }, { retry: 'safe' });
    expect(result).toMatchObject(FINE);
    expect(server.methods()).toEqual(['server/discover', 'tools/call', 'tools/call']);
  });

  it('may bring two events in one chunk', async () => {
    const server = await modernFaults({
      both: ({ id, stream, res, params }) => {
        stream();
        const { progressToken } = params._meta!;
        const progress = {
          jsonrpc: '2.0',
          method: 'notifications/progress',
          params: { progressToken, progress: 1 },
        };
        const answer = { jsonrpc: '2.0', id, result: { resultType: 'complete', ...FINE } };
        res.end(
          `data: ${JSON.stringify(progress)}\n\n: still here\n\nevent: message\ndata: ${JSON.stringify(answer)}\n\n`,
        );
      },
    });
    const client = await open(server.url);
    const updates: unknown[] = [];
    const result = await client.callTool('both', {}, { onProgress: (update) => updates.push(update) });
    expect({ text: textOf(result), updates }).toEqual({ text: 'fine', updates: [{ progress: 1 }] });
  });

  it('may bring one event in many chunks, cut within letters and line ends', async () => {
    const server = await modernFaults({
      slow: async ({ id, stream, res }) => {
        stream();
        const answer = {
          jsonrpc: '2.0',
          id,
          result: { resultType: 'complete', content: [{ type: 'text', text: 'größer 🌉' }] },
        };
        for (const byte of Buffer.from(`event: message\r\ndata: ${JSON.stringify(answer)}\r\n\r\n`)) {
          await new Promise((resolve) => res.write(Buffer.from([byte]), resolve));
        }
        res.end();
      },
    });
    const client = await open(server.url);
    expect(textOf(await client.callTool('slow'))).toBe('größer 🌉');
  });

  it('may bring an event of 10 MB, and one beyond the limit costs one call', async () => {
    const big: Fault = ({ id, stream, event, res }) => {
      stream();
      event({
        id,
        result: { resultType: 'complete', content: [{ type: 'text', text: 'x'.repeat(10_000_000) }] },
      });
      res.end();
    };
    const server = await modernFaults({ big });
    const client = await open(server.url);
    expect(textOf(await client.callTool('big')).length).toBe(10_000_000);
    const narrow = await open(server.url, { maxAnswerBytes: 1_000_000 });
    expect(await failure(narrow.callTool('big'))).toEqual({
      name: 'IsthmusError',
      code: 'RESULT_TOO_LARGE',
      message: `The answer of ${server.url} is longer than 1000000 bytes`,
      sent: 'maybe',
    });
    expect(textOf(await narrow.callTool('other'))).toBe('fine');
  });

  it('that does not end after the answer is not waited for', async () => {
    const closed = vi.fn();
    const server = await modernFaults({
      open: ({ id, stream, event, res }) => {
        res.on('close', closed);
        stream();
        event({ id, result: { resultType: 'complete', ...FINE } });
      },
    });
    const clock = new FakeClock();
    const client = await open(server.url, { clock });
    expect(textOf(await client.callTool('open'))).toBe('fine');
    expect(closed).not.toHaveBeenCalled();
    clock.advance(1000);
    await eventually(() => expect(closed).toHaveBeenCalledOnce());
  });
});

describe('an answer', () => {
  it('that is too long costs one call', async () => {
    const server = await modernFaults({
      big: ({ reply }) => reply({ content: [{ type: 'text', text: 'x'.repeat(5000) }] }),
    });
    const client = await open(server.url, { maxAnswerBytes: 4000 });
    expect(await failure(client.callTool('big'))).toMatchObject({ code: 'RESULT_TOO_LARGE', sent: 'maybe' });
    expect(textOf(await client.callTool('other'))).toBe('fine');
  });

  it('of a type that holds no messages is named', async () => {
    const page =
      '<html><head><title>Sign in</title><style>p{}</style></head><body><p>Please.</p></body></html>';
    const server = await modernFaults({
      page: ({ say }) => say(200, page, { 'content-type': 'text/html; charset=utf-8' }),
    });
    const client = await open(server.url);
    expect(await failure(client.callTool('page'))).toEqual({
      name: 'IsthmusError',
      code: 'INVALID_RESULT',
      message: `${server.url} answered with text/html instead of JSON: Sign in Please.`,
      sent: 'maybe',
      status: 200,
    });
  });

  it('that is not a message, or not one for this request, fails the call', async () => {
    const json = { 'content-type': 'application/json' };
    const server = await modernFaults({
      broken: ({ say, id }) => say(200, `{"jsonrpc":"2.0","id":${id},"result":{`, json),
      other: ({ say }) => say(200, '{"jsonrpc":"2.0","id":"other","result":{}}', json),
      nothing: ({ say }) => say(202, ''),
    });
    const client = await open(server.url);
    expect(await failure(client.callTool('broken'))).toMatchObject({ code: 'INVALID_RESULT', sent: 'maybe' });
    expect(await failure(client.callTool('other'))).toMatchObject({
      code: 'CONNECTION_CLOSED',
      sent: 'maybe',
    });
    expect(await failure(client.callTool('nothing'))).toMatchObject({
      code: 'INVALID_RESULT',
      message: `${server.url} accepted tools/call and sent no answer`,
    });
  });

  it('with an error status and a message is that message', async () => {
    const server = await modernFaults({
      unknown: ({ refuse }) => refuse(404, { code: -32601, message: 'Method not found' }),
      broken: ({ refuse }) => refuse(500, { code: -32603, message: 'Internal error' }),
      idless: ({ say }) =>
        say(400, '{"jsonrpc":"2.0","error":{"code":-32600,"message":"Invalid request"},"id":null}', {
          'content-type': 'application/json',
        }),
    });
    const client = await open(server.url);
    expect(await failure(client.callTool('unknown'))).toEqual({
      name: 'ProtocolError',
      code: -32601,
      message: 'Method not found',
      status: 404,
    });
    expect(await failure(client.callTool('broken'))).toMatchObject({ code: -32603, status: 500 });
    expect(await failure(client.callTool('idless'))).toMatchObject({ code: -32600, status: 400 });
  });

  it('with an error status and a page is an error with its words', async () => {
    const server = await modernFaults({
      page: ({ say }) => say(500, '<title>Oops</title>\n<script>alert(1)</script><h1>It   broke</h1>'),
      bare: ({ say }) => say(418, ''),
    });
    const client = await open(server.url);
    expect(await failure(client.callTool('page'))).toEqual({
      name: 'IsthmusError',
      code: 'HTTP_STATUS',
      message: `${server.url} answered with HTTP 500 Internal Server Error: Oops It broke`,
      sent: 'maybe',
      status: 500,
    });
    expect(await failure(client.callTool('bare'))).toMatchObject({
      message: `${server.url} answered with HTTP 418 I'm a Teapot`,
    });
  });
});

describe('a server that is busy', () => {
  const busy = (status: number, after: string, times = 1): Fault => {
    return ({ before, say, reply }) =>
      before < times ? say(status, 'later', { 'retry-after': after }) : reply(FINE);
  };

  it('is waited for as long as it asks', async () => {
    const server = await modernFaults({ busy: busy(429, '2'), down: busy(503, '3') });
    const clock = new FakeClock();
    const client = await open(server.url, { clock });
    for (const [name, ms] of [
      ['busy', 2000],
      ['down', 3000],
    ] as const) {
      const call = client.callTool(name);
      await eventually(() => expect(clock.waiting).toBe(1));
      const asked = server.seen.length;
      clock.advance(ms - 1);
      expect(clock.waiting).toBe(1);
      clock.advance(1);
      expect(textOf(await call)).toBe('fine');
      expect(server.seen.length).toBe(asked + 1);
    }
  });

  it('is waited for until a date', async () => {
    const clock = new FakeClock();
    const server = await modernFaults({ date: busy(503, new Date(clock.now() + 4000).toUTCString()) });
    const client = await open(server.url, { clock });
    const call = client.callTool('date');
    await eventually(() => expect(clock.waiting).toBe(1));
    clock.advance(4000);
    expect(textOf(await call)).toBe('fine');
  });

  it('for too long, too often, or without saying how long, is an error that certainly did not run', async () => {
    const server = await modernFaults({
      long: busy(429, '120'),
      often: busy(503, '0', 100),
      silent: ({ say }) => say(429, 'slow down'),
    });
    const client = await open(server.url);
    expect(await failure(client.callTool('long'))).toEqual({
      name: 'IsthmusError',
      code: 'HTTP_STATUS',
      message: `${server.url} answered with HTTP 429 Too Many Requests: later; retry after 120 s`,
      sent: 'no',
      status: 429,
    });
    expect(await failure(client.callTool('often'))).toMatchObject({ status: 503, sent: 'no' });
    expect(server.seen.filter(({ params }) => params.name === 'often')).toHaveLength(4);
    expect(await failure(client.callTool('silent'))).toMatchObject({
      message: `${server.url} answered with HTTP 429 Too Many Requests: slow down`,
    });
  });

  it('is not waited for longer than the call has time', async () => {
    const server = await modernFaults({ busy: busy(429, '9') });
    const clock = new FakeClock();
    const client = await open(server.url, { clock });
    expect(await failure(client.callTool('busy', {}, { timeoutMs: 50 }))).toMatchObject({
      code: 'TIMED_OUT',
    });
    expect(clock.waiting).toBe(0);
    clock.advance(10_000);
    // On a busy machine the time may be over before the first request arrives; a second one never leaves.
    expect(server.seen.filter(({ params }) => params.name === 'busy').length).toBeLessThan(2);
  });
});

describe('a call that is no longer wanted', () => {
  it('closes its stream, by which a modern server learns of it, and sends nothing', async () => {
    let closed: Promise<unknown> | undefined;
    const server = await modernFaults({
      hang: ({ res, stream }) => {
        closed = once(res, 'close');
        stream();
      },
      silent: () => {},
    });
    const client = await open(server.url);
    const abort = new AbortController();
    const call = failure(client.callTool('hang', {}, { signal: abort.signal }));
    await eventually(() => expect(closed).toBeDefined());
    abort.abort();
    expect(await call).toMatchObject({ code: 'CANCELLED', sent: 'maybe' });
    await closed;
    expect(await failure(client.callTool('silent', {}, { timeoutMs: 30 }))).toMatchObject({
      code: 'TIMED_OUT',
    });
    expect(server.methods()).toEqual(['server/discover', 'tools/call', 'tools/call']);
  });

  it('and that still waits for a place is never sent', async () => {
    const held: (() => void)[] = [];
    const server = await modernFaults({ hold: ({ reply }) => held.push(() => reply(FINE)) });
    const client = await open(server.url, { maxConcurrent: 2 });
    const calls = ['hold', 'hold'].map((name) => client.callTool(name));
    const abort = new AbortController();
    const third = failure(client.callTool('third', {}, { signal: abort.signal }));
    const fourth = client.callTool('fourth');
    await eventually(() => expect(held).toHaveLength(2));
    abort.abort();
    expect(await third).toMatchObject({ code: 'CANCELLED' });
    for (const answer of held) answer();
    await Promise.all([...calls, fourth]);
    expect(server.seen.slice(1).map(({ params }) => params.name)).toEqual(['hold', 'hold', 'fourth']);
  });
});

describe('a subscription', () => {
  it('whose stream is lost is opened again, on the same connection', async () => {
    const server = await modernFaults({
      'subscriptions/listen': ({ before, id, stream, event, res }) => {
        stream();
        const _meta = { 'io.modelcontextprotocol/subscriptionId': id };
        const notifications = { toolsListChanged: true };
        event({ method: 'notifications/subscriptions/acknowledged', params: { _meta, notifications } });
        if (before === 0) setImmediate(() => res.destroy());
        else event({ method: 'notifications/tools/list_changed', params: { _meta } });
      },
    });
    const client = await open(server.url);
    await using changes = await client.listen({ tools: true });
    for await (const change of changes) {
      expect(change).toEqual({ kind: 'tools' });
      break;
    }
    expect(server.methods()).toEqual(['server/discover', 'subscriptions/listen', 'subscriptions/listen']);
  });
});

describe('a connection', () => {
  it('reads nothing while it is held, and goes on where it was', async () => {
    const server = await modernFaults({});
    const connection = await http(server.url).connect();
    const heard: unknown[] = [];
    connection.open({ receive: (message) => heard.push(message.kind), inputEnded() {}, drained() {} });
    connection.hold(true);
    const meta = { 'io.modelcontextprotocol/protocolVersion': '2026-07-28' };
    connection.send(requestMessage(1, 'tools/list', { _meta: meta }));
    await eventually(() => expect(server.seen).toHaveLength(1));
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(heard).toEqual([]);
    connection.hold(false);
    await eventually(() => expect(heard).toEqual(['result']));
    connection.close();
    expect(await connection.closed).toEqual({ kind: 'closed' });
    connection.send(requestMessage(2, 'tools/list', { _meta: meta }));
    await connection.finish();
    expect(server.seen).toHaveLength(1);
  });

  it('that is closed delivers nothing more, and the server learns of it by the end of the stream', async () => {
    const closed = vi.fn();
    const server = await modernFaults({
      hang: ({ stream, res }) => {
        res.on('close', closed);
        stream();
      },
    });
    const client = await open(server.url);
    const calls = Array.from({ length: 30 }, () => failure(client.callTool('hang')));
    await eventually(() => expect(server.seen).toHaveLength(31));
    await client.close();
    for (const { code, sent } of await Promise.all(calls)) {
      expect([code, sent]).toEqual(['CONNECTION_CLOSED', 'maybe']);
    }
    await eventually(() => expect(closed).toHaveBeenCalledTimes(30));
  });
});

describe('an address without a listener', () => {
  it('is said, and that the request certainly did not leave', async () => {
    const server = await modernFaults({});
    const client = await open(server.url);
    await server.close();
    expect(await failure(client.callTool('any'))).toEqual({
      name: 'IsthmusError',
      code: 'ADDRESS_UNAVAILABLE',
      message: `Cannot connect to ${server.url}: connection refused`,
      sent: 'no',
    });
    expect(await failure(open(server.url))).toMatchObject({ code: 'ADDRESS_UNAVAILABLE' });
    const plain = await modernFaults({});
    const tls = plain.url.replace('http:', 'https:');
    expect(await failure(open(tls))).toMatchObject({
      code: 'ADDRESS_UNAVAILABLE',
      message: `Cannot connect to ${tls}: its port does not speak TLS (https)`,
      sent: 'no',
    });
    expect(await failure(open('http://no-such-host.invalid/mcp'))).toMatchObject({
      code: 'ADDRESS_UNAVAILABLE',
      sent: 'no',
    });
  });
});
