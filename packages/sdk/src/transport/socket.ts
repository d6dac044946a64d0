import { chmodSync, lstatSync, unlinkSync } from 'node:fs';
import {
  connect,
  createServer,
  type ListenOptions,
  type NetConnectOpts,
  type Server,
  type Socket,
} from 'node:net';
import { createDeferred } from '../async/deferred.js';
import { IsthmusError, messageOf } from '../errors.js';
import { clientKey } from '../exchange/client-key.js';
import type { Connection, Connector, Listener, Listening } from '../exchange/connection.js';
import { FairSlots } from '../exchange/fair-slots.js';
import { createStreamConnection } from './stream-connection.js';

export interface SocketOptions {
  /** Longer lines are discarded and answered with an error. Default 16 MiB. */
  readonly maxLineBytes?: number;
  /** Connections beyond this are closed at once; one address has at most three quarters of them. Default 1024. */
  readonly maxConnections?: number;
}

export interface TcpOptions extends SocketOptions {
  /** Loopback by default. There is no authentication on a raw socket: think before you widen it. */
  readonly host?: string;
  /** 0 takes a free port. */
  readonly port: number;
}

/** A TCP port: `serve` every connection to it, each with its own era, or `connect` to it. */
export function tcp(options: TcpOptions): Listener & Connector {
  const { host = '127.0.0.1', port } = options;
  if (!Number.isInteger(port) || port < 0 || port > 65535) {
    throw new IsthmusError('INVALID_OPTION', `tcp: port must be an integer from 0 to 65535, got ${port}`);
  }
  const address = tcpAddress(host, port);
  const listener = socketListener(options, async (server) => {
    await startListening(server, { host, port }, address);
    const bound = server.address();
    return typeof bound === 'object' && bound ? tcpAddress(bound.address, bound.port) : address;
  });
  return { ...listener, ...socketConnector(address, { host, port }, options) };
}

/**
 * A Unix socket: `serve` it or `connect` to it. Served, only its owner may open it (mode 0600); a socket file
 * that nobody listens on any more is replaced, anything else at the path is left alone. On Windows the path
 * names a pipe (`\\.\pipe\name`).
 */
export function unixSocket(path: string, options: SocketOptions = {}): Listener & Connector {
  if (path === '') throw new IsthmusError('INVALID_OPTION', 'unixSocket: the path is empty');
  if (process.platform !== 'win32' && Buffer.byteLength(path) > MAX_PATH_BYTES) {
    // The system would cut it off and listen somewhere else.
    throw new IsthmusError('INVALID_OPTION', `unixSocket: ${path} is longer than ${MAX_PATH_BYTES} bytes`);
  }
  const address = `unix:${path}`;
  const listener = socketListener(options, async (server) => {
    if (process.platform !== 'win32') await removeStaleSocket(path);
    await withOwnerOnlyFiles(() => startListening(server, { path }, address));
    if (process.platform !== 'win32') chmodSync(path, 0o600);
    return address;
  });
  return { ...listener, ...socketConnector(address, { path }, options) };
}

function socketConnector(address: string, where: NetConnectOpts, options: SocketOptions): Connector {
  return {
    label: address,
    identity: address,
    connect: () =>
      new Promise((resolve, reject) => {
        const socket = connect({ ...where, allowHalfOpen: true, noDelay: true } as NetConnectOpts);
        const onError = (error: NodeJS.ErrnoException) => {
          const why =
            error.code === 'ECONNREFUSED' || error.code === 'ENOENT'
              ? 'nobody listens there'
              : messageOf(error);
          reject(
            new IsthmusError('ADDRESS_UNAVAILABLE', `Cannot connect to ${address}: ${why}`, {
              cause: error,
              sent: 'no',
            }),
          );
        };
        socket.once('error', onError);
        socket.once('connect', () => {
          socket.off('error', onError);
          resolve(socketConnection(socket, address, { maxLineBytes: MAX_ANSWER_BYTES, ...options }, true));
        });
      }),
  };
}

/** What a client takes from a server is larger than what a server takes from a client. */
export const MAX_ANSWER_BYTES = 64 * 1024 * 1024;

/** `sun_path` without its final zero. */
const MAX_PATH_BYTES = process.platform === 'darwin' ? 103 : 107;

function socketListener(options: SocketOptions, bind: (server: Server) => Promise<string>): Listener {
  checkOptions(options);
  return {
    ownsProcess: false,
    async listen(accept): Promise<Listening> {
      const ended = createDeferred<void>();
      let label = '';
      const { maxConnections = 1024 } = options;
      const share = new ConnectionShare(maxConnections);
      const server = createServer({ allowHalfOpen: true, noDelay: true }, (socket) => {
        if (share.admit(socket)) accept(socketConnection(socket, label, options));
        else socket.destroy();
      });
      server.maxConnections = maxConnections;
      server.on('close', () => ended.resolve());
      label = await bind(server).catch((error: unknown) => {
        server.close();
        throw error;
      });
      // Accepting can fail for a moment (no file descriptors left); the listener outlives that.
      server.on('error', () => {});
      return {
        address: label,
        ended: ended.promise,
        async stop() {
          // Settles only when open connections are gone too, so it is not awaited here.
          if (server.listening) server.close();
        },
      };
    },
  };
}

