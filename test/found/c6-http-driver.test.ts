/** C6: the driver of `isthmus bench` speaks HTTP/1.1 by itself. Servers answer in every way that HTTP/1.1 allows. */
import { createServer as createHttpServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import { openDirectHttp } from '@isthmus/check/internal/bench/direct-http.js';
import type { BenchFailure } from '@isthmus/check/internal/bench/request.js';
import { describe, expect, it, onTestFinished } from 'vitest';

const CALL = { method: 'tools/call', params: { name: 'echo', arguments: { text: 'hé' } } };

describe('C6: the driver over HTTP', () => {
  it('C6: keeps one connection alive for one request at a time, and numbers the requests', async () => {
    const { ask, bodies, connections } = await modern(sized);
    for (let count = 0; count < 3; count += 1) expect(await ask()).toBeUndefined();
    expect(connections()).toBe(1);
    expect(bodies().map(({ id }) => id)).toEqual([2, 3, 4]);
    expect(bodies()[0]).toEqual({
      jsonrpc: '2.0',
      id: 2,
      method: 'tools/call',
      params: {
        name: 'echo',
        arguments: { text: 'hé' },
        _meta: {
          'io.modelcontextprotocol/protocolVersion': '2026-07-28',
          'io.modelcontextprotocol/clientCapabilities': {},
          'io.modelcontextprotocol/clientInfo': { name: 'isthmus-bench', version: '0.1.0' },
        },
      },
    });
  });

  it('C6: opens as many connections as there are requests in flight', async () => {
    const { ask, connections } = await modern(sized);
    await Promise.all([ask(), ask(), ask()]);
    await Promise.all([ask(), ask(), ask()]);
    expect(connections()).toBe(3);
  });

  const result = (id: number) => JSON.stringify({ jsonrpc: '2.0', id, result: { content: [], text: 'é' } });
  const ways: Record<string, (id: number) => string> = {
    'a body with a length': (id) => sized(id),
    'a body in chunks with extensions and trailers': (id) => {
      const bytes = Buffer.from(result(id));
      const [a, b] = [bytes.subarray(0, 9), bytes.subarray(9)].map((part) => part.toString('latin1'));
      const head = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Type: application/json\r\n\r\n';
      return `${head}9;x=y\r\n${a}\r\n${b!.length.toString(16)}\r\n${b}\r\n0\r\nX-T: 1\r\n\r\n`;
    },
    'an event after other events': (id) =>
      chunkedEvents(
        'event: message\ndata: {"jsonrpc":"2.0","method":"notifications/message","params":{}}\n\n',
        `: keep-alive\n\nid: 7\ndata: ${Buffer.from(result(id)).toString('latin1')}\n\n`,
      ),
    'early hints before the answer': (id) => `HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n${sized(id)}`,
  };
  for (const [name, way] of Object.entries(ways)) {
    it(`C6: reads ${name}, whole and byte by byte, on one connection`, async () => {
      const whole = await modern(way);
      expect([await whole.ask(), await whole.ask(), whole.connections()]).toEqual([undefined, undefined, 1]);
      const torn = await modern(way, { tear: true });
      expect(await torn.ask()).toBeUndefined();
      // An event is an answer before its stream has ended, and only after that the connection is free.
      await torn.isRead();
      expect([await torn.ask(), torn.connections()]).toEqual([undefined, 1]);
    });
  }

  it('C6: reads a body that ends with the connection, and opens another one', async () => {
    const head = 'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n';
    const { ask, connections } = await modern((id) => `${head}${latin1(result(id))}`, { closes: true });
    expect([await ask(), await ask()]).toEqual([undefined, undefined]);
    expect(connections()).toBe(2);
  });

  it('C6: does not use a connection again that the server says it closes', async () => {
    const { ask, connections } = await modern((id) => sized(id, 'Connection: close\r\n'));
    expect([await ask(), await ask()]).toEqual([undefined, undefined]);
    expect(connections()).toBe(2);
  });

  it('C6: takes the answer from a stream of events that the server leaves open', async () => {
    const open = (id: number) => chunkedEvents(`data: ${latin1(result(id))}\n\n`).replace(/0\r\n\r\n$/, '');
    const { ask, connections } = await modern(open);
    expect([await ask(), await ask()]).toEqual([undefined, undefined]);
    expect(connections()).toBe(2);
  });

  it('C6: keeps a few of the connections whose streams the server leaves open, and closes the others', async () => {
    const open = (id: number) => chunkedEvents(`data: ${latin1(result(id))}\n\n`).replace(/0\r\n\r\n$/, '');
    const { ask, connections, alive } = await modern(open);
    for (let count = 0; count < 50; count += 1) expect(await ask()).toBeUndefined();
    expect(connections()).toBe(50);
    await expect.poll(alive).toBe(16);
  });

  const bad: Record<string, [(id: number) => string, BenchFailure]> = {
    'an error of the server': [
      (id) => body(JSON.stringify({ jsonrpc: '2.0', id, error: { code: -32602, message: 'no' } }), '400 Bad'),
      { kind: 'error -32602', example: 'no', answered: true },
    ],
    'a status without an answer': [
      () => body('busy', '503 Busy'),
      { kind: 'HTTP_STATUS', example: 'HTTP 503 without a JSON-RPC answer', answered: true },
    ],
    'a tool that failed': [
      (id) =>
        body(`{"jsonrpc":"2.0","id":${id},"result":{"isError":true,"content":[{"type":"text","text":"x"}]}}`),
      { kind: 'isError', example: 'x', answered: true },
    ],
    'a tool that asks for input': [
      (id) => body(`{"jsonrpc":"2.0","id":${id},"result":{"resultType":"input_required"}}`),
      {
        kind: 'input_required',
        example: 'the tool asked for input, which a benchmark does not provide',
        answered: true,
      },
    ],
    'the id of another request': [
      () => body('{"jsonrpc":"2.0","id":99,"result":{}}'),
      { kind: 'INVALID_RESULT', example: 'the answer to request 2 has the id 99', answered: true },
    ],
    'something that is not HTTP': [
      () => 'SSH-2.0-OpenSSH_9.6\r\n\r\n',
      {
        kind: 'CONNECTION_CLOSED',
        example: 'the connection ended before the answer: the answer is not HTTP/1.1',
        answered: false,
      },
    ],
  };
  for (const [name, [answer, failure]] of Object.entries(bad)) {
    it(`C6: counts ${name} as a failure`, async () => {
      const { ask } = await modern(answer);
      expect(await ask()).toEqual(failure);
    });
  }

  it('C6: counts a connection that is closed without an answer, and asks on another one', async () => {
    let count = 0;
    const { ask } = await modern(
      (id) => {
        count += 1;
        return count === 1 ? '' : sized(id);
      },
      { closes: true },
    );
    expect(await ask()).toEqual({
      kind: 'CONNECTION_CLOSED',
      example: 'the connection ended before the answer: the server closed the connection before its answer',
      answered: false,
    });
    expect(await ask()).toBeUndefined();
  });

  it('C6: counts every request to a server that is gone', async () => {
    const { ask, stop } = await modern(sized);
    expect(await ask()).toBeUndefined();
    await stop();
    await expect.poll(ask).toMatchObject({
      kind: 'CONNECTION_CLOSED',
      example: expect.stringContaining('ECONNREFUSED'),
    });
  });

  it('C6: gives a request up after its time, and asks on another connection', async () => {
    let count = 0;
    const silentOnce = (id: number) => {
      count += 1;
      return count === 1 ? '' : sized(id);
    };
    const { ask } = await modern(silentOnce, { timeoutMs: 1500 });
    expect(await ask()).toEqual({ kind: 'TIMED_OUT', example: 'no answer within 1500 ms', answered: false });
    expect(await ask()).toBeUndefined();
  });

  it('C6: leaves a server that redirects to the client', async () => {
    const { url } = await listen(
      createServer((socket) => {
        socket.on('error', () => {});
        socket.once('data', () =>
          socket.write('HTTP/1.1 307 x\r\nLocation: /b\r\nContent-Length: 0\r\n\r\n'),
        );
      }),
    );
    const options = { url, era: 'modern', revision: '2026-07-28', headers: {}, timeoutMs: 5000 } as const;
    expect(await openDirectHttp(options)).toBeUndefined();
  });

  it('C6: has a session of its own in the legacy era, and ends it', async () => {
    const seen: string[] = [];
    const { url } = await listen(
      createHttpServer((request, response) => void answerLegacy(request, response, seen)),
    );
    const headers = { authorization: 'Bearer t' };
    const way = await openDirectHttp({
      url,
      era: 'legacy',
      revision: '2025-11-25',
      headers,
      timeoutMs: 9000,
    });
    const ask = way!.asker({ method: 'ping', params: {} });
    expect(await new Promise((resolve) => ask(resolve))).toBeUndefined();
    await way!.close();
    expect(seen).toEqual([
      'POST initialize - Bearer t',
      'POST notifications/initialized s-1 Bearer t',
      'POST ping s-1 Bearer t',
      'DELETE - s-1 Bearer t',
    ]);
  });
});

async function answerLegacy(request: IncomingMessage, response: ServerResponse, seen: string[]) {
  let text = '';
  for await (const chunk of request) text += String(chunk);
  const { id, method = '-' } = (text === '' ? {} : JSON.parse(text)) as { id?: number; method?: string };
  const { 'mcp-session-id': session = '-', authorization } = request.headers;
  seen.push(`${request.method} ${method} ${session} ${authorization}`);
  if (id === undefined) return response.writeHead(202).end();
  const result = method === 'initialize' ? { protocolVersion: '2025-11-25', capabilities: {} } : {};
  return response
    .writeHead(200, { 'content-type': 'application/json', 'Mcp-Session-Id': 's-1' })
    .end(JSON.stringify({ jsonrpc: '2.0', id, result }));
}

/** A modern server that answers discovery as it should, and each call with these bytes (an empty text: not at all). */
async function modern(
  answer: (id: number) => string,
  how: { readonly tear?: boolean; readonly closes?: boolean; readonly timeoutMs?: number } = {},
) {
  let connections = 0;
  let written = Promise.resolve();
  const bodies: { id: number; method: string }[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    connections += 1;
    socket.on('error', () => {});
    socket.setNoDelay(true);
    let text = '';
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1');
      const [, head, length] = /^([\s\S]*?content-length: (\d+)\r\n\r\n)/.exec(text) ?? [];
      if (head === undefined || text.length < head.length + Number(length)) return;
      const request = JSON.parse(Buffer.from(text.slice(head.length), 'latin1').toString('utf8'));
      text = '';
      if (request.method !== 'tools/call') return void socket.write(discovery(request.id), 'latin1');
      bodies.push(request);
      const bytes = Buffer.from(answer(request.id), 'latin1');
      if (how.tear) written = writeTorn(socket, bytes);
      else if (how.closes) socket.end(bytes);
      else socket.write(bytes);
    });
  });
  const { url, stop } = await listen(server, sockets);
  const { timeoutMs = 30_000 } = how;
  const way = await openDirectHttp({ url, era: 'modern', revision: '2026-07-28', headers: {}, timeoutMs });
  onTestFinished(() => way!.close());
  const direct = way!.asker(CALL);
  const ask = () => new Promise<BenchFailure | undefined>((resolve) => direct(resolve));
  /** The torn answer has been written, and the driver has read what is in its socket. */
  const isRead = async () => {
    await written;
    for (let turn = 0; turn < 5; turn += 1) await setImmediate();
  };
  return {
    ask,
    isRead,
    bodies: () => bodies,
    connections: () => connections,
    alive: () => sockets.size,
    stop,
  };
}

