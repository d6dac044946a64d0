import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { createServer, type Server } from '../../../src/index.js';
import { type Ask, gate, modernCall, type Place, serveHttp, until } from '../../support/http-server.js';

/** Requests that a client sends on one connection before it has the answer to the last one. */

function written({ port }: Place, { headers, body }: Ask): string {
  const lines = Object.entries(headers!).map(([name, value]) => `${name}: ${String(value)}`);
  const length = `content-length: ${Buffer.byteLength(body!)}`;
  return ['POST /mcp HTTP/1.1', `host: 127.0.0.1:${port}`, ...lines, length, '', body].join('\r\n');
}

/** Sends all of them at once, with the ids 1, 2, 3 … */
async function pipeline(place: Place, count: number, tool: string): Promise<Socket> {
  const socket = connect(place.port, '127.0.0.1');
  socket.on('error', () => {});
  onTestFinished(() => void socket.destroy());
  await once(socket, 'connect');
  socket.write(Array.from({ length: count }, (_, at) => written(place, modernCall(at + 1, tool))).join(''));
  return socket;
}

function serverWithGate(): { server: Server; begun: AbortSignal[]; release: { open(): void } } {
  const server = createServer({ name: 'gate', version: '1' });
  const begun: AbortSignal[] = [];
  const release = gate();
  server.tool('wait', {}, async (_args, ctx) => {
    begun.push(ctx.signal);
    await release.promise;
    return `call ${begun.length}`;
  });
  server.tool('count', {}, () => String(begun.length));
  return { server, begun, release };
}

it('are served one after the other, and answered in their order (RFC 9112, §9.3.2)', async () => {
  const { server, begun, release } = serverWithGate();
  const place = await serveHttp(server);
  const socket = await pipeline(place, 100, 'wait');
  let text = '';
  socket.setEncoding('utf8').on('data', (more: string) => {
    text += more;
  });
  await until('the first call', () => begun.length > 0);
  // All requests have come with the first one, and another connection is served meanwhile.
  const other = await pipeline(place, 1, 'count');
  const [answer] = (await once(other, 'data')) as [Buffer];
  expect(answer.toString()).toContain('"text":"1"');
  release.open();
  await until('all answers', () => text.split('"jsonrpc"').length === 101);
  expect([...text.matchAll(/"id":(\d+)/g)].map(([, id]) => Number(id))).toEqual(
    Array.from({ length: 100 }, (_, at) => at + 1),
  );
});

it('of a client that has gone are never served', async () => {
  const { server, begun } = serverWithGate();
  const place = await serveHttp(server);
  const socket = await pipeline(place, 50, 'wait');
  await until('the first call', () => begun.length > 0);
  socket.destroy();
  await until('its end', () => begun[0]!.aborted);
  const other = await pipeline(place, 1, 'count');
  const [answer] = (await once(other, 'data')) as [Buffer];
  expect(answer.toString()).toContain('"text":"1"');
});

it('are at most 100 behind the one that is served: with more, the connection is closed', async () => {
  const { server, begun } = serverWithGate();
  const place = await serveHttp(server);
  const kept = await pipeline(place, 101, 'wait');
  await until('the first call', () => begun.length > 0);
  const closed = await pipeline(place, 102, 'wait');
  closed.resume();
  await once(closed, 'close');
  expect(kept.destroyed).toBe(false);
  await until('the end of its call, if it has begun', () => begun.slice(1).every(({ aborted }) => aborted));
  expect(begun[0]!.aborted).toBe(false);
});
