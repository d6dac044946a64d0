import { once } from 'node:events';
import { connect } from 'node:net';
import { createServer } from '@isthmus/sdk';
import { http } from '@isthmus/sdk/http';
import type { Connection, Receiver } from '@isthmus/sdk/internal/exchange/connection.js';
import { errorMessage } from '@isthmus/sdk/internal/wire/json-rpc.js';
import { describe, expect, it, onTestFinished } from 'vitest';
import {
  ask,
  gate,
  initialize,
  legacy,
  legacyCall,
  legacyRequest,
  modern,
  modernCall,
  open,
  plainServer,
  type RawSocket,
  rawSocket,
  send,
  serveHttp,
} from '../../packages/sdk/test/support/http-server.js';
import { FakeClock } from '../support/fake-clock.js';

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

/** A stream of 2024-11-05 whose handshake was made, and the address to post to. */
async function oldStream(url: string) {
  const place = new URL('/sse', url);
  const stream = await open(place.href, { method: 'GET', headers: { accept: 'text/event-stream' } });
  await stream.until('endpoint', () => stream.events.length > 0);
  const endpoint = new URL(stream.events[0]!.data!, place).href;
  await ask(endpoint, legacy(initialize('init', '2024-11-05')));
  await stream.until('welcome', () => stream.text.includes('"init"'));
  return { stream, endpoint };
}

/** The head of a POST, and the beginning of its body. */
function beginPost(raw: RawSocket, place: string, length: number): void {
  const { pathname, search, host } = new URL(place);
  const lines = [`POST ${pathname}${search} HTTP/1.1`, `host: ${host}`, 'content-type: application/json'];
  lines.push('accept: application/json, text/event-stream', `content-length: ${length}`);
  raw.write(`${lines.join('\r\n')}\r\n\r\n`);
}

describe('S7: places on a stream of 2024-11-05', () => {
  it('S7: a message whose stream ends while it arrives is refused, and takes no place', async () => {
    const { url, port } = await serveHttp(plainServer(), { sse: true, maxRequests: 1 });
    const { stream, endpoint } = await oldStream(url);
    const body = JSON.stringify(legacyRequest(1, 'ping'));
    const late = await rawSocket(port);
    beginPost(late, endpoint, body.length);
    late.write(body.slice(0, 5));
    // The server has read the head before it answers what was sent later.
    expect(
      (await ask(endpoint, legacy({ jsonrpc: '2.0', method: 'notifications/initialized' }))).status,
    ).toBe(202);
    stream.hangUp();
    await expect.poll(async () => (await ask(endpoint, legacy(legacyRequest(2, 'ping')))).status).toBe(404);
    late.write(body.slice(5));
    await late.until('answer', () => late.status !== undefined);
    expect(late.status).toBe(404);
    expect((await ask(url, modern(3, 'server/discover'))).status).toBe(200);
  });

  it('S7: a batch that the revision does not have is refused, and takes no places', async () => {
    const { url } = await serveHttp(plainServer(), { sse: true, maxRequests: 2 });
    const { endpoint } = await oldStream(url);
    const batch = [legacyRequest(1, 'ping'), legacyRequest(2, 'ping')];
    expect((await ask(endpoint, legacy(batch))).status).toBe(400);
    expect((await ask(url, modern(3, 'server/discover'))).status).toBe(200);
  });

  it('S7: a request with the id of one in flight does not give back the place of the first', async () => {
    const { server, release, running } = holding();
    const { url } = await serveHttp(server, { sse: true, maxRequests: 1 });
    const { endpoint } = await oldStream(url);
    await ask(endpoint, legacy(legacyCall(1, 'hold')));
    await expect.poll(running).toBe(1);
    expect((await ask(endpoint, legacy(legacyCall(1, 'hold')))).status).toBe(400);
    expect((await ask(url, modernCall(2, 'quick'))).status).toBe(503);
    release();
    await expect.poll(async () => (await ask(url, modernCall(3, 'quick'))).status).toBe(200);
  });

  it('R3: the body of a request counts until the request is answered', async () => {
    const { server, release, running } = holding();
    const { url } = await serveHttp(server, { sse: true, maxBodiesBytes: 800 * 1024 });
    const { endpoint } = await oldStream(url);
    const text = 'x'.repeat(400 * 1024);
    expect((await ask(endpoint, legacy(legacyCall(1, 'hold', { text })))).status).toBe(202);
    await expect.poll(running).toBe(1);
    const large = modernCall(2, 'quick', { text: 'x'.repeat(150 * 1024) });
    expect((await ask(url, large)).status).toBe(429);
    release();
    await expect.poll(async () => (await ask(url, large)).status).toBe(200);
  });
});

