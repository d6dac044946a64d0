// One server process, a Unix socket and a TCP port, many clients of both eras at the same time.
import assert from 'node:assert/strict';
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { createServer, serve } from 'isthmus/server';
import { tcp, unixSocket } from 'isthmus/socket';

const server = createServer({ name: 'counter', version: '1.0.0' });
let count = 0;
server.tool('next', { description: 'Counts the calls of all clients' }, () => {
  count += 1;
  return String(count);
});

const folder = await mkdtemp(join(tmpdir(), 'isthmus-example-'));
const path = process.platform === 'win32' ? '\\\\.\\pipe\\isthmus-example' : join(folder, 'counter.sock');

const served = await serve(server, [unixSocket(path), tcp({ port: 0 })]);
const port = Number(new URL(served.addresses[1] ?? '').port);
console.log(`listening on ${served.addresses.length} addresses: a Unix socket and a TCP port`);

/** A client in a few lines: writes a line, waits for the next one. */
function open(socket: Socket) {
  const lines = createInterface({ input: socket })[Symbol.asyncIterator]();
  return {
    async call(id: number, method: string, params: object): Promise<Record<string, unknown>> {
      socket.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`);
      const { value } = await lines.next();
      return JSON.parse(value).result;
    },
    close: () => socket.end(),
  };
}

async function legacyClient(socket: Socket): Promise<unknown> {
  const client = open(socket);
  const clientInfo = { name: 'old', version: '1.0.0' };
  await client.call(1, 'initialize', { protocolVersion: '2025-06-18', capabilities: {}, clientInfo });
  const { content } = await client.call(2, 'tools/call', { name: 'next' });
  client.close();
  return content;
}

async function modernClient(socket: Socket): Promise<unknown> {
  const client = open(socket);
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientCapabilities': {},
  };
  const { content } = await client.call(1, 'tools/call', { name: 'next', _meta });
  client.close();
  return content;
}

const answers = await Promise.all(
  Array.from({ length: 40 }, (_, n) => {
    const socket = n % 2 === 0 ? connect(path) : connect(port, '127.0.0.1');
    return n % 4 < 2 ? legacyClient(socket) : modernClient(socket);
  }),
);
const numbers = answers.map((content) => Number((content as [{ text: string }])[0].text));
assert.deepEqual(
  numbers.sort((a, b) => a - b),
  Array.from({ length: 40 }, (_, n) => n + 1),
);
console.log('40 clients, two eras, two transports: every number from 1 to 40 was given once');

await served.close();
await assert.rejects(stat(path));
await rm(folder, { recursive: true });
console.log('closed: the socket file is gone, the port is free');
