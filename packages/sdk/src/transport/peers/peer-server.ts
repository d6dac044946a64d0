import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
} from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { networkInterfaces } from 'node:os';
import { type Clock, within } from '../../async/clock.js';
import { createDeferred } from '../../async/deferred.js';
import type { ClusterKeys } from '../../cluster/cluster-keys.js';
import { IsthmusError, messageOf } from '../../errors.js';
import { NodeExchange } from '../http-server/exchange/node-exchange.js';
import {
  decodeFrame,
  digestFrame,
  PEER_HEADER,
  type PeerHeader,
  proveAnswer,
  ReplayGuard,
  readHeader,
  SEEN,
} from './envelope.js';
import { PeerExchange } from './peer-exchange.js';

/** The certificate of this member, and the authority that has signed those of all members. PEM texts. */
export interface PeerTls {
  readonly cert: string;
  readonly key: string;
  readonly ca: string;
}

export interface PeerServerOptions {
  /** `http://HOST:PORT`; port 0 takes a free one. */
  readonly listen: string;
  readonly tls?: PeerTls | undefined;
  readonly keys: ClusterKeys;
  /** Whether this is (or was) the id of this member. */
  isSelf(id: string): boolean;
  /** The time of the cluster. */
  now(): number;
  readonly clock: Clock;
}

/** Answers the requests of other members. Requests without their signature are refused before their body is read. */
export class PeerServer {
  readonly #options: PeerServerOptions;
  readonly #server: Server;
  readonly #handlers = new Map<string, (exchange: PeerExchange) => void>();
  readonly #replays = new ReplayGuard();
  readonly #connections = new Set<Socket>();
  /** Called when there is no connection any more. */
  #onLast: () => void = () => {};
  #isClosing = false;
  #isClosed = false;

