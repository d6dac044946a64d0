import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { isJsonObject, type JsonObject } from '@isthmus/sdk/internal/wire/json-rpc.js';
import type { Script } from '../model.js';
import type { Recorder } from './record.js';
import {
  type AsideRequest,
  errorOf,
  isMcpPath,
  MCP_PATH,
  partsOf,
  resultOf,
  type ScriptRequest,
  type ScriptTurn,
} from './script.js';

export interface HttpScriptedServer {
  readonly url: string;
  /** Whether a response is still open. */
  isBusy(): boolean;
  close(): Promise<void>;
}

/** Runs a script on its own port. */
export async function playOverHttp(script: Script, record: Recorder): Promise<HttpScriptedServer> {
  let exchanges = 0;
  let open = 0;
  const server = createServer((request, response) => {
    const exchange = ++exchanges;
    const { method = '', url: path = '' } = request;
    const headers = plainHeaders(request);
    record({ kind: 'head', life: 0, exchange, method, path, headers });
    let done = false;
    open += 1;
    response.on('finish', () => {
      done = true;
    });
    response.on('close', () => {
      open -= 1;
      if (!done) record({ kind: 'hung-up', life: 0, exchange });
    });
    response.on('error', () => {});
    const answer: OpenResponse = { response, exchange, record };
    if (method === 'POST') void receive(request, path, headers, script, answer);
    else if (!isMcpPath(path)) stepAside(script, { method, path, headers, body: '' }, answer);
    else if (!script.visit?.(exchangeVisit({ method, path, headers }, answer))) refuse(answer);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  record({ kind: 'started', life: 0, beside: 0 });
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}${MCP_PATH}`,
    isBusy: () => open > 0,
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** An HTTP response that is being written. */
export interface OpenResponse {
  readonly response: ServerResponse;
  readonly exchange: number;
  readonly record: Recorder;
}

async function receive(
  request: IncomingMessage,
  path: string,
  headers: Readonly<Record<string, string>>,
  script: Script,
  answer: OpenResponse,
): Promise<void> {
  const chunks: Buffer[] = [];
  try {
    for await (const chunk of request) chunks.push(chunk as Buffer);
  } catch {
    return; // The client closed the connection within its request. The record has `hung-up`.
  }
  const bytes = Buffer.concat(chunks);
  const text = bytes.toString();
  const broken = !Buffer.from(text).equals(bytes);
  const { exchange, record } = answer;
  record({ kind: 'in', life: 0, exchange, text, ...(broken && { broken: true as const }) });
  const message = messageIn(text);
  if (!isMcpPath(path) && message?.['jsonrpc'] === undefined) {
    stepAside(script, { method: 'POST', path, headers, body: text }, answer);
  } else if (message) script.receive(exchangeTurn(message, path, headers, answer));
  else answer.response.writeHead(400).end();
}

function messageIn(text: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(text);
    const first: unknown = Array.isArray(value) ? value[0] : value;
    return isJsonObject(first) ? first : undefined;
  } catch {
    return undefined;
  }
}

/** Requests of OAuth (metadata, registration, tokens). Most servers have no authorization. */
function stepAside(
  script: Script,
  about: Omit<AsideRequest, 'origin' | 'status'>,
  { response, exchange, record }: OpenResponse,
): void {
  const status: AsideRequest['status'] = (code, body = '', head = {}) => {
    record({ kind: 'status', life: 0, exchange, status: code });
    if (body !== '') record({ kind: 'out', life: 0, exchange, text: body });
    response.writeHead(code, head).end(body);
  };
  const origin = `http://127.0.0.1:${response.socket?.localPort ?? ''}`;
  if (!script.aside?.({ ...about, origin, status })) status(404);
}

function refuse({ response, exchange, record }: OpenResponse): void {
  record({ kind: 'status', life: 0, exchange, status: 405 });
  response.writeHead(405, { allow: 'POST' }).end();
}

function plainHeaders(request: IncomingMessage): Record<string, string> {
  return Object.fromEntries(
    Object.entries(request.headers).map(([name, value]) => [
      name,
      Array.isArray(value) ? value.join(', ') : (value ?? ''),
    ]),
  );
}

/** A request other than POST, and the ways to answer it. */
function exchangeVisit(
  about: Pick<ScriptRequest, 'method' | 'path' | 'headers'>,
  { response, exchange, record }: OpenResponse,
): ScriptRequest {
  const out = (text: string) => record({ kind: 'out', life: 0, exchange, text });
  const begin = (status: number, head: Readonly<Record<string, string>> = {}) => {
    record({ kind: 'status', life: 0, exchange, status });
    response.writeHead(status, head);
  };
  return {
    ...about,
    status(status, body = '', head = {}) {
      begin(status, head);
      response.end(body);
    },
    stream(head = {}) {
      begin(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store', ...head });
      response.flushHeaders();
    },
    event(data, { event = 'message', id } = {}) {
      out(data);
      response.write(`event: ${event}\n${id === undefined ? '' : `id: ${id}\n`}data: ${data}\n\n`);
    },
    raw(text) {
      out(text);
      response.write(text);
    },
    end: () => response.end(),
  };
}

/** A POST, and the ways to answer it. */
function exchangeTurn(
  message: JsonObject,
  path: string,
  headers: Readonly<Record<string, string>>,
  { response, exchange, record }: OpenResponse,
): ScriptTurn {
  const parts = partsOf(message);
  let streaming = false;
  const begin = (status: number, head: Readonly<Record<string, string>> = {}) => {
    record({ kind: 'status', life: 0, exchange, status });
    response.writeHead(status, head);
  };
  const out = (text: string) => record({ kind: 'out', life: 0, exchange, text });
  const stream = () => {
    if (streaming || response.headersSent) return;
    streaming = true;
    begin(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' });
    response.flushHeaders();
  };
  const event = (each: JsonObject) => {
    const text = JSON.stringify(each);
    out(text);
    response.write(`event: message\ndata: ${text}\n\n`);
  };
  const finish = (each: JsonObject, status: number, head: Readonly<Record<string, string>> = {}) => {
    if (response.writableEnded || response.destroyed) return;
    if (streaming) {
      event(each);
      response.end();
      return;
    }
    if (response.headersSent) return;
    const text = JSON.stringify(each);
    begin(status, { 'content-type': 'application/json', ...head });
    out(text);
    response.end(text);
  };
  return {
    ...parts,
    over: 'http',
    path,
    headers,
    reply: (result, head) => finish(resultOf(parts.id, result), 200, head),
    fail: (code, text, data, status = 200) => finish(errorOf(parts.id, code, text, data), status),
    accept() {
      if (response.headersSent) return;
      begin(202);
      response.end();
    },
    say(each) {
      stream();
      event(each);
    },
    raw(data) {
      stream();
      out(typeof data === 'string' ? data : Buffer.from(data).toString());
      response.write(data);
    },
    log: () => Promise.resolve(),
    end: () => response.end(),
    cut: () => response.destroy(),
    status(status, body = '', head = {}) {
      begin(status, head);
      out(body);
      response.end(body);
    },
  };
}
