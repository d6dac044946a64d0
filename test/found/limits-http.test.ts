import { once } from 'node:events';
import { connect } from 'node:net';
import { createServer } from '@isthmus/sdk';
import { describe, expect, it, onTestFinished } from 'vitest';
import { ask, gate, modernCall, send, serveHttp } from '../../packages/sdk/test/support/http-server.js';
import { deaf, post } from '../bridge-load/support/deaf-client.js';
import { FakeClock } from '../support/fake-clock.js';

const KIB = 1024;

function holding() {
  const server = createServer({ name: 'holding', version: '1' });
  const end = gate();
  let running = 0;
  server.tool('hold', {}, async () => {
    running += 1;
    await end.promise;
    return 'held';
  });
  server.tool('quick', {}, () => 'quick');
  return { server, release: end.open, running: () => running };
}

const body = (id: number, tool: string, kib: number) => modernCall(id, tool, { text: 'x'.repeat(kib * KIB) });

describe('R3: the bodies of HTTP requests at work are bounded in bytes', () => {
  it('R3: past its share a client gets 429, and another client is served', async () => {
    const { server, release, running } = holding();
    const { url } = await serveHttp(server, { maxBodiesBytes: 800 * KIB });
    const held = [
      ask(url, body(1, 'hold', 130)),
      ask(url, body(2, 'hold', 130)),
      ask(url, body(3, 'hold', 130)),
    ];
    await expect.poll(running).toBe(3);
    const refused = await ask(url, body(4, 'quick', 100));
    expect(refused.status).toBe(429);
    expect(refused.headers['retry-after']).toBe('1');
    expect(refused.json.error?.message).toBe(
      'The bodies of running requests may take 819200 bytes, and this client has used its share; try again later',
    );
    // What is small is not counted.
    expect((await ask(url, body(5, 'quick', 1))).status).toBe(200);
    expect((await ask(url, { ...body(6, 'quick', 100), from: '127.0.0.2' })).status).toBe(200);
    release();
    expect((await Promise.all(held)).map(({ status }) => status)).toEqual([200, 200, 200]);
    // All of it was given back.
    await expect.poll(async () => (await ask(url, body(7, 'quick', 250))).status).toBe(200);
  });

  it('R3: a body that is announced and never sent counts until its connection ends', async () => {
    const { server } = holding();
    const { url, port } = await serveHttp(server, { maxBodiesBytes: 800 * KIB });
    const socket = connect(port, '127.0.0.1');
    onTestFinished(() => void socket.destroy());
    await once(socket, 'connect');
    const { headers } = body(1, 'hold', 1);
    const lines = Object.entries({
      host: `127.0.0.1:${port}`,
      ...headers,
      'content-length': String(400 * KIB),
    });
    socket.write(
      `POST /mcp HTTP/1.1\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n{`,
    );
    await expect.poll(async () => (await ask(url, body(2, 'quick', 150))).status).toBe(429);
    socket.destroy();
    await expect.poll(async () => (await ask(url, body(3, 'quick', 150))).status).toBe(200);
  });

  it('R3: a legacy call counts until it is answered, also when its client has gone', async () => {
    const { server, release, running } = holding();
    const { url } = await serveHttp(server, { maxBodiesBytes: 800 * KIB });
    const json = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
    const initialize = await ask(url, {
      method: 'POST',
      headers: json,
      body: JSON.stringify({
        jsonrpc: '2.0',
        id: 0,
        method: 'initialize',
        params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'x', version: '1' } },
      }),
    });
    const session = String(initialize.headers['mcp-session-id']);
    const large = { name: 'hold', arguments: { text: 'x'.repeat(400 * KIB) } };
    const call = send(url, {
      headers: { ...json, 'mcp-session-id': session },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: large }),
    });
    await expect.poll(running).toBe(1);
    call.destroy();
    await new Promise((resolve) => call.on('close', resolve));
    expect((await ask(url, body(2, 'quick', 150))).status).toBe(429);
    release();
    await expect.poll(async () => (await ask(url, body(3, 'quick', 150))).status).toBe(200);
  });

  it('R3: a body that alone is longer than a small default still fits where maxBodyBytes allows it', async () => {
    const { server } = holding();
    const { url } = await serveHttp(server, { maxBodyBytes: 100 * 1024 * KIB });
    expect((await ask(url, body(1, 'quick', 17 * 1024))).status).toBe(200);
  });
});

describe('R3: a stream over HTTP whose client stops reading', () => {
  it('R3: is closed after a minute, its call is cancelled, and what waits for it stays bounded', async () => {
    const clock = new FakeClock();
    const server = createServer({ name: 'talkative', version: '1' });
    const ended = gate<string>();
    let sent = 0;
    server.tool('talk', {}, (_args, ctx) => {
      ctx.signal.addEventListener('abort', () => ended.open('aborted'));
      const talk = () => {
        // More than the system keeps on the way from one socket to the other.
        for (let count = 0; count < 20 && sent < 400; count += 1) {
          sent += 1;
          ctx.progress(sent, undefined, 'x'.repeat(50_000));
        }
        if (sent < 400) setImmediate(talk);
      };
      talk();
      return new Promise<string>(() => {});
    });
    server.tool('echo', {}, () => 'echo');
    const { url } = await serveHttp(server, { clock, answerTimeoutMs: 60_000 });
    const socket = await deaf(url);
    post(socket, modernCall(1, 'talk', {}, { meta: { progressToken: 'p' } }));
    await expect.poll(() => sent).toBe(400);
    const before = process.memoryUsage().external;
    clock.advance(59_000);
    expect((await ask(url, modernCall(2, 'echo'))).status).toBe(200);
    clock.advance(2000);
    expect(await ended.promise).toBe('aborted');
    expect(process.memoryUsage().external - before).toBeLessThan(20_000_000);
  });
});
