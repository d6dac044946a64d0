import { once } from 'node:events';
import { createServer as createHttpServer } from 'node:http';
import { type AddressInfo, createServer as createTcpServer, connect as dial, type Socket } from 'node:net';
import { createInterface } from 'node:readline';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Call, Service } from '../../src/exchange/call.js';
import { createBridge, http, serve, tcp } from '../../src/index.js';
import type { JsonObject } from '../../src/wire/json-rpc.js';

const META = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': { name: 'near', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': {},
};
const INFO = '"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"far","version":"9"}}';
const DISCOVERY = `{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},"ttlMs":0,"cacheScope":"private",${INFO}}`;
const SIZES = [
  ['small', 10],
  ['large', 70_000],
] as const;

describe.each(SIZES)('the text of a %s result of a modern server', (_, length) => {
  const content = `[{"type":"text","text":"${'x'.repeat(length)}"}]`;

  it('reaches a modern client as it is', async () => {
    const result = `{"resultType":"complete","content":${content},"structuredContent":{"n":1.0},${INFO}}`;
    const client = await clientOf(createBridge(await lineServer(result)));
    expect(await client.call()).toBe(`{"jsonrpc":"2.0","id":"c","result":${result}}`);
  });

  it('is not used for a client if a program changes the result', async () => {
    const bridge = createBridge(await lineServer(`{"resultType":"complete","content":${content},${INFO}}`));
    const change = async (call: Call): Promise<JsonObject> => {
      const result = (await bridge.handle(call)) as { content: { text: string }[] };
      result.content[0]!.text = 'removed';
      return result as unknown as JsonObject;
    };
    const client = await clientOf(withHandle(bridge, change));
    expect(await client.call()).toBe(
      `{"jsonrpc":"2.0","id":"c","result":{"resultType":"complete","content":[{"type":"text","text":"removed"}],${INFO}}}`,
    );
  });

  it('does not break the line of a client if a server over HTTP writes several lines', async () => {
    const result = `{\n"resultType":"complete",\r"content":${content},${INFO}}`;
    const client = await clientOf(createBridge(await httpServer(result)));
    expect(JSON.parse(await client.call())).toEqual({
      jsonrpc: '2.0',
      id: 'c',
      result: JSON.parse(result),
    });
  });
});

it('a result that names another server is sent with the name that was negotiated', async () => {
  const other = '"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"other","version":"9"}}';
  const client = await clientOf(
    createBridge(await lineServer(`{"resultType":"complete","content":[],${other}}`)),
  );
  expect(await client.call()).toBe(
    `{"jsonrpc":"2.0","id":"c","result":{"resultType":"complete","content":[],${INFO}}}`,
  );
});

function answerTo(line: string, result: string): string | undefined {
  const { id, method } = JSON.parse(line);
  if (id === undefined) return undefined;
  return `{"jsonrpc":"2.0","id":${id},"result":${method === 'server/discover' ? DISCOVERY : result}}`;
}

/** A modern server over TCP that answers each call with this text. */
async function lineServer(result: string) {
  const server = createTcpServer((socket) => {
    createInterface(socket).on('line', (line) => {
      const answer = answerTo(line, result);
      if (answer !== undefined) socket.write(`${answer}\n`);
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  return tcp({ port: (server.address() as AddressInfo).port, host: '127.0.0.1' });
}

/** The same over HTTP. */
async function httpServer(result: string) {
  const server = createHttpServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    const answer = answerTo(body, result);
    response.writeHead(answer ? 200 : 202, { 'content-type': 'application/json' }).end(answer);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  return http(`http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`);
}

function withHandle(inner: Service, handle: (call: Call) => Promise<JsonObject>): Service {
  return new Proxy(inner, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name, target);
      if (name === 'handle') return handle;
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}

/** A client that sees the lines themselves. */
async function clientOf(service: Service & { close?(): Promise<void> }) {
  const served = await serve(service, tcp({ port: 0 }));
  const { port, hostname } = new URL(served.addresses[0]!);
  const socket: Socket = dial({ port: Number(port), host: hostname });
  const lines = createInterface(socket)[Symbol.asyncIterator]();
  onTestFinished(async () => {
    socket.destroy();
    await served.close({ graceMs: 0 });
    await service.close?.();
  });
  return {
    async call(): Promise<string> {
      const params = { name: 'a', arguments: {}, _meta: META };
      socket.write(`${JSON.stringify({ jsonrpc: '2.0', id: 'c', method: 'tools/call', params })}\n`);
      return (await lines.next()).value;
    },
  };
}
