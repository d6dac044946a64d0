import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { HttpListenOptions } from '../../../../src/transport/http.js';
import {
  type Ask,
  ask,
  initialize,
  LOG_LEVEL,
  legacy,
  legacyCall,
  legacyRequest,
  modern,
  modernCall,
  open,
  openSession,
  plainServer,
  rawSocket,
  serveHttp,
  within,
} from '../../../support/http-server.js';

const PROGRAM = fileURLToPath(new URL('../../../../../../test/programs/server-on-http.mjs', import.meta.url));

/** A server in a process of its own, whose memory is its own. */
async function serverProcess(
  options: HttpListenOptions = {},
): Promise<{ url: string; port: number; child: ChildProcess }> {
  const child = spawn(process.execPath, ['--expose-gc', PROGRAM, JSON.stringify(options)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const gone = once(child, 'exit');
    child.kill('SIGKILL');
    await gone;
  });
  const [url] = (await once(createInterface({ input: child.stdout! }), 'line')) as [string];
  return { url, port: Number(new URL(url).port), child };
}

/** What the process holds after a collection, in MB. */
async function memory(url: string): Promise<number> {
  const { json } = await ask(url, modernCall('m', 'memory'));
  const { rss } = JSON.parse(json.result.content[0].text) as { rss: number };
  return rss / 1024 / 1024;
}

