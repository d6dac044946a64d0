import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { http } from '@isthmus/sdk/http';
import { serve } from '@isthmus/sdk/internal/server/serve.js';
import { isJsonObject, type JsonObject } from '@isthmus/sdk/internal/wire/json-rpc.js';
import { createDemoServer } from 'isthmus/internal/demo/demo-server.js';
import { httpTarget } from '../../../src/index.js';
import type { HttpTarget } from '../../../src/wire/targets.js';
import type { HttpBase, ProxyHooks, ProxyRequest } from './mutant.js';

/** The demo at a URL, as it is. */
export async function demoHttpTarget(): Promise<{ target: HttpTarget; close(): Promise<void> }> {
  const served = await serve(createDemoServer(), http({ port: 0 }));
  return { target: httpTarget(served.addresses[0]!), close: () => served.close({ graceMs: 0 }) };
}

/** The demo at a URL, behind a proxy with a fault. */
export async function proxyTarget(
  makeProxy: () => ProxyHooks,
  base: HttpBase = demoHttpTarget,
): Promise<{ target: HttpTarget; close(): Promise<void> }> {
  const demo = await base();
  const proxy = makeProxy();
  const server = createServer((incoming, outgoing) => {
    void readAll(incoming).then((body) => pass(proxy, demo.target.url, toRequest(incoming, body), outgoing));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    target: httpTarget(`http://127.0.0.1:${port}${demo.target.url.pathname}`, {
      headers: demo.target.headers,
    }),
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await demo.close();
    },
  };
}

function pass(proxy: ProxyHooks, demo: URL, asked: ProxyRequest, outgoing: ServerResponse): void {
  const decided = proxy.request?.(asked) ?? {};
  if ('respond' in decided) {
    const { status, headers = {}, body } = decided.respond;
    outgoing.writeHead(status, headers);
    outgoing.end(body);
    return;
  }
  const changed = { ...asked, ...decided };
  const {
    host: _host,
    connection: _connection,
    'content-length': _length,
    ...headers
  } = defined(changed.headers);
  // The demo sees its own address, whatever the referee says in `host`; a foreign one is passed on as it is.
  const host = /^(127\.0\.0\.1|localhost|\[::1\])(:\d+)?$/.test(changed.headers['host'] ?? '')
    ? demo.host
    : changed.headers['host'];
  const upstream = request(
    new URL(changed.url, demo),
    {
      method: changed.method,
      headers: {
        ...headers,
        ...(host !== undefined && { host }),
        ...(changed.body.length > 0 && { 'content-length': changed.body.length }),
      },
    },
    (answer) => relay(proxy, answer, changed, outgoing),
  );
  upstream.on('error', () => outgoing.destroy());
  outgoing.on('close', () => {
    if (!outgoing.writableEnded) proxy.hungUp?.(asked);
    upstream.destroy();
  });
  upstream.end(changed.body.length > 0 ? changed.body : undefined);
}

function relay(
  proxy: ProxyHooks,
  answer: IncomingMessage,
  asked: ProxyRequest,
  outgoing: ServerResponse,
): void {
  const head = { status: answer.statusCode ?? 0, headers: plain(answer.headers) };
  const { status, headers } = { ...head, ...proxy.response?.(head, asked) };
  const {
    'content-length': _length,
    'transfer-encoding': _encoding,
    connection: _connection,
    ...rest
  } = defined(headers);
  const isStream = (answer.headers['content-type'] ?? '').startsWith('text/event-stream');
  const messagesOf = (text: string): readonly string[] => {
    const message = proxy.message && objectIn(text);
    if (!message) return [text];
    const next = proxy.message(message, asked);
    const list = next === undefined ? [] : Array.isArray(next) ? next : [next];
    return list.map((each) => JSON.stringify(each));
  };
  outgoing.writeHead(status, rest);
  const finish = () => {
    if (proxy.end?.(asked) !== false) outgoing.end();
  };
  if (!isStream) {
    void readAll(answer).then((body) => {
      if (body.length > 0) for (const text of messagesOf(body.toString('utf8'))) outgoing.write(text);
      finish();
    });
    return;
  }
  outgoing.flushHeaders();
  let held = '';
  answer.setEncoding('utf8');
  answer.on('data', (chunk: string) => {
    held += chunk;
    for (let at = held.indexOf('\n\n'); at >= 0; at = held.indexOf('\n\n')) {
      const event = held.slice(0, at);
      held = held.slice(at + 2);
      const data = /^data: ?(.*)$/m.exec(event)?.[1];
      const texts = data === undefined || data === '' ? [undefined] : messagesOf(data);
      for (const text of texts) {
        const whole = `${text === undefined ? event : event.replace(/^data: ?.*$/m, () => `data: ${text}`)}\n\n`;
        outgoing.write(proxy.event ? proxy.event(whole, asked) : whole);
      }
    }
  });
  answer.on('end', finish);
  answer.on('error', () => outgoing.destroy());
}

function toRequest(incoming: IncomingMessage, body: Buffer): ProxyRequest {
  return {
    method: incoming.method ?? '',
    url: incoming.url ?? '/',
    headers: plain(incoming.headers),
    names: incoming.rawHeaders.filter((_, at) => at % 2 === 0),
    body,
    json: objectIn(body.toString('utf8')),
  };
}

async function readAll(stream: IncomingMessage): Promise<Buffer> {
  const parts: Buffer[] = [];
  try {
    for await (const part of stream) parts.push(part as Buffer);
  } catch {
    // Whoever went away in the middle gets no answer.
  }
  return Buffer.concat(parts);
}

function plain(headers: IncomingMessage['headers']): Record<string, string | undefined> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, Array.isArray(value) ? value.join(', ') : value]),
  );
}

function defined(headers: Readonly<Record<string, string | undefined>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
}

function objectIn(text: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
