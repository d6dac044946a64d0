import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { isJsonObject, type JsonObject } from '../../../wire/json-rpc.js';
import type { Script } from '../model.js';
import { exchangeTurn } from './http-turn.js';
import { exchangeVisit } from './http-visit.js';
import { isMcpPath, MCP_PATH } from './paths.js';
import type { Recorder } from './recorder.js';

export interface HttpStage {
  readonly url: string;
  /** Whether an answer is still on its way. */
  isBusy(): boolean;
  close(): Promise<void>;
}

/** Plays a script at a port of its own. */
export async function playOverHttp(script: Script, record: Recorder): Promise<HttpStage> {
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
    const hand: Hand = { response, exchange, record };
    if (method === 'POST') void receive(request, path, headers, script, hand);
    else if (!isMcpPath(path)) notFound(hand);
    else if (!script.visit?.(exchangeVisit({ method, path, headers }, hand))) refuse(hand);
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

/** One HTTP answer in the making. */
export interface Hand {
  readonly response: ServerResponse;
  readonly exchange: number;
  readonly record: Recorder;
}

async function receive(
  request: IncomingMessage,
  path: string,
  headers: Readonly<Record<string, string>>,
  script: Script,
  hand: Hand,
): Promise<void> {
  const chunks: Buffer[] = [];
  try {
    for await (const chunk of request) chunks.push(chunk as Buffer);
  } catch {
    return; // It went away while it was speaking: `hung-up` says so.
  }
  const bytes = Buffer.concat(chunks);
  const text = bytes.toString();
  const broken = !Buffer.from(text).equals(bytes);
  const { exchange, record } = hand;
  record({ kind: 'in', life: 0, exchange, text, ...(broken && { broken: true as const }) });
  const message = messageIn(text);
  if (!isMcpPath(path) && message?.['jsonrpc'] === undefined) notFound(hand);
  else if (message) script.receive(exchangeTurn(message, path, headers, hand));
  else hand.response.writeHead(400).end();
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

/** What is asked for authorization's sake (metadata, registration, tokens): these servers have none. */
function notFound({ response, exchange, record }: Hand): void {
  record({ kind: 'status', life: 0, exchange, status: 404 });
  response.writeHead(404).end();
}

function refuse({ response, exchange, record }: Hand): void {
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