  constructor(options: PeerServerOptions) {
    this.#options = options;
    const onRequest: RequestListener = (request, response) => this.#receive(request, response);
    const limits = { keepAliveTimeout: 60_000, headersTimeout: 10_000, requestTimeout: 60_000 };
    const { tls } = options;
    this.#server = tls
      ? createTlsServer({ ...limits, ...tls, requestCert: true, rejectUnauthorized: true }, onRequest)
      : createServer(limits, onRequest);
    this.#server.on('connection', (socket: Socket) => {
      this.#connections.add(socket);
      socket.once('close', () => {
        this.#connections.delete(socket);
        if (this.#connections.size === 0) this.#onLast();
      });
    });
  }

  /** Returns the address with the real port. */
  async open(): Promise<string> {
    const { listen, tls } = this.#options;
    const { hostname, port } = readListen(listen);
    const bound = createDeferred<void>();
    this.#server.once('error', bound.reject);
    // Exclusive: each worker of a machine has a port of its own.
    this.#server.listen({ host: hostname, port, exclusive: true }, () => bound.resolve());
    try {
      await bound.promise;
    } catch (error) {
      const message = `Members of the cluster cannot be listened for at ${listen}: ${messageOf(error)}`;
      throw new IsthmusError('ADDRESS_UNAVAILABLE', message, { cause: error });
    }
    this.#server.removeListener('error', bound.reject);
    this.#server.on('error', () => {});
    const real = (this.#server.address() as AddressInfo).port;
    const host = isWildcard(hostname) ? ownAddress() : hostname;
    return `${tls ? 'https' : 'http'}://${host.includes(':') ? `[${host}]` : host}:${real}`;
  }

  /** Answers requests for a service, until the returned function is called. A later handler replaces an earlier one. */
  handle(service: string, handler: (exchange: PeerExchange) => void): () => void {
    this.#handlers.set(service, handler);
    return () => {
      if (this.#handlers.get(service) === handler) this.#handlers.delete(service);
    };
  }

  /**
   * Connections are closed by the other members, when they have heard that this one has left (`isTold`): a connection that
   * is closed here could carry a request at this moment, whose sender would not know what has become of it. So could one
   * that the system has accepted, and this process has not seen yet.
   */
  async close(isTold = false): Promise<void> {
    this.#isClosing = true;
    if (isTold) await within(this.#options.clock, LINGER_MS, this.#untilUnused());
    this.#isClosed = true;
    const closed = createDeferred<void>();
    this.#server.close(() => closed.resolve());
    this.#server.closeAllConnections();
    await closed.promise;
  }

  async #untilUnused(): Promise<void> {
    for (let turns = 0; turns < QUIET_TURNS && !this.#isClosed; ) {
      if (this.#connections.size === 0) {
        // In each turn the process sees the connections that have come.
        await new Promise((resolve) => setImmediate(resolve));
        turns += 1;
      } else {
        await new Promise<void>((resolve) => {
          this.#onLast = resolve;
        });
        turns = 0;
      }
    }
  }

  #receive(request: IncomingMessage, response: ServerResponse): void {
    const { keys, now, isSelf } = this.#options;
    const header = readHeader(keys, String(request.headers[PEER_HEADER] ?? ''));
    const isAccepted =
      header !== undefined &&
      isSelf(header.to) &&
      header.length <= MAX_FRAME_BYTES &&
      Number(request.headers['content-length']) === header.length;
    if (!isAccepted) return refuse(response);
    if (this.#isClosing) response.shouldKeepAlive = false;
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const frame = chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks);
      chunks.length = 0;
      if (digestFrame(frame) !== header.digest) return refuse(response);
      // What was interrupted before it was complete may come once more.
      switch (this.#replays.accept(header, now())) {
        case 'new':
          return this.#answer(header, frame, request, response);
        case 'used':
          response.writeHead(SEEN, { [PEER_HEADER]: proveAnswer(keys, header, SEEN) }).end();
          return;
        case 'refused':
          refuse(response);
      }
    });
  }

  #answer(header: PeerHeader, frame: Buffer, message: IncomingMessage, response: ServerResponse): void {
    const { keys } = this.#options;
    const decoded = decodeFrame(frame);
    if (!decoded) return refuse(response);
    const { request, body } = decoded;
    const prove = (status: number) => proveAnswer(keys, header, status);
    const answer = new NodeExchange(message, response);
    const exchange = new PeerExchange(header.from, request, body, answer, prove);
    const handler = this.#handlers.get(request.service);
    if (!handler) return exchange.refuseAsNotHere();
    try {
      handler(exchange);
    } catch {
      // It may have been served. The sender asks once more over another connection, and is told that it has come.
      response.destroy();
    }
  }
}

/** Says nothing: the sender is not a member, or something has altered the request. */
function refuse(response: ServerResponse): void {
  response.writeHead(403, { connection: 'close' }).end();
}

export function readListen(listen: string): { readonly hostname: string; readonly port: number } {
  const [, bracketed, plain, port] = /^https?:\/\/(?:\[([^\]]+)\]|([^:/]+)):(\d{1,5})\/?$/.exec(listen) ?? [];
  const hostname = bracketed ?? plain;
  if (hostname === undefined) {
    throw new IsthmusError(
      'INVALID_OPTION',
      `The address for members of the cluster must be http://HOST:PORT, got ${listen}`,
    );
  }
  return { hostname, port: Number(port) };
}

function isWildcard(host: string): boolean {
  return host === '0.0.0.0' || host === '::';
}

/** The first address of this machine that other machines can reach. */
function ownAddress(): string {
  const all = Object.values(networkInterfaces()).flatMap((each) => each ?? []);
  const usable = all.filter(({ internal }) => !internal);
  return (usable.find(({ family }) => family === 'IPv4') ?? usable[0])?.address ?? '127.0.0.1';
}

const MAX_FRAME_BYTES = 256 * 1024 * 1024;
const QUIET_TURNS = 3;
/**
 * How long the other members have to close their connections. They do it as soon as they hear of the end. On a busy machine
 * that took more than one second, and requests were lost.
 */
const LINGER_MS = 5000;
