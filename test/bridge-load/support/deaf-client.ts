import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';
import type { Ask } from '../../../packages/sdk/test/support/http-server.js';

/** A connection to `unix:PATH` or `http://HOST:PORT/…` that nobody reads. Destroyed when the test ends. */
export async function deaf(address: string): Promise<Socket> {
  const { hostname: host, port } = new URL(address);
  const socket = address.startsWith('unix:')
    ? connect({ path: address.slice('unix:'.length) })
    : connect({ host, port: Number(port) });
  onTestFinished(() => void socket.destroy());
  socket.on('error', () => {});
  await once(socket, 'connect');
  return socket;
}

/** A POST, written by hand. */
export function post(socket: Socket, { headers, body }: Ask): void {
  const all = { host: '127.0.0.1', 'content-length': String(body!.length), ...headers };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.write(`POST /mcp HTTP/1.1\r\n${lines.join('')}\r\n${body}`);
}
