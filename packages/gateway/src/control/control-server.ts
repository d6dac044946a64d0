import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { pipeline } from 'node:stream/promises';
import { type Clock, systemClock, within } from '@isthmus/sdk/internal/async/clock.js';
import type { OperatorRequest } from '../cluster/cluster-control.js';
import type { LogLine } from '../log-tail.js';
import type { LoginManager } from '../logins/login-manager.js';
import { beginLogin, performLogins } from '../logins/login-requests.js';
import { type AttachHandler, attach, refuseNonsense } from './attach-upgrade.js';
import { listenPrivately } from './private-socket.js';
import {
  CONTROL_VERSION,
  type ConsoleAccess,
  type Controlled,
  encodeError,
  invalidRequest,
  JSON_TYPE,
  VERSION_HEADER,
} from './protocol.js';
import { MAX_HEADER_BYTES, paramsOf, refuseForeign } from './request-head.js';

export interface OpenControlOptions {
  /** The path of the socket, for example from `controlPath(name)`. Only this user may write to its folder. */
  readonly path: string;
  /** Takes over the connections of clients that attach. Without it, attaching is refused. */
  readonly onAttach?: AttachHandler;
  /** The logins of this user. Without it, requests for them are refused. */
  readonly logins?: LoginManager;
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
  const { path, onAttach, logins, maxConnections = 256, requestMs = 10_000, clock = systemClock } = options;
  const closing = new AbortController();
  const limits = {
    maxHeaderSize: MAX_HEADER_BYTES,
    headersTimeout: requestMs,
    requestTimeout: requestMs,
    connectionsCheckingInterval: requestMs,
  };
  const unanswered = new Set<Promise<void>>();
  const server = createServer(limits, (request, response) => {
    const answered = answer({ controlled, logins }, request, response, closing.signal).finally(() =>
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

const GRACE_MS = 1000;

/** Settles when the response has left, or the client is gone. Never rejects. */
async function answer(
  { controlled, logins }: { readonly controlled: Controlled; readonly logins: LoginManager | undefined },
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
    } else if (wanted === 'POST /logins/begin' && logins) {
      await sendEvents(beginLogin(logins, paramsOf(request), untilGone(response, closing)), response);
    } else {
      const isOfLogins = logins && /^\w+ \/logins(\/|$)/.test(wanted);
      const result = isOfLogins
        ? await performLogins(logins, wanted, paramsOf(request))
        : await perform(controlled, wanted, request);
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

/** Aborts when the client is gone, or the socket closes. */
function untilGone(response: ServerResponse, closing: AbortSignal): AbortSignal {
  const gone = new AbortController();
  const end = () => gone.abort();
  response.once('close', end);
  // A client that will not send more may be dead.
  response.socket?.once('end', end);
  return AbortSignal.any([gone.signal, closing]);
}

/** One JSON object a line. */
async function sendEvents(events: AsyncIterable<unknown>, response: ServerResponse): Promise<void> {
  for await (const event of events) {
    if (!response.headersSent) response.writeHead(200, { 'content-type': 'application/x-ndjson' });
    response.write(`${JSON.stringify(event)}\n`);
  }
  response.end();
}

function sendJson(response: ServerResponse, status: number, body: string): void {
  response.statusCode = status;
  response.setHeader('content-type', JSON_TYPE).end(body);
}

async function perform(controlled: Controlled, wanted: string, request: IncomingMessage): Promise<unknown> {
  switch (wanted) {
    case 'GET /status':
      return controlled.status();
    case 'POST /reload':
      return controlled.reload();
    case 'POST /console':
      return controlled.console(accessOf(paramsOf(request)['access']));
    case 'POST /members':
      return controlled.members(memberRequestOf(paramsOf(request)));
    case 'POST /shutdown':
      return controlled.shutdown();
  }
  const [, name, action] = /^POST \/servers\/([^/]*)\/(restart|stop|start)$/.exec(wanted) ?? [];
  if (action === undefined) {
    throw invalidRequest(`This gateway has no ${JSON.stringify(wanted.slice(0, 100))}`, 404);
  }
  return controlled[action as 'restart' | 'stop' | 'start'](decodeName(name!));
}

function memberRequestOf({ action, server }: Readonly<Record<string, unknown>>): OperatorRequest {
  const isOfServer = action === 'restart' || action === 'stop' || action === 'start';
  if (isOfServer && typeof server === 'string') return { action, server };
  if (action === 'status' || action === 'reload') return { action };
  throw invalidRequest('"action" must be status or reload, or restart, stop or start with a "server"');
}

function accessOf(value: unknown): ConsoleAccess {
  if (value === 'look' || value === 'act' || value === 'record') return value;
  throw invalidRequest('"access" must be look, act or record');
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
  const all = query.get('all') ?? 'false';
  if (!/^(true|false)$/.test(follow)) throw invalidRequest('"follow" must be true or false');
  if (!/^(true|false)$/.test(all)) throw invalidRequest('"all" must be true or false');
  const gone = new AbortController();
  const end = () => gone.abort();
  response.once('close', end);
  if (follow === 'true') {
    // A client that will not send more may be dead, and lines may come rarely.
    response.socket?.once('end', end);
    closing.addEventListener('abort', end);
    if (closing.aborted) end();
  }
  const wanted = { lines: Number(lines), follow: follow === 'true', all: all === 'true' };
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
