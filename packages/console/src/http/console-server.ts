import type { IncomingMessage, ServerResponse } from 'node:http';
import { type Clock, systemClock } from '@isthmus/sdk/internal/async/clock.js';
import { openNodeServer } from '@isthmus/sdk/internal/transport/http-server/node-server.js';
import type { AccessControl } from '../access/access.js';
import { type GuardedPart, refusalOf } from '../access/guard.js';
import { Assets } from './assets.js';
import { API_HEADERS, SECURITY_HEADERS } from './headers.js';
import { type Handlers, Router } from './router.js';

export interface ConsoleServerOptions {
  /** Default 127.0.0.1. */
  readonly host?: string | undefined;
  /** Default: a free one. */
  readonly port?: number | undefined;
  /** Names besides the loopback ones that the console is known by. */
  readonly names?: readonly string[] | undefined;
  readonly access: AccessControl;
  readonly handlers: Handlers;
  readonly guardsPayloads: boolean;
  readonly clock?: Clock;
}

export interface ConsoleServer {
  /** `http://127.0.0.1:4400`, with the real port. */
  readonly origin: string;
  /** The address of the page. With a link, it logs the person in. */
  address(link?: string): string;
  close(): Promise<void>;
}

/** Serves the page and its API on a port of its own, so that no other page shares their origin. */
export async function openConsoleServer(options: ConsoleServerOptions): Promise<ConsoleServer> {
  const { host = '127.0.0.1', port = 0, names = [], access, handlers, guardsPayloads } = options;
  const { clock = systemClock } = options;
  const assets = new Assets();
  const router = new Router({ access, handlers, guardsPayloads });
  const guard = { names: new Set(names.map((name) => name.toLowerCase())) };
  const server = await openNodeServer({ ...LIMITS, host, port }, clock, (request, response, unread) => {
    const path = pathOf(request);
    const part = partOf(path);
    const refusal = refusalOf(request.headers, part, guard);
    if (refusal !== undefined) return refuse(response, 403, refusal);
    if (part === 'api') return router.handle(path.slice(API.length), request, response, unread);
    if (request.method !== 'GET' && request.method !== 'HEAD')
      return refuse(response, 405, 'This is only to be read');
    if (path === '/' || path === '/console') return redirect(response);
    const name = path === PAGE ? 'index.html' : path.startsWith(PAGE) ? path.slice(PAGE.length) : '';
    if (!assets.has(name)) return refuse(response, 404, 'There is nothing here; the console is at /console/');
    assets.send(name, response, request.headers['accept-encoding']);
  });
  return {
    origin: server.origin,
    address: (link) => `${server.origin}${PAGE}${link === undefined ? '' : `#enter=${link}`}`,
    async close() {
      server.stop();
      await server.release();
    },
  };
}

const PAGE = '/console/';
const API = `${PAGE}api/`;

/** A few browsers of one person, not a crowd. */
const LIMITS = { maxConnections: 256, idleTimeoutMs: 30_000 } as const;

function pathOf({ url = '/' }: IncomingMessage): string {
  const query = url.indexOf('?');
  return query < 0 ? url : url.slice(0, query);
}

function partOf(path: string): GuardedPart {
  if (path.startsWith(API)) return 'api';
  return path === PAGE || path === '/' || path === '/console' ? 'page' : 'asset';
}

function redirect(response: ServerResponse): void {
  response.writeHead(308, { ...SECURITY_HEADERS, location: PAGE }).end();
}

function refuse(response: ServerResponse, status: number, message: string): void {
  const body = JSON.stringify({ error: { code: status === 404 ? 'NOT_FOUND' : 'NOT_ALLOWED', message } });
  const headers = {
    ...API_HEADERS,
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
  };
  // The body of the request was not read.
  response.writeHead(status, { ...headers, connection: 'close' }).end(body);
}
