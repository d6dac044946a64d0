import { createServer, type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { pipeline } from 'node:stream/promises';
import { type Clock, systemClock, within } from '@isthmus/sdk/internal/async/clock.js';
import { isJsonObject } from '@isthmus/sdk/internal/wire/json-rpc.js';
import type { LogLine } from '../log-tail.js';
import { listenPrivately } from './private-socket.js';
import {
  ATTACH_PROTOCOL,
  CONTROL_VERSION,
  type Controlled,
  encodeError,
  invalidRequest,
  otherVersion,
  PARAMS_HEADER,
  parseJson,
  RESULT_HEADER,
  toHeader,
  VERSION_HEADER,
} from './protocol.js';

/** A client wants the connection for another protocol. Exactly one of `accept` and `refuse` answers. */
export interface AttachRequest {
  readonly params: Readonly<Record<string, unknown>>;
  /** Answers with 101. What is written to the stream afterwards belongs to the other protocol. */
  accept(result?: unknown): void;
  /** Answers with the error and ends the stream. */
  refuse(error: unknown): void;
}

/**
 * Takes the stream over, and owns it from then on. `leftover` are the bytes that came after the request:
 * `stream.unshift(leftover)` puts them back. Nothing is read before `stream.resume()` or `stream.pipe()`.
 */
export type AttachHandler = (request: AttachRequest, stream: Socket, leftover: Buffer) => void;

export interface OpenControlOptions {
  /** The path of the socket, for example from `controlPath(name)`. Only this user may write to its folder. */
  readonly path: string;
  /** Takes over the connections of clients that attach. Without it, attaching is refused. */
  readonly onAttach?: AttachHandler;
  /** More connections are closed at once. Default 256. Connections that were handed over count. */
  readonly maxConnections?: number;
  /** How long a client may take to send its request. Default 10 s. Checked at the same interval. */
  readonly requestMs?: number;
  readonly clock?: Clock;
}

export interface Control {
  readonly path: string;
  /** Ends followed logs, gives other requests a moment to finish, and removes the socket. */
  close(): Promise<void>;
}

/** Serves the control protocol: HTTP on a private socket, for commands of the same user. */
export async function openControl(controlled: Controlled, options: OpenControlOptions): Promise<Control> {
  const { path, onAttach, maxConnections = 256, requestMs = 10_000, clock = systemClock } = options;
  const closing = new AbortController();
  const limits = {
    maxHeaderSize: MAX_HEADER_BYTES,
    headersTimeout: requestMs,
    requestTimeout: requestMs,
    connectionsCheckingInterval: requestMs,
  };
  const unanswered = new Set<Promise<void>>();
  const server = createServer(limits, (request, response) => {
    const answered = answer(controlled, request, response, closing.signal).finally(() =>
      unanswered.delete(answered),
    );
    unanswered.add(answered);
  });
  server.maxConnections = maxConnections;
  // Otherwise a client could pipeline any number of requests that run at the same time.
  server.maxRequestsPerSocket = 1;
  // A client may close its sending side before it reads the answer, as `nc -N` does.
  Object.assign(server, { httpAllowHalfOpen: true });
  server.on('clientError', refuseNonsense);
  if (onAttach) {
    server.on('upgrade', (request, socket: Socket, head) => attach(onAttach, request, socket, head));
  }
  await listenPrivately(server, path);
  // Accepting fails while there are no free file descriptors. The socket survives that.
  server.on('error', () => {});
  let closed: Promise<unknown> | undefined;
  const close = async () => {
    server.close();
    closing.abort();
    await within(clock, GRACE_MS, Promise.all(unanswered));
    // Connections that were handed over are not among these.
    server.closeAllConnections();
  };
  return {
    path,
    async close() {
      closed ??= close();
      await closed;
    },
  };
}

/** The parameters of `attach` are in a header, and may contain an environment. */
const MAX_HEADER_BYTES = 1024 * 1024;
const GRACE_MS = 1000;

/** Settles when the response has left, or the client is gone. Never rejects. */
async function answer(
  controlled: Controlled,
  request: IncomingMessage,
  response: ServerResponse,
  closing: AbortSignal,
): Promise<void> {
  const left = new Promise<void>((resolve) => void response.once('close', resolve));
  response.setHeader(VERSION_HEADER, CONTROL_VERSION).setHeader('connection', 'close');
  try {
    refuseForeign(request);
    const [path = '', query] = String(request.url).split('?');
    const wanted = `${request.method} ${path}`;
    if (wanted === 'GET /logs') {
      await sendLogs(controlled, new URLSearchParams(query), response, closing);
    } else {
      const result = await perform(controlled, wanted);
      if (result === undefined) response.writeHead(204).end();
      else sendJson(response, 200, JSON.stringify(result));
    }
  } catch (error) {
    const { status, body } = encodeError(error);
    if (response.headersSent) response.destroy();
    else sendJson(response, status, body);
  }
  await left;
}

function sendJson(response: ServerResponse, status: number, body: string): void {
  response.statusCode = status;
  response.setHeader('content-type', JSON_TYPE).end(body);
}

const JSON_TYPE = 'application/json';

/** No request of this version has an `Origin` or a body, so a request that has one is refused unread. */
function refuseForeign({ headers }: IncomingMessage): void {
  const { [VERSION_HEADER]: version = String(CONTROL_VERSION), origin } = headers;
  if (origin !== undefined) throw invalidRequest('The control socket does not answer web pages', 403);
  if (version !== String(CONTROL_VERSION)) throw otherVersion('gateway', version);
  if (Number(headers['content-length'] ?? 0) > 0 || headers['transfer-encoding'] !== undefined)
    throw invalidRequest('A control request has no body', 413);
}

async function perform(controlled: Controlled, wanted: string): Promise<unknown> {
  switch (wanted) {
    case 'GET /status':
      return controlled.status();
    case 'POST /reload':
      return controlled.reload();
    case 'POST /shutdown':
      return controlled.shutdown();
  }
  const [, name, action] = /^POST \/servers\/([^/]*)\/(restart|stop|start)$/.exec(wanted) ?? [];
  if (action === undefined) {
    throw invalidRequest(`This gateway has no ${JSON.stringify(wanted.slice(0, 100))}`, 404);
  }
  return controlled[action as 'restart' | 'stop' | 'start'](decodeName(name!));
}

function decodeName(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw invalidRequest('The name of the server is not valid percent-encoding');
  }
}

