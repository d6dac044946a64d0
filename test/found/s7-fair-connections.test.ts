import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { createServer, serve, tcp } from '@isthmus/sdk';
import { expect, it, onTestFinished } from 'vitest';
import { ask, modern, plainServer, serveHttp } from '../../packages/sdk/test/support/http-server.js';

const MALLORY = '127.0.0.66';

async function dial(port: number, localAddress: string): Promise<Socket> {
  const socket = connect({ host: '127.0.0.1', port, localAddress });
  onTestFinished(() => void socket.destroy());
  socket.on('error', () => {});
  await once(socket, 'connect');
  return socket;
}

/** Opens so many; gives those that were closed at once. */
async function flood(port: number, count: number): Promise<number> {
  let closed = 0;
  for (let at = 0; at < count; at += 1) {
    const socket = await dial(port, MALLORY);
    socket.on('close', () => {
      closed += 1;
    });
    socket.resume();
  }
  await expect.poll(() => closed).toBeGreaterThan(0);
  return closed;
}

it('S7: one address cannot have all connections of an HTTP server', async () => {
  const { url, port } = await serveHttp(plainServer(), { maxConnections: 20 });
  await flood(port, 25);
  expect((await ask(url, { ...modern(1, 'server/discover'), from: '127.0.0.2' })).status).toBe(200);
});

it('S7: one address cannot have all connections of a TCP listener', async () => {
  const served = await serve(createServer({ name: 'x', version: '1' }), tcp({ port: 0, maxConnections: 20 }));
  onTestFinished(() => served.close({ graceMs: 0 }));
  const port = Number(new URL(served.addresses[0]!).port);
  await flood(port, 25);
  const bob = await dial(port, '127.0.0.2');
  bob.write('{"jsonrpc":"2.0","id":1,"method":"ping"}\n');
  const [answer] = await once(bob, 'data');
  expect(JSON.parse(String(answer))).toEqual({ jsonrpc: '2.0', id: 1, result: {} });
});
