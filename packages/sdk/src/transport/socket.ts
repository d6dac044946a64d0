import { chmodSync, lstatSync, unlinkSync } from 'node:fs';
import {
  connect,
  createServer,
  type ListenOptions,
  type NetConnectOpts,
  type Server,
  type Socket,
} from 'node:net';
import { checkedOptions, invalidArgument, kindOf, type OptionNames } from '../arguments.js';
import { createDeferred } from '../async/deferred.js';
import { IsthmusError, messageOf } from '../errors.js';
import { clientKey } from '../exchange/client-key.js';
import type { Connection, Connector, Listener, Listening } from '../exchange/connection.js';
import { FairSlots } from '../exchange/fair-slots.js';
import type { Tap } from '../exchange/tap.js';
import { createStreamConnection } from './stream-connection.js';

/** Limits of a socket. */
export interface SocketOptions {
  /** Longer lines are discarded and answered with an error. Default 16 MiB. */
  readonly maxLineBytes?: number;
  /** Further connections are closed at once. One address gets at most three quarters of them. Default 1024. */
  readonly maxConnections?: number;
  /** Sees what goes over the connections. */
  readonly tap?: Tap | undefined;
}

/** The address of a TCP socket, and its limits. */
export interface TcpOptions extends SocketOptions {
  /** Default: loopback. A raw socket has no authentication; do not open it to a network that you do not trust. */
  readonly host?: string;
  /** 0 takes a free port. */
  readonly port: number;
}

/** A TCP port, to `serve` on or to `connect` to. Each connection has its own era. */
export function tcp(options: TcpOptions): Listener & Connector {
  checkedOptions('tcp', options, TCP_OPTIONS);
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
 * A Unix socket, to `serve` on or to `connect` to. Only its owner may open a served one (mode 0600). A socket file
 * without a listener is replaced; any other file at the path is left alone. On Windows the path names a pipe
 * (`\\.\pipe\name`).
 */
export function unixSocket(path: string, options: SocketOptions = {}): Listener & Connector {
  if (typeof path !== 'string') throw invalidArgument(`unixSocket needs a path, got ${kindOf(path)}`);
  checkedOptions('unixSocket', options, SOCKET_OPTIONS);
  if (path === '') throw new IsthmusError('INVALID_OPTION', 'unixSocket: the path is empty');
  if (process.platform !== 'win32' && Buffer.byteLength(path) > MAX_PATH_BYTES) {
    // The system would truncate the path and listen somewhere else.
    throw new IsthmusError(
      'INVALID_OPTION',
      `unixSocket: ${path} is longer than ${MAX_PATH_BYTES} bytes; choose a shorter path`,
    );
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

const SOCKET_OPTIONS: OptionNames<SocketOptions> = {
  maxLineBytes: true,
  maxConnections: true,
  tap: true,
};
const TCP_OPTIONS: OptionNames<TcpOptions> = { ...SOCKET_OPTIONS, host: true, port: true };

function socketConnector(address: string, where: NetConnectOpts, options: SocketOptions): Connector {
  return {
    label: address,
    identity: address,
    isRemote: true,
    connect: () =>
      new Promise((resolve, reject) => {
        const socket = connect({ ...where, allowHalfOpen: true, noDelay: true } as NetConnectOpts);
        const onError = (error: NodeJS.ErrnoException) => {
          reject(
            new IsthmusError('ADDRESS_UNAVAILABLE', `Cannot connect to ${address}: ${reasonFor(error)}`, {
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

function reasonFor(error: NodeJS.ErrnoException): string {
  if (error.code === 'ECONNREFUSED') return 'connection refused';
  if (error.code === 'ENOTFOUND') return 'the host name does not exist (ENOTFOUND)';
  return error.code === 'ENOENT' ? 'there is no such socket' : messageOf(error);
}

/** A client accepts longer messages from a server than a server accepts from a client. */
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
      // Accepting fails while no file descriptors are left. The listener survives that.
      server.on('error', () => {});
      return {
        address: label,
        ended: ended.promise,
        async stop() {
          // Not awaited: 'close' comes only when all open connections have ended.
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

/** A socket as a connection. A peer that half-closes still gets its answers. */
export function socketConnection(
  socket: Socket,
  label: string,
  options: SocketOptions = {},
  alwaysReads = false,
): Connection {
  connections += 1;
  return createStreamConnection({
    label,
    // A client of a Unix socket has no address; limits count each connection as a client.
    remote: socket.remoteAddress ?? `connection ${connections}`,
    input: socket,
    output: socket,
    alwaysReads,
    tap: options.tap,
    release: (end) => (end.kind === 'finished' ? hangUp(socket) : void socket.destroy()),
    ...(options.maxLineBytes !== undefined && { maxLineBytes: options.maxLineBytes }),
  });
}

let connections = 0;

/** Ends the connection after the last byte: destroying it at once could reset it and lose what the peer has not read. */
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

/** `listen` creates the file, so the mode must be set before it. */
async function withOwnerOnlyFiles<T>(work: () => Promise<T>): Promise<T> {
  let before: number | undefined;
  try {
    before = process.umask(0o177);
  } catch {
    // Worker threads cannot set it. The chmod after `listen` remains.
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
  if (await hasListener(path)) {
    throw new IsthmusError(
      'ADDRESS_UNAVAILABLE',
      `Cannot listen on unix:${path}: another process listens there`,
    );
  }
  // Another process may have taken the path in the meantime. Remove only the file that was examined.
  if (fileIdentity(path)?.inode === seen.inode) unlinkSync(path);
}

function fileIdentity(path: string): { kind: 'socket' | 'other'; inode: number } | undefined {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  return stats && { kind: stats.isSocket() ? 'socket' : 'other', inode: stats.ino };
}

function hasListener(path: string): Promise<boolean> {
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
 * Shares the connections of a listener between addresses: one address cannot take all of them. Clients of a Unix socket
 * have no address and belong to one user, so they are not limited here.
 */
class ConnectionShare {
  readonly #slots: FairSlots;

  constructor(max: number) {
    this.#slots = new FairSlots(max);
  }

  /** False: there is no slot, and the socket has to be closed. */
  admit(socket: Socket): boolean {
    const { remoteAddress: remote } = socket;
    if (remote === undefined) return true;
    // Each connection is a part of its own: the connections of one address share nothing further.
    const slot = this.#slots.take({ who: clientKey({ principal: undefined, remote }), part: socket });
    if (typeof slot === 'string') return false;
    socket.once('close', () => this.#slots.release(slot));
    return true;
  }
}
