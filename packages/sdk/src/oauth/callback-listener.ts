import { timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createDeferred } from '../async/deferred.js';
import { IsthmusError, messageOf } from '../errors.js';

/** Waits for the browser to come back from the authorization server, on a loopback port. */
export interface CallbackListener {
  readonly redirectUri: string;
  /** The parameters of the first request with the right state. */
  readonly arrived: Promise<URLSearchParams>;
  /** Answers the browser, which waits until the login has succeeded or failed. */
  answer(succeeded: boolean): void;
  close(): void;
}

export interface CallbackOptions {
  /** `127.0.0.1` or `localhost`, as the redirect URI says it. */
  readonly host: string;
  /** 0: any free port. */
  readonly port: number;
  readonly path: string;
  readonly state: string;
}

/** Rejects when the port is taken. */
export async function listenForCallback(options: CallbackOptions): Promise<CallbackListener> {
  const { host, path } = options;
  const arrived = createDeferred<URLSearchParams>();
  let waiting: ServerResponse | undefined;
  let origin = '';
  const onRequest = (request: IncomingMessage, response: ServerResponse) => {
    // A scanner may send a path that is not a part of any URL.
    if (!URL.canParse(request.url ?? '', 'http://callback')) return respond(response, 400, REFUSED);
    const url = new URL(request.url ?? '', 'http://callback');
    const isOurs = request.method === 'GET' && url.pathname === path && request.headers.host === origin;
    // A scan of ports must not end the login, so everything else is refused and has no consequence.
    if (!isOurs || !isEqual(url.searchParams.get('state'), options.state))
      return respond(response, 400, REFUSED);
    if (waiting) return respond(response, 400, REFUSED);
    waiting = response;
    arrived.resolve(url.searchParams);
  };
  const first = await listen(onRequest, host === 'localhost' ? '127.0.0.1' : host, options.port);
  const { port } = first.address() as AddressInfo;
  origin = `${host}:${port}`;
  // A browser may resolve `localhost` to either address. Where there is no IPv6, one is enough.
  const second =
    host === 'localhost' ? await listen(onRequest, '::1', port).catch(() => undefined) : undefined;
  return {
    redirectUri: `http://${origin}${path}`,
    arrived: arrived.promise,
    answer(succeeded) {
      if (waiting) respond(waiting, succeeded ? 200 : 400, succeeded ? SUCCEEDED : FAILED);
    },
    close() {
      for (const server of [first, second]) {
        server?.close();
        server?.closeIdleConnections();
      }
    },
  };
}

/** The parameters of an address that the browser was sent to, or of a query alone. */
export function paramsOf(response: string | URL | URLSearchParams): URLSearchParams {
  if (response instanceof URLSearchParams) return response;
  const text = String(response).trim();
  return URL.canParse(text) ? new URL(text).searchParams : new URLSearchParams(text.replace(/^\?/, ''));
}

function listen(
  onRequest: (request: IncomingMessage, response: ServerResponse) => void,
  host: string,
  port: number,
): Promise<Server> {
  const server = createServer({ keepAlive: false }, onRequest);
  return new Promise((resolve, reject) => {
    server.once('error', (error) => {
      const message = `Cannot wait for the browser on ${host}:${port}: ${messageOf(error)}`;
      reject(new IsthmusError('ADDRESS_UNAVAILABLE', message, { cause: error, sent: 'no' }));
    });
    server.listen(port, host, () => resolve(server));
  });
}

function isEqual(found: string | null, wanted: string): boolean {
  const [a, b] = [Buffer.from(found ?? ''), Buffer.from(wanted)];
  return a.length === b.length && timingSafeEqual(a, b);
}

/** The pages have no scripts and nothing of the request. */
function respond(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, {
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
    'cache-control': 'no-store',
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff',
    connection: 'close',
  });
  response.end(
    `<!doctype html><html lang="en"><title>Isthmus</title><body style="font:16px system-ui;margin:4rem auto;max-width:32rem"><h1>${text}</h1></body></html>`,
  );
}

const SUCCEEDED = 'You are logged in. You can close this page.';
const FAILED = 'The login failed. The program that opened this page says why.';
const REFUSED = 'This page belongs to a login that is not under way.';