describe('R3: bodies', () => {
  it('R3: a short body whose length was not announced counts with its real length', async () => {
    const { server, release, running } = holding();
    const { url } = await serveHttp(server, { maxBodiesBytes: 64 * 1024 * 1024 });
    const chunked = { headers: { 'transfer-encoding': 'chunked' } };
    for (let id = 0; id < 20; id += 1) {
      send(url, modernCall(id, 'hold', {}, chunked));
      await expect.poll(running).toBe(id + 1);
    }
    release();
  });

  it('R3: a body that fails in a fetch handler gives back its room, and is answered', async () => {
    const { httpHandler } = await import('@isthmus/sdk/http');
    const { serve } = await import('@isthmus/sdk');
    const endpoint = httpHandler({ maxBodiesBytes: 800 * 1024 });
    const served = await serve(plainServer(), endpoint);
    onTestFinished(() => served.close({ graceMs: 0 }));
    const failing = () => {
      const body = new ReadableStream({ pull: (controller) => controller.error(new Error('cut off')) });
      const { headers } = modernCall(1, 'echo');
      const init = { method: 'POST', headers: headers as Record<string, string>, body, duplex: 'half' };
      (init.headers as Record<string, string>)['content-length'] = String(400 * 1024);
      return endpoint.fetch(new Request('http://localhost/mcp', init as RequestInit));
    };
    for (let at = 0; at < 3; at += 1) expect((await failing()).status).toBe(400);
  });
});

describe('S7: connections whose requests never arrive in full', () => {
  it('S7: one address cannot keep all connections with bodies that it does not send', async () => {
    const { url, port } = await serveHttp(plainServer(), { maxConnections: 8 });
    for (let at = 0; at < 8; at += 1) {
      const socket = connect({ host: '127.0.0.1', port, localAddress: '127.0.0.66' });
      onTestFinished(() => void socket.destroy());
      socket.on('error', () => {});
      await once(socket, 'connect');
      const head = `POST /mcp HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\ncontent-type: application/json\r\nexpect: 100-continue\r\ncontent-length: 100\r\n\r\n`;
      socket.write(head);
      // The interim answer shows that the head was read.
      await once(socket, 'data');
    }
    expect((await ask(url, { ...modern(1, 'server/discover'), from: '127.0.0.2' })).status).toBe(200);
  });
});

/** What arrives at an endpoint, with a test in the place of a server. */
async function endpointAlone(clock = new FakeClock()) {
  const received: unknown[] = [];
  const connections: Connection[] = [];
  const receiver: Receiver = {
    receive: (message) => void received.push(message),
    inputEnded() {},
    drained() {},
  };
  const listening = await (http({ port: 0, clock }) as ReturnType<typeof http> & { listen: unknown }).listen(
    (connection: Connection) => {
      connections.push(connection);
      connection.open(receiver);
    },
    { eras: ['legacy', 'modern'], headerParams: () => [], knows: () => true },
  );
  onTestFinished(async () => {
    await listening.stop();
    await listening.release?.();
  });
  return { url: listening.address, received, connections, clock };
}

describe('R4: legacy sessions', () => {
  it('R4, SESS-001: a handshake that fails after its answer became a stream opens no session', async () => {
    const { url, connections, clock } = await endpointAlone();
    const opening = send(url, legacy(initialize(1)));
    const answered = once(opening, 'response');
    await expect.poll(() => connections.length).toBe(1);
    clock.advance(20_000);
    await answered;
    const [session] = connections as [Connection];
    let end: unknown;
    void session.closed.then((how) => {
      end = how;
    });
    session.send(errorMessage(1, { code: -32603, message: 'The server cannot be reached' }));
    await expect.poll(() => end).toEqual({ kind: 'closed' });
  });

  it('R3: a request that is cancelled while it is held is not delivered, and not kept', async () => {
    const { url, connections, received } = await endpointAlone();
    const welcome = ask(url, legacy(initialize('init')));
    await expect.poll(() => connections.length).toBe(1);
    const [session] = connections as [Connection];
    session.send({ jsonrpc: '2.0', id: 'init', result: { protocolVersion: '2025-11-25' } });
    const headers = { 'mcp-session-id': String((await welcome).headers['mcp-session-id']) };
    received.length = 0;
    session.hold(true);
    const first = ask(url, legacy(legacyCall(1, 'one'), headers));
    const second = send(url, legacy(legacyCall(2, 'two'), headers));
    const cancel = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } };
    // The POST of a cancelled request ends without an answer; before it has arrived, nothing happens.
    let over = false;
    void first.then(() => {
      over = true;
    });
    await expect
      .poll(async () => {
        await ask(url, legacy(cancel, headers));
        return over;
      })
      .toBe(true);
    await expect
      .poll(() => {
        session.hold(false);
        return received.filter((each) => (each as { kind: string }).kind === 'request');
      })
      .toMatchObject([{ id: 2 }]);
    second.destroy();
  });
});
