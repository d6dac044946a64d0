/** Clients that send too much, too slowly or never, and those that do not read: they are sent away, others do not notice. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { until } from '../../../../test/support/until.js';
import { type Ask, modernCall, pause, rawSocket, within } from '../../../sdk/test/support/http-server.js';
import {
  type House,
  type HouseOptions,
  KEYS,
  openHouse,
  tellsAll,
  textOf,
} from '../support/secured-gateway.js';

const HASTY = { headersTimeoutMs: 300, requestTimeoutMs: 600, idleTimeoutMs: 300 };

async function opened(server: HouseOptions['server'] = HASTY, more: HouseOptions = {}): Promise<House> {
  const house = await openHouse([tellsAll('a'), tellsAll('b')], { server, ...more });
  expect(await pid(house)).toMatch(/^\d+$/);
  return house;
}

/** Somebody who behaves, at another server than the others. */
const pid = async (house: House) => textOf(await house.ask('/mcp/b', modernCall(1, 'pid')));

/** A request as text. */
function onTheWire(path: string, { method = 'POST', headers = {}, body = '' }: Ask): string {
  const all = { host: 'localhost', 'content-length': String(Buffer.byteLength(body)), ...headers };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${String(value)}\r\n`);
  return `${method} ${path} HTTP/1.1\r\n${lines.join('')}\r\n${String(body)}`;
}

/** Writes a little every now and then, until the socket is gone. */
function drip(socket: Socket, text: string): void {
  const timer = setInterval(() => socket.write(text), 50);
  onTestFinished(() => clearInterval(timer));
}

describe('too much', () => {
  it('of a body is refused wherever it is sent, before it is read to its end', async () => {
    const house = await opened(HASTY, { endpoint: { maxBodyBytes: 100_000 } });
    const { headers } = modernCall(1, 'pid');
    for (const path of ['/mcp', '/mcp/a', '/servers/a/mcp', '/mcp/a/message?sessionId=x']) {
      for (const length of ['content-length: 1000000000', 'transfer-encoding: chunked']) {
        const socket = await rawSocket(house.port);
        const lines = Object.entries(headers!).map(([name, value]) => `${name}: ${String(value)}\r\n`);
        socket.write(`POST ${path} HTTP/1.1\r\nhost: localhost\r\n${lines.join('')}${length}\r\n\r\n`);
        for (let sent = 0; sent < 4 && !socket.over; sent += 1)
          socket.write(`10000\r\n${'x'.repeat(0x10000)}\r\n`);
        await socket.until('an answer', () => socket.status !== undefined);
        expect([path, length, [404, 413].includes(socket.status!)]).toEqual([path, length, true]);
        await within(15_000, 'the end of the connection', socket.closed);
      }
    }
    expect(await pid(house)).toMatch(/^\d+$/);
  });

  it('of headers is refused on every path', async () => {
    const house = await opened();
    for (const path of ['/mcp', '/mcp/a', '/sse', '/status', '/metrics', '/healthz', '/nowhere']) {
      for (const header of [
        `x-long: ${'x'.repeat(40_000)}`,
        Array.from({ length: 3000 }, (_, at) => `x-${at}: many`).join('\r\n'),
      ]) {
        const socket = await rawSocket(house.port);
        socket.write(`GET ${path} HTTP/1.1\r\nhost: localhost\r\n${header}\r\n\r\n`);
        await socket.until('an answer', () => socket.status !== undefined);
        expect([path, socket.status]).toEqual([path, 431]);
      }
    }
    expect(await pid(house)).toMatch(/^\d+$/);
  });
});

describe('too slow', () => {
  it('over headers, over a body, with half a request or nothing at all: none is waited for', async () => {
    const house = await opened();
    const call = onTheWire('/mcp/a', modernCall(1, 'pid'));
    const sockets = await Promise.all(Array.from({ length: 6 }, () => rawSocket(house.port)));
    const [headers, body, half, ended] = sockets;
    headers!.write('POST /mcp/a HTTP/1.1\r\nhost: localhost\r\nx-a');
    drip(headers!.socket, 'a');
    body!.write(call.replace(/content-length: \d+/, 'content-length: 100000'));
    drip(body!.socket, ' ');
    half!.write(call.slice(0, -20));
    // It will send no more, and waits for an answer to what was no request.
    ended!.socket.end(call.slice(0, -20));
    expect(await pid(house)).toMatch(/^\d+$/);
    await within(15_000, 'the end of them all', Promise.all(sockets.map(({ closed }) => closed)));
    expect(sockets.map(({ text }) => text.includes('200 OK'))).toEqual(sockets.map(() => false));
    expect(await pid(house)).toMatch(/^\d+$/);
  });

  it('strangers are not even given the time for a body', async () => {
    const house = await openHouse([tellsAll('a')], { keys: KEYS, server: HASTY });
    const socket = await rawSocket(house.port);
    socket.write(
      onTheWire('/mcp/a', modernCall(1, 'pid'))
        .replace(/content-length: \d+/, 'content-length: 4000000')
        .slice(0, -50),
    );
    await socket.until('an answer', () => socket.status !== undefined);
    expect(socket.status).toBe(401);
  });

  it('hundreds who connect and say nothing are let go, and nobody waits for them', async () => {
    const house = await opened({ ...HASTY, maxConnections: 600 });
    const idle = await Promise.all(
      Array.from({ length: 500 }, async () => {
        const socket = connect({ host: '127.0.0.1', port: house.port });
        onTestFinished(() => void socket.destroy());
        socket.on('error', () => {}).resume();
        await once(socket, 'connect');
        return socket;
      }),
    );
    const began = performance.now();
    for (let count = 0; count < 20; count += 1) expect(await pid(house)).toMatch(/^\d+$/);
    expect(performance.now() - began).toBeLessThan(5000);
    await until('all of them are gone', () => idle.every(({ closed }) => closed), 15_000);
  });
});

describe('answers that are not read', () => {
  it('are kept within a bound, and cost their readers the connection, and nobody else', async () => {
    const house = await opened({ maxUnreadBytes: 8 * 1024 * 1024 });
    const before = process.memoryUsage().rss;
    const deaf = await Promise.all(
      Array.from({ length: 8 }, async () => {
        const socket = connect({ host: '127.0.0.1', port: house.port });
        onTestFinished(() => void socket.destroy());
        socket.on('error', () => {}).pause();
        await once(socket, 'connect');
        socket.write(onTheWire('/mcp/a', modernCall(1, 'big', { bytes: 12_000_000 })));
        return socket;
      }),
    );
    const isGone = (socket: Socket) => {
      // Who does not read notices only when it writes; an empty line between two requests is none of them.
      if (!socket.destroyed) socket.write('\r\n');
      return socket.destroyed;
    };
    // All that others ask meanwhile is answered.
    let answered = 0;
    while (answered < 5 || deaf.filter(isGone).length < deaf.length - 1) {
      expect(await pid(house)).toMatch(/^\d+$/);
      answered += 1;
      expect(answered).toBeLessThan(5000);
      await pause(1);
    }
    expect((process.memoryUsage().rss - before) / 1e6).toBeLessThan(400);
  });
});
