import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, Server as NetServer, type Socket } from 'node:net';
import { type Clock, systemClock, within } from '../../async/clock.js';
import { createDeferred } from '../../async/deferred.js';
import { IsthmusError } from '../../errors.js';
import { clientKey } from '../../exchange/client-key.js';
import { FairShare } from '../../exchange/fair-share.js';
import { UnreadAnswers } from './exchange/unread-answers.js';
import { PipelinedRequests } from './pipelined-requests.js';

export interface NodeServerOptions {
  /** Default 127.0.0.1. */
  readonly host?: string;
  /** 0 takes a free port. Default 8080. */
  readonly port?: number;
  /** How long a client may take to send the headers of a request. Default 10 s. */
  readonly headersTimeoutMs?: number;
  /** How long a client may take to send a whole request, with its body. Default 30 s. */
  readonly requestTimeoutMs?: number;
  /** How long an idle connection is kept. Default 60 s. */
  readonly idleTimeoutMs?: number;
  /** A client that reads nothing of its answer for this long loses its connection. Default 60 s. */
  readonly answerTimeoutMs?: number;
  /** What clients may leave unread in all. Beyond it, clients that do not read are disconnected after 2 s. Default 64 MiB. */
  readonly maxUnreadBytes?: number;
  /** How long the headers of a request may be. Default 16 KiB. */
  readonly maxHeaderBytes?: number;
  /** Open connections. At the limit, the address with most of them loses idle ones. Default 16384. */
  readonly maxConnections?: number;
}

/** A web server on its own port. */
export interface NodeServer {
  /** `http://127.0.0.1:8080`, with the real port. */
  readonly origin: string;
  readonly ended: Promise<void>;
  /** Accepts no new connections, and closes idle ones. */
  stop(): void;
  /** Waits, within a bound, until the last bytes have left, and closes all connections. */
  release(): Promise<void>;
}

export type OnRequest = (request: IncomingMessage, response: ServerResponse, unread: UnreadAnswers) => void;

export function checkPort({ port = 8080 }: NodeServerOptions): void {
  if (Number.isInteger(port) && port >= 0 && port <= 65535) return;
  throw new IsthmusError('INVALID_OPTION', `port must be from 0 to 65535, got ${String(port)}`);
}

/** Where the connections of a web server come from, if another process accepts them. */
export interface AcceptedConnections {
  /** Begins to emit connections at the server. Rejects as listening does. */
  open(
    server: Server,
    address: { readonly host: string; readonly port: number },
  ): Promise<{ readonly port: number; close(): void }>;
}

/** What a web server is a part of. */
export interface NodeServerPlace {
  readonly source?: AcceptedConnections | undefined;
  /** Whether other processes serve new clients. Then no connection is kept, so that clients and balancers go to them. */
  readonly isDraining?: (() => boolean) | undefined;
}

export async function openNodeServer(
  options: NodeServerOptions,
  clock: Clock,
  onRequest: OnRequest,
  { source = ownConnections, isDraining }: NodeServerPlace = {},
): Promise<NodeServer> {
  const { host = '127.0.0.1', port = 8080, requestTimeoutMs = 30_000 } = options;
  const unread = new UnreadAnswers({
    answerTimeoutMs: options.answerTimeoutMs ?? 60_000,
    maxUnreadBytes: options.maxUnreadBytes ?? 64 * 1024 * 1024,
    clock,
  });
  let isStopped = false;
  const serve = (request: IncomingMessage, response: ServerResponse) => {
    // The answer says `Connection: close`.
    if (isStopped || isDraining?.()) response.shouldKeepAlive = false;
    if (hasTwoHosts(request)) response.writeHead(400, { connection: 'close' }).end();
    else onRequest(request, response, unread);
  };
  const pipelined = new PipelinedRequests(serve);
  const server = createServer(
    {
      headersTimeout: Math.min(options.headersTimeoutMs ?? 10_000, requestTimeoutMs),
      requestTimeout: requestTimeoutMs,
      keepAliveTimeout: options.idleTimeoutMs ?? 60_000,
      maxHeaderSize: options.maxHeaderBytes ?? 16 * 1024,
      // How often Node checks the first two timeouts. With its default of 30 s they would be exceeded by far.
      connectionsCheckingInterval: 1000,
    },
    // Without a socket it waits behind the answer to an earlier request of this connection.
    (request, response) => (response.socket ? serve(request, response) : pipelined.add(request, response)),
  );
  const sockets = new SharedSockets(options.maxConnections ?? 16_384);
  server.on('connection', (socket) => sockets.admit(socket));
  const ended = createDeferred<void>();
  let stopping: Promise<void> | undefined;
  const bound = await bind(server, host, port, source);
  server.on('close', () => ended.resolve());
  return {
    origin: `http://${host.includes(':') ? `[${host}]` : host}:${bound.port}`,
    ended: ended.promise,
    stop() {
      // Does not wait for the next request of a client that has its answer.
      server.keepAliveTimeout = 1;
      isStopped = true;
      sockets.endAfterAnswers();
      stopping ??= stopListening(server, bound, sockets, isDraining ? quietTurn : undefined);
    },
    async release() {
      await stopping;
      // The last bytes may still be on their way. Clients that do not read are not waited for.
      const until = systemClock.now() + LAST_BYTES_MS;
      do server.closeIdleConnections();
      while (!(await within(systemClock, LOOK_MS, ended.promise)) && systemClock.now() < until);
      server.closeAllConnections();
    },
  };
}