/** A request as text, to be sent in any way one likes. */
function onTheWire({ method = 'POST', headers = {}, body = '' }: Ask, more = ''): string {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${String(value)}\r\n`);
  const length = `content-length: ${Buffer.byteLength(body)}\r\n`;
  return `${method} /mcp HTTP/1.1\r\nhost: localhost\r\n${lines.join('')}${more}${length}\r\n${String(body)}`;
}

describe('a client that takes its time', () => {
  it('over the headers is sent away with 408', async () => {
    const { url, port } = await serveHttp(plainServer(), { headersTimeoutMs: 300, requestTimeoutMs: 60_000 });
    const slow = await rawSocket(port);
    slow.write('POST /mcp HTTP/1.1\r\nHost: localhost\r\nX-A');
    const drip = setInterval(() => slow.write('a'), 50);
    onTestFinished(() => clearInterval(drip));
    expect((await ask(url, modern(1, 'server/discover'))).status).toBe(200);
    await within(15_000, 'the end of the slow client', slow.closed);
    expect(slow.status).toBe(408);
  });

  it('over the body is sent away, though it keeps sending', async () => {
    const { url, port } = await serveHttp(plainServer(), { headersTimeoutMs: 300, requestTimeoutMs: 600 });
    const slow = await rawSocket(port);
    slow.write(
      'POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n' +
        'Accept: application/json, text/event-stream\r\nContent-Length: 100000\r\n\r\n{"a":"',
    );
    const drip = setInterval(() => slow.write('a'), 50);
    onTestFinished(() => clearInterval(drip));
    expect((await ask(url, modern(1, 'server/discover'))).status).toBe(200);
    await within(15_000, 'the end of the slow client', slow.closed);
    expect([undefined, 408]).toContain(slow.status);
    expect((await ask(url, modern(2, 'server/discover'))).status).toBe(200);
  });

  it('and sends half a body, then nothing, is sent away', async () => {
    const { port, served } = await serveHttp(plainServer(), { headersTimeoutMs: 300, requestTimeoutMs: 500 });
    const half = await rawSocket(port);
    half.write(onTheWire(modern(1, 'server/discover')).slice(0, -20));
    await within(15_000, 'the end of the slow client', half.closed);
    expect(served.connections).toBe(0);
  });

  it('with a connection that says nothing at all is sent away', async () => {
    const { port } = await serveHttp(plainServer(), { headersTimeoutMs: 300, requestTimeoutMs: 500 });
    const silent = await rawSocket(port);
    await within(15_000, 'the end of the silent client', silent.closed);
  });

  it('between two requests may keep the connection, but not for ever', async () => {
    const { port } = await serveHttp(plainServer(), { idleTimeoutMs: 300 });
    const socket = await rawSocket(port);
    socket.write(onTheWire(modern(1, 'server/discover')));
    await socket.until('answer', () => socket.text.includes('supportedVersions'));
    expect(socket.over).toBe(false);
    await within(15_000, 'the end of the idle connection', socket.closed);
  });

  it('over the answer may: a slow call outlives every limit for requests', async () => {
    const server = plainServer();
    server.tool('slow', {}, async () => {
      await new Promise((resolve) => setTimeout(resolve, 2500));
      return 'at last';
    });
    const { url } = await serveHttp(server, {
      headersTimeoutMs: 300,
      requestTimeoutMs: 500,
      idleTimeoutMs: 300,
    });
    const { json } = await ask(url, modernCall(1, 'slow'));
    expect(json.result?.content).toEqual([{ type: 'text', text: 'at last' }]);
  });
});

describe('input that is not HTTP', () => {
  it.each<[string, string]>([
    ['a TLS greeting', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03'],
    ['another protocol', 'SSH-2.0-OpenSSH_9.6\r\n'],
    ['a JSON-RPC line', '{"jsonrpc":"2.0","id":1,"method":"ping"}\n'],
    ['a bad request line', 'POST\r\n\r\n'],
    ['a version that there is none of', 'POST /mcp HTTP/9.9\r\nHost: localhost\r\n\r\n'],
    ['a header without a colon', 'POST /mcp HTTP/1.1\r\nHost: localhost\r\nnonsense\r\n\r\n'],
    ['a header name with a space', 'POST /mcp HTTP/1.1\r\nHost: localhost\r\nMcp Method: x\r\n\r\n'],
    ['a control character in a header', 'POST /mcp HTTP/1.1\r\nHost: localhost\r\nMcp-Name: a\x00b\r\n\r\n'],
    ['a length that is no number', 'POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: many\r\n\r\n'],
    ['a negative length', 'POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: -5\r\n\r\n'],
    [
      'two lengths',
      'POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello!',
    ],
    [
      'a length and chunks',
      'POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
    ],
    ['no host', 'POST /mcp HTTP/1.1\r\n\r\n'],
    ['two hosts', 'POST /mcp HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\n\r\n'],
  ])('%s is refused, and the next client is served', async (_what, text) => {
    const { url, port } = await serveHttp(plainServer(), { headersTimeoutMs: 500, requestTimeoutMs: 500 });
    const socket = await rawSocket(port);
    socket.write(Buffer.from(text, 'latin1'));
    await within(
      8000,
      'the end',
      Promise.race([socket.closed, socket.until('status', () => socket.status !== undefined)]),
    );
    if (socket.status !== undefined) expect(socket.status).toBeGreaterThanOrEqual(400);
    expect(socket.text).not.toMatch(/"result"/);
    expect(socket.text).not.toMatch(/node:|\.ts|\.js:/);
    expect((await ask(url, modern(1, 'server/discover'))).status).toBe(200);
  });

  it('chunks that are broken are refused, and the next client is served', async () => {
    const { url, port } = await serveHttp(plainServer());
    const socket = await rawSocket(port);
    const { headers } = modern(1, 'server/discover');
    const lines = Object.entries(headers!).map(([name, value]) => `${name}: ${String(value)}\r\n`);
    socket.write(
      `POST /mcp HTTP/1.1\r\nHost: localhost\r\n${lines.join('')}Transfer-Encoding: chunked\r\n\r\n`,
    );
    socket.write('zz\r\nnonsense\r\n');
    await within(15_000, 'the end', socket.closed);
    expect((await ask(url, modern(1, 'server/discover'))).status).toBe(200);
  });

  it('a request cut into single bytes is a request', async () => {
    const { port } = await serveHttp(plainServer());
    const socket = await rawSocket(port);
    socket.socket.setNoDelay(true);
    for (const byte of onTheWire(modernCall(1, 'echo', { text: 'grüße' }), 'connection: close\r\n')) {
      socket.write(byte);
      await new Promise((resolve) => setImmediate(resolve));
    }
    await within(10_000, 'the answer', socket.closed);
    expect(Buffer.from(socket.text, 'latin1').toString()).toContain('grüße');
  });

  it('two requests in one write get two answers in their order', async () => {
    const { port } = await serveHttp(plainServer());
    const socket = await rawSocket(port);
    socket.write(
      onTheWire(modernCall(1, 'echo', { text: 'first' })) +
        onTheWire(modernCall(1, 'echo', { text: 'second' }), 'connection: close\r\n'),
    );
    await within(15_000, 'the answers', socket.closed);
    expect([...socket.text.matchAll(/"text":"(\w+)"/g)].map(([, word]) => word)).toEqual(['first', 'second']);
  });

  it('a client that leaves in the middle of its request leaves nothing behind', async () => {
    const { url, port, served } = await serveHttp(plainServer());
    const whole = onTheWire(modernCall(1, 'echo', { text: 'x'.repeat(1000) }));
    for (let cut = 1; cut < whole.length; cut += 97) {
      const socket = await rawSocket(port);
      socket.write(whole.slice(0, cut));
      socket.socket.destroy();
    }
    expect((await ask(url, modern(1, 'server/discover'))).status).toBe(200);
    expect(served.connections).toBe(0);
  });
});

describe('a body that is meant to hurt', () => {
  it.each<[string, string]>([
    ['100,000 brackets', '['.repeat(100_000)],
    ['100,000 nested objects', `${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}`],
    ['a prototype', '{"jsonrpc":"2.0","id":1,"method":"__proto__","params":{"__proto__":{"polluted":1}}}'],
    ['a method that is a method of objects', '{"jsonrpc":"2.0","id":1,"method":"constructor"}'],
    ['a lone surrogate', '{"jsonrpc":"2.0","id":"\\ud800","method":"x"}'],
    ['null', 'null'],
    ['a number', '42'],
    ['nothing', ''],
    ['zero bytes', '\u0000\u0000\u0000'],
    ['a number beyond all numbers', '{"jsonrpc":"2.0","id":1e999,"method":"tools/list"}'],
  ])('%s gets a refusal in either era, and the next client is served', async (_what, body) => {
    const { url } = await serveHttp(plainServer());
    const session = await openSession(url);
    for (const headers of [
      modern(1, 'tools/list').headers,
      { ...legacy(null).headers, ...session.headers },
    ]) {
      const { status, json } = await ask(url, { body, headers: headers! });
      expect(status).toBeGreaterThanOrEqual(200);
      expect(status).toBeLessThan(500);
      expect(json.error?.code).toBeLessThan(0);
    }
    expect(({} as { polluted?: number }).polluted).toBeUndefined();
    expect((await ask(url, modern(1, 'server/discover'))).status).toBe(200);
  });

  it('bytes that are not UTF-8 are a parse error', async () => {
    const { url } = await serveHttp(plainServer());
    const body = Buffer.concat([
      Buffer.from('{"jsonrpc":"2.0","id":1,"method":"'),
      Buffer.from([0xff, 0xfe]),
      Buffer.from('"}'),
    ]);
    const { status, json } = await ask(url, { ...modern(1, 'tools/list'), body });
    expect([status, json.error?.code]).toEqual([400, -32700]);
  });

  it('a batch of 50,000 in a session of 2025-03-26 is refused', async () => {
    const { url } = await serveHttp(plainServer());
    const session = await openSession(url, { revision: '2025-03-26' });
    const batch = Array.from({ length: 50_000 }, (_, id) => legacyRequest(id, 'ping'));
    const { status, text } = await session.post(batch);
    expect(status).toBe(400);
    expect(text).toContain('-32600');
    expect((await session.post(legacyRequest(1, 'ping'))).json.result).toEqual({});
  });

  it('names from the prototype of objects are not sessions and not headers', async () => {
    const { url } = await serveHttp(plainServer(), { sse: true });
    for (const id of ['__proto__', 'constructor', 'toString']) {
      expect((await ask(url, legacy(legacyRequest(1, 'ping'), { 'mcp-session-id': id }))).status).toBe(404);
      const message = new URL(`/message?sessionId=${id}`, url).href;
      expect((await ask(message, legacy(legacyRequest(1, 'ping')))).status).toBe(404);
    }
  });
});

describe('a reader that stops reading', () => {
  /** 100,000 changes of it are 100 MB. */
  const LONG_URI = `test://${'a'.repeat(1000)}`;

  it('of a modern stream costs a bounded memory, and others are served', async () => {
    const { url } = await serverProcess();
    const before = await memory(url);
    const stalled = await open(
      url,
      modernCall(1, 'flood', { times: 4000 }, { meta: { progressToken: 1, [LOG_LEVEL]: 'info' } }),
    );
    stalled.response.pause();
    // 500 MB would have been said by now.
    for (let turn = 0; turn < 20; turn += 1) {
      expect((await ask(url, modernCall(2, 'echo', { text: 'x' }))).status).toBe(200);
    }
    expect((await memory(url)) - before).toBeLessThan(80);
    // It may read on: the answer is there.
    stalled.response.resume();
    await stalled.until('answer', () => stalled.text.includes('flooded'), 20_000);
  });

  it('of a listen hears each change once when it reads on, at a bounded cost', async () => {
    const { url } = await serverProcess();
    const before = await memory(url);
    const stalled = await open(
      url,
      modern(1, 'subscriptions/listen', { notifications: { resourceSubscriptions: [LONG_URI] } }),
    );
    await stalled.next();
    stalled.response.pause();
    const other = await open(
      url,
      modern(2, 'subscriptions/listen', { notifications: { resourceSubscriptions: [LONG_URI] } }),
    );
    await other.next();
    await ask(url, modernCall(3, 'touch', { times: 100_000, uri: LONG_URI }));
    expect((await memory(url)) - before).toBeLessThan(80);
    await other.until('news', () => other.text.includes('resources/updated'));
    stalled.response.resume();
    await stalled.until('news', () => stalled.text.includes('resources/updated'), 20_000);
  });

  it('of the standing stream of a session costs a bounded memory, and its calls are answered', async () => {
    const { url } = await serverProcess();
    const before = await memory(url);
    const session = await openSession(url);
    const standing = await session.get();
    standing.response.pause();
    await session.post(legacyRequest(1, 'resources/subscribe', { uri: LONG_URI }));
    await ask(url, modernCall(3, 'touch', { times: 100_000, uri: LONG_URI }));
    expect((await memory(url)) - before).toBeLessThan(80);
    for (const each of [session, await openSession(url)]) {
      expect((await each.post(legacyCall(2, 'echo', { text: 'x' }))).status).toBe(200);
    }
  });

  it('of a POST of a session costs a bounded memory', async () => {
    const { url } = await serverProcess();
    const before = await memory(url);
    const session = await openSession(url);
    const stalled = await session.open(legacyCall(1, 'flood', { times: 4000 }, { progressToken: 1 }));
    stalled.response.pause();
    for (let turn = 0; turn < 20; turn += 1) {
      expect((await ask(url, modernCall(2, 'echo', { text: 'x' }))).status).toBe(200);
    }
    expect((await memory(url)) - before).toBeLessThan(80);
  });
});