function checkOptions(options: SocketOptions): void {
  for (const name of ['maxLineBytes', 'maxConnections'] as const) {
    const value = options[name];
    if (value === undefined || (Number.isSafeInteger(value) && value > 0)) continue;
    throw new IsthmusError('INVALID_OPTION', `${name} must be a positive whole number, got ${String(value)}`);
  }
}

/** A socket as a connection. Half-close is honoured: a peer that only stops sending still gets its answers. */
export function socketConnection(
  socket: Socket,
  label: string,
  options: SocketOptions = {},
  alwaysReads = false,
): Connection {
  connections += 1;
  return createStreamConnection({
    label,
    // Clients of a Unix socket have no address; each connection counts as one.
    remote: socket.remoteAddress ?? `connection ${connections}`,
    input: socket,
    output: socket,
    alwaysReads,
    release: (end) => (end.kind === 'finished' ? hangUp(socket) : void socket.destroy()),
    ...(options.maxLineBytes !== undefined && { maxLineBytes: options.maxLineBytes }),
  });
}

let connections = 0;

/** Ends politely: destroying at once could reset the connection and lose what the peer has not read yet. */
function hangUp(socket: Socket): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => socket.destroy(), HANG_UP_MS);
    socket.once('close', () => {
      clearTimeout(timer);
      resolve();
    });
    socket.end(() => socket.destroySoon());
    socket.resume();
  });
}

const HANG_UP_MS = 1000;

function startListening(server: Server, where: ListenOptions, address: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const onError = (error: NodeJS.ErrnoException) => {
      const hint = error.code === 'EADDRINUSE' ? ': another process listens there' : '';
      reject(
        new IsthmusError('ADDRESS_UNAVAILABLE', `Cannot listen on ${address}${hint} (${messageOf(error)})`, {
          cause: error,
        }),
      );
    };
    server.once('error', onError);
    server.listen(where, () => {
      server.off('error', onError);
      resolve();
    });
  });
}

/** The file is created by `listen` itself, so its mode must be right before, not after. */
async function withOwnerOnlyFiles<T>(work: () => Promise<T>): Promise<T> {
  let before: number | undefined;
  try {
    before = process.umask(0o177);
  } catch {
    // Worker threads may not set it; chmod follows.
  }
  const started = work();
  if (before !== undefined) process.umask(before);
  return started;
}

async function removeStaleSocket(path: string): Promise<void> {
  const seen = fileIdentity(path);
  if (seen === undefined) return;
  if (seen.kind !== 'socket') {
    throw new IsthmusError(
      'ADDRESS_UNAVAILABLE',
      `Cannot listen on unix:${path}: the path exists and is not a socket`,
    );
  }
  if (await isAnswering(path)) {
    throw new IsthmusError(
      'ADDRESS_UNAVAILABLE',
      `Cannot listen on unix:${path}: another process listens there`,
    );
  }
  // Between the question and now somebody else may have taken the path: only remove what was looked at.
  if (fileIdentity(path)?.inode === seen.inode) unlinkSync(path);
}

function fileIdentity(path: string): { kind: 'socket' | 'other'; inode: number } | undefined {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  return stats && { kind: stats.isSocket() ? 'socket' : 'other', inode: stats.ino };
}

function isAnswering(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = connect(path);
    probe.once('connect', () => {
      probe.destroy();
      resolve(true);
    });
    probe.once('error', (error: NodeJS.ErrnoException) => resolve(error.code !== 'ECONNREFUSED'));
  });
}

function tcpAddress(host: string, port: number): string {
  return `tcp://${host.includes(':') ? `[${host}]` : host}:${port}`;
}

/**
 * The connections of a listener, shared between addresses: one address cannot have all of them. Clients of a Unix
 * socket have no address, and belong to one user: among them the first come first.
 */
export class ConnectionShare {
  readonly #places: FairSlots;

  constructor(max: number) {
    this.#places = new FairSlots(max);
  }

  /** False when it has to be closed at once. */
  admit(socket: Socket): boolean {
    const { remoteAddress: remote } = socket;
    if (remote === undefined) return true;
    // Each connection is a part of its own: between those of one address there is nothing to share.
    const place = this.#places.take({ who: clientKey({ principal: undefined, remote }), part: socket });
    if (typeof place === 'string') return false;
    socket.once('close', () => this.#places.release(place));
    return true;
  }
}