async function writeTorn(socket: Socket, bytes: Buffer): Promise<void> {
  for (const byte of bytes) await new Promise((resolve) => socket.write(Buffer.of(byte), resolve));
}

async function listen(server: Server, sockets = new Set<Socket>()) {
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const stop = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve());
      for (const socket of sockets) socket.destroy();
    });
  onTestFinished(() => stop());
  return { url: new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`), stop };
}

function discovery(id: number): string {
  return body(JSON.stringify({ jsonrpc: '2.0', id, result: { resultType: 'complete', tools: [] } }));
}

function sized(id: number, more = ''): string {
  return body(JSON.stringify({ jsonrpc: '2.0', id, result: { content: [], text: 'é' } }), '200 OK', more);
}

function body(text: string, status = '200 OK', more = ''): string {
  const bytes = latin1(text);
  return `HTTP/1.1 ${status}\r\ncontent-type: application/json\r\n${more}Content-Length: ${bytes.length}\r\n\r\n${bytes}`;
}

function chunkedEvents(...events: string[]): string {
  const chunks = events.map((event) => `${event.length.toString(16)}\r\n${event}\r\n`);
  const head = 'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n';
  return `${head}${chunks.join('')}0\r\n\r\n`;
}

/** The bytes of a text, one character each. */
function latin1(text: string): string {
  return Buffer.from(text).toString('latin1');
}