describe('many', () => {
  it('10,000 idle connections cost a bounded memory, and one more client is served', async () => {
    // As many as the system lets a process have; ours and the server's each need one descriptor.
    const limit = Number(execFileSync('sh', ['-c', 'ulimit -n'], { encoding: 'utf8' })) || 20_000;
    const count = Math.min(10_000, limit - 1000);
    const { url, port } = await serverProcess({ headersTimeoutMs: 60_000, requestTimeoutMs: 60_000 });
    const before = await memory(url);
    const sockets: Socket[] = [];
    onTestFinished(() => {
      for (const socket of sockets) socket.destroy();
    });
    while (sockets.length < count) {
      const opened = Array.from({ length: 100 }, () => {
        const socket = connect({ host: '127.0.0.1', port });
        socket.on('error', () => {});
        sockets.push(socket);
        return once(socket, 'connect');
      });
      await Promise.all(opened);
    }
    expect((await ask(url, modernCall(1, 'echo', { text: 'x' }))).status).toBe(200);
    expect((await memory(url)) - before).toBeLessThan(200);
    expect(sockets.filter(({ destroyed }) => destroyed)).toHaveLength(0);
  });

  it('connections beyond a limit are closed at once, and a place is free when one ends', async () => {
    const { url, port } = await serveHttp(plainServer(), { maxConnections: 2 });
    const kept = [await rawSocket(port), await rawSocket(port)];
    for (const socket of kept) {
      socket.write(onTheWire(modern(1, 'server/discover')));
      await socket.until('answer', () => socket.status === 200);
    }
    const third = await rawSocket(port);
    await within(15_000, 'the end of the third', third.closed);
    kept[0]!.socket.destroy();
    await kept[0]!.closed;
    await expect
      .poll(
        () =>
          ask(url, modern(1, 'server/discover')).then(
            ({ status }) => status,
            () => 0,
          ),
        { timeout: 20_000 },
      )
      .toBe(200);
  });

  it('3,000 refused requests leave nothing behind', async () => {
    const { url } = await serverProcess();
    const bad: Ask[] = [
      modern(1, 'no/such'),
      modern(1, 'tools/list', {}, { headers: { 'mcp-method': 'x' } }),
      legacy(legacyRequest(1, 'ping'), { 'mcp-session-id': 'x' }),
      legacy(legacyRequest(1, 'initialize', {})),
      { body: '{"', headers: modern(1, 'x').headers! },
    ];
    const round = async (count: number) => {
      for (let turn = 0; turn < count / 50; turn += 1) {
        await Promise.all(Array.from({ length: 50 }, (_, n) => ask(url, bad[n % bad.length]!)));
      }
    };
    await round(1000);
    const before = await memory(url);
    await round(2000);
    expect((await memory(url)) - before).toBeLessThan(40);
    expect((await ask(url, legacy(initialize(1)))).status).toBe(200);
  });
});

describe('a process that is told to stop', () => {
  it('ends with code 0 within its grace, whatever its clients do', async () => {
    const { url, port, child } = await serverProcess();
    const silent = await rawSocket(port);
    const half = await rawSocket(port);
    half.write(onTheWire(modern(1, 'server/discover')).slice(0, -20));
    const kept = await rawSocket(port);
    kept.write(onTheWire(modern(1, 'server/discover')));
    await kept.until('answer', () => kept.status === 200);
    const listen = await open(
      url,
      modern(2, 'subscriptions/listen', { notifications: { toolsListChanged: true } }),
    );
    await listen.next();
    const session = await openSession(url);
    const standing = await session.get();
    const exited = once(child, 'exit');
    child.kill('SIGTERM');
    expect(await within(9500, 'exit', exited)).toEqual([0, null]);
    await listen.end();
    expect(listen.messages.at(-1)).toMatchObject({ id: 2, result: { resultType: 'complete' } });
    await standing.end();
    await within(15_000, 'the ends', Promise.all([silent.closed, half.closed, kept.closed]));
  });
});