/** One JSON object a line. A client that does not read stops the reading of lines, not the gateway. */
async function sendLogs(
  controlled: Controlled,
  query: URLSearchParams,
  response: ServerResponse,
  closing: AbortSignal,
): Promise<void> {
  const lines = query.get('lines') ?? '100';
  const follow = query.get('follow') ?? 'false';
  if (!/^\d{1,9}$/.test(lines)) throw invalidRequest('"lines" must be a number, 0 or more');
  if (!/^(true|false)$/.test(follow)) throw invalidRequest('"follow" must be true or false');
  const gone = new AbortController();
  const end = () => gone.abort();
  response.once('close', end);
  if (follow === 'true') {
    // A client that will not send more may be dead, and lines may come rarely.
    response.socket?.once('end', end);
    closing.addEventListener('abort', end);
    if (closing.aborted) end();
  }
  const wanted = { lines: Number(lines), follow: follow === 'true' };
  try {
    const found = controlled.logs(query.get('server') ?? undefined, wanted, gone.signal);
    response.writeHead(200, { 'content-type': 'application/x-ndjson' }).flushHeaders();
    await pipeline(jsonLines(found, gone.signal), response);
  } finally {
    closing.removeEventListener('abort', end);
  }
}

async function* jsonLines(lines: AsyncIterable<LogLine>, signal: AbortSignal): AsyncGenerator<string> {
  for await (const line of lines) {
    if (signal.aborted) return;
    yield `${JSON.stringify(line)}\n`;
  }
}

/** Hands the connection over. After 101 the stream is no longer HTTP. */
function attach(onAttach: AttachHandler, request: IncomingMessage, socket: Socket, head: Buffer): void {
  // The new owner listens for errors as well, but may come later than the first error.
  socket.on('error', () => {});
  let isAnswered = false;
  const once = (say: () => void) => {
    if (!isAnswered && socket.writable) say();
    isAnswered = true;
  };
  const refuse = (error: unknown) => once(() => endWithError(socket, error));
  try {
    refuseForeign(request);
    const params = parseJson(request.headers[PARAMS_HEADER] ?? '{}');
    if (request.url !== '/attach' || request.headers.upgrade !== ATTACH_PROTOCOL)
      throw invalidRequest(`Only /attach can be upgraded, and only to ${ATTACH_PROTOCOL}`);
    if (!isJsonObject(params)) throw invalidRequest(`${PARAMS_HEADER} is not a JSON object`);
    const accept = (result?: unknown) =>
      once(() => {
        const headers = {
          connection: 'Upgrade',
          upgrade: ATTACH_PROTOCOL,
          [RESULT_HEADER]: toHeader(result),
        };
        socket.write(rawHead(101, headers));
      });
    onAttach({ params, accept, refuse }, socket, head);
  } catch (error) {
    refuse(error);
  }
}

/** What is not HTTP, too large or too slow. A command of version 1 gets a line that it can read. */
function refuseNonsense(error: NodeJS.ErrnoException & { rawPacket?: Buffer }, socket: Socket): void {
  if (!socket.writable || error.code === 'ECONNRESET') return void socket.destroy();
  if (error.rawPacket?.[0] === '{'.charCodeAt(0)) {
    const { message } = otherVersion('gateway', 1);
    const line = { control: CONTROL_VERSION, id: null, error: { code: 'NO_COMMON_REVISION', message } };
    return void socket.end(`${JSON.stringify(line)}\n`);
  }
  endWithError(socket, describeNonsense(error.code));
}

function describeNonsense(code: string | undefined): Error {
  if (code === 'HPE_HEADER_OVERFLOW')
    return invalidRequest(`The headers of a control request have at most ${MAX_HEADER_BYTES} bytes`, 431);
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return invalidRequest('The request did not arrive in time', 408);
  return invalidRequest('A control request is HTTP/1.1');
}

function endWithError(socket: Socket, error: unknown): void {
  const { status, body } = encodeError(error);
  const headers = {
    connection: 'close',
    'content-type': JSON_TYPE,
    'content-length': Buffer.byteLength(body),
  };
  socket.end(`${rawHead(status, headers)}${body}`, () => socket.destroy());
}

/** The head of a response on a connection that Node's server has let go. */
function rawHead(status: number, headers: Readonly<Record<string, unknown>>): string {
  const all = Object.entries({ ...headers, [VERSION_HEADER]: CONTROL_VERSION });
  const lines = all.map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}\r\n`;
}