/**
 * A connection whose first request has not arrived has a moment for it. It would be reset otherwise, and a balancer does
 * not repeat a POST after that.
 */
async function stopListening(
  server: Server,
  bound: { close(): void },
  sockets: SharedSockets,
  whenToClose: (() => Promise<void>) | undefined,
): Promise<void> {
  await whenToClose?.();
  bound.close();
  // The method of http.Server also closes connections whose first request has not arrived.
  NetServer.prototype.close.call(server);
  const until = systemClock.now() + FIRST_REQUEST_MS;
  while (sockets.hasNew && systemClock.now() < until) {
    await new Promise<void>((resolve) => void systemClock.after(LOOK_MS, resolve));
  }
  await whenToClose?.();
  server.close();
}

/**
 * A turn of the event loop in which nothing has arrived. The system accepts connections and requests before this process
 * sees them. What it has accepted and this process has not seen is lost when a socket is closed, and a balancer does not
 * send it to another process.
 */
async function quietTurn(): Promise<void> {
  for (let turns = 0; turns < MAX_TURNS; turns += 1) {
    const began = performance.now();
    await new Promise((resolve) => setImmediate(resolve));
    if (performance.now() - began < QUIET_MS) return;
  }
}

/** A turn without any input takes a few microseconds. */
const QUIET_MS = 0.05;
const MAX_TURNS = 1000;

/** How long a client may take for its first request while the server ends. */
const FIRST_REQUEST_MS = 200;
/** How long the last bytes of answers may take once everything has ended. */
const LAST_BYTES_MS = 1000;
/** How often connections are checked for that. */
const LOOK_MS = 5;
/** RFC 9112, §3.2: Node uses the first Host header, and a proxy in front may have used the second. */
function hasTwoHosts({ rawHeaders }: IncomingMessage): boolean {
  let hosts = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at]!;
    if (name.length === 4 && name.toLowerCase() === 'host') hosts += 1;
  }
  return hosts > 1;
}

async function bind(server: Server, host: string, port: number, source: AcceptedConnections) {
  try {
    const bound = await source.open(server, { host, port });
    server.on('error', () => {});
    return bound;
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const why = code === 'EADDRINUSE' ? 'the port is in use' : message;
    throw new IsthmusError('ADDRESS_UNAVAILABLE', `Cannot listen on http://${host}:${port}: ${why}`, {
      cause: error,
    });
  }
}

const ownConnections: AcceptedConnections = {
  async open(server, { host, port }) {
    const bound = createDeferred<void>();
    server.once('error', bound.reject);
    server.listen(port, host, () => bound.resolve());
    await bound.promise;
    server.removeListener('error', bound.reject);
    return { port: (server.address() as AddressInfo).port, close() {} };
  },
};

/**
 * Limits the connections of a web server. At the limit, an address with few connections displaces one of the address
 * with most: the oldest that carries no request, or else the oldest whose request has not arrived in full.
 */
class SharedSockets {
  readonly #max: number;
  readonly #shares = new FairShare<Socket>();

  constructor(max: number) {
    this.#max = max;
  }

  /** Whether a client has connected, and has sent nothing yet. */
  get hasNew(): boolean {
    for (const socket of this.#shares.items()) if (socket.bytesRead === 0) return true;
    return false;
  }

  /** Answers that have not begun say `Connection: close`. */
  endAfterAnswers(): void {
    for (const socket of this.#shares.items()) {
      const response = currentResponse(socket);
      if (response) response.shouldKeepAlive = false;
    }
  }

  admit(socket: Socket): void {
    const who = clientKey({ principal: undefined, remote: socket.remoteAddress });
    if (this.#shares.size >= this.#max && !this.#makeRoom(who)) return void socket.destroy();
    this.#shares.set(who, socket);
    socket.once('close', () => this.#shares.delete(who, socket));
  }

  #makeRoom(who: string): boolean {
    const displacement = this.#shares.displacedBy(who);
    if (displacement.kind !== 'from') return false;
    let arriving: Socket | undefined;
    for (const socket of this.#shares.itemsOf(displacement.who)) {
      const response = currentResponse(socket);
      if (!response) return this.#drop(displacement.who, socket);
      if (!response.req.complete) arriving ??= socket;
    }
    return arriving !== undefined && this.#drop(displacement.who, arriving);
  }

  #drop(who: string, socket: Socket): true {
    this.#shares.delete(who, socket);
    socket.destroy();
    return true;
  }
}

/**
 * The response that Node sends on this connection now. Node keeps it there from the request until the answer is finished.
 * A record of our own would keep the last request and answer of every idle connection in memory.
 */
function currentResponse(socket: Socket): ServerResponse | undefined {
  return (socket as { readonly _httpMessage?: ServerResponse | null })._httpMessage ?? undefined;
}
