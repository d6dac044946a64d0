import { connect } from 'node:net';
import { Duplex, type Readable, type Writable } from 'node:stream';
import type { ServerSpec } from '@isthmus/sdk/internal/config/server-spec.js';
import { serveConnection } from '@isthmus/sdk/internal/era/connection-driver.js';
import {
  createModernServerState,
  type ModernServerState,
} from '@isthmus/sdk/internal/era/modern/server-state.js';
import { resolveServing, type ServingSettings } from '@isthmus/sdk/internal/era/serving-settings.js';
import { IsthmusError } from '@isthmus/sdk/internal/errors.js';
import type { Service } from '@isthmus/sdk/internal/exchange/call.js';
import { commandOptionsOf } from '@isthmus/sdk/internal/host/definition.js';
import type { ChildExit } from '@isthmus/sdk/internal/process/child.js';
import { describeExit } from '@isthmus/sdk/internal/process/describe-exit.js';
import { type ChildOptions, spawnChild } from '@isthmus/sdk/internal/process/spawn-child.js';
import { createStreamConnection } from '@isthmus/sdk/internal/transport/stream-connection.js';

/** The server to judge. */
export type CheckTarget = StreamTarget | HttpTarget;

/** A server on a stream of lines: the pipes of a command, a socket, or streams in this process. */
export interface StreamTarget {
  readonly transport: 'command' | 'socket';
  readonly label: string;
  /** Opens a new connection; for a command, starts a new process. Rejects if that fails. */
  readonly open: () => Promise<Pipe>;
}

/** A server at a URL. */
export interface HttpTarget {
  readonly transport: 'http';
  readonly label: string;
  readonly url: URL;
  /** Sent with every request, for example credentials. */
  readonly headers: Readonly<Record<string, string>>;
}

/** The bytes of one connection. */
export interface Pipe {
  /** From the server. */
  readonly input: Readable;
  /** To the server. */
  readonly output: Writable;
  /** Set if the referee started the server as a process. */
  readonly process?: PipeProcess;
  /** Ends the connection, and the process with its children. */
  close(): Promise<void>;
}

export interface PipeProcess {
  readonly pid: number;
  readonly exited: Promise<ChildExit>;
  readonly isGone: boolean;
  /** The tail of its stderr. */
  stderr(): string;
}

/** A server of a configuration file or of the command line. */
export function targetOfSpec(spec: ServerSpec, options: { readonly label?: string } = {}): CheckTarget {
  if (spec.kind === 'command') return commandTarget({ ...commandOptionsOf(spec), ...options });
  return spec.kind === 'url'
    ? httpTarget(spec.url, { headers: spec.headers, ...options })
    : socketTarget(spec.address);
}

/** A command that is started for every connection. */
export function commandTarget(options: ChildOptions & { readonly label?: string }): StreamTarget {
  const { command, args = [] } = options;
  return {
    transport: 'command',
    label: options.label ?? [command, ...args].join(' '),
    open: () => openCommand(options),
  };
}

async function openCommand(options: ChildOptions): Promise<Pipe> {
  const child = spawnChild({ shutdown: { closeMs: 1000, termMs: 1000 }, ...options });
  const { pid, stdin, stdout, exited } = child;
  if (pid === undefined) {
    const exit = await exited;
    const cause = exit.error;
    throw new IsthmusError('CANNOT_START', describeExit(options.command, exit), { cause });
  }
  return {
    input: stdout,
    output: stdin,
    process: {
      pid,
      exited,
      get isGone() {
        return child.isGone;
      },
      stderr: () => child.stderr.tail(),
    },
    async close() {
      await child.stop();
    },
  };
}

/** `unix:PATH` or `tcp://HOST:PORT`, with a new connection each time. */
export function socketTarget(address: string): StreamTarget {
  return { transport: 'socket', label: address, open: () => openSocket(address) };
}

function openSocket(address: string): Promise<Pipe> {
  const tcp = /^tcp:\/\/(.+):(\d+)$/.exec(address);
  const socket = connect(
    tcp
      ? { host: tcp[1]!.replace(/^\[|\]$/g, ''), port: Number(tcp[2]), allowHalfOpen: true }
      : { path: address.replace(/^unix:/, ''), allowHalfOpen: true },
  );
  return new Promise((resolve, reject) => {
    socket.once('error', reject);
    socket.once('connect', () => {
      socket.off('error', reject);
      resolve(pipeOf(socket));
    });
  });
}

/** Any duplex streams, for example in this process: `open` returns the client's end of a connection. */
export function streamTarget(label: string, open: () => Duplex | Promise<Duplex>): StreamTarget {
  return { transport: 'socket', label, open: async () => pipeOf(await open()) };
}

function pipeOf(duplex: Duplex): Pipe {
  return {
    input: duplex,
    output: duplex,
    async close() {
      duplex.destroy();
    },
  };
}

/** A server at a URL, as a target for `checkServer`. */
export function httpTarget(
  url: string | URL,
  options: { readonly headers?: Readonly<Record<string, string>>; readonly label?: string } = {},
): HttpTarget {
  const place = new URL(url);
  return {
    transport: 'http',
    label: options.label ?? place.href,
    url: place,
    headers: options.headers ?? {},
  };
}

/** Options of `serverTarget`. */
export interface ServerTargetOptions extends Partial<ServingSettings> {
  /** The name in reports. Default: the name of the server. */
  readonly label?: string;
}

/**
 * A server object of this process, served over streams in memory: no port, no child, and breakpoints in tools work. The
 * bytes are the same as over a socket. The server state exists from the first connection to the last.
 */
export function serverTarget(service: Service, options: ServerTargetOptions = {}): StreamTarget {
  const { label = `${service.info.name}, in this process`, ...serving } = options;
  const settings = resolveServing({ graceMs: 1000, ...serving });
  let runtime: ModernServerState | undefined;
  let connections = 0;
  return streamTarget(label, () => {
    const [near, far] = duplexPair();
    const connection = createStreamConnection({
      label: 'memory',
      input: far,
      output: far,
      release: () => void far.destroy(),
    });
    runtime ??= createModernServerState(settings);
    connections += 1;
    void serveConnection(connection, service, runtime).done.then(() => {
      connections -= 1;
      if (connections > 0) return;
      runtime?.close();
      runtime = undefined;
    });
    return near;
  });
}

/** Two ends of one connection: what is written to one is read from the other. Either may end alone. */
export function duplexPair(): [Duplex, Duplex] {
  const ends: Duplex[] = [];
  const end = (index: 0 | 1): Duplex => {
    let wanted: (() => void) | undefined;
    const duplex = new Duplex({
      allowHalfOpen: true,
      read() {
        const action = wanted;
        // Cleared before the call, since the write may have to wait again.
        wanted = undefined;
        action?.();
      },
      write(chunk: Buffer, _encoding, done) {
        const other = ends[1 - index]!;
        if (other.destroyed || other.push(chunk)) done();
        else (other as Waiting).whenWanted(() => done());
      },
      final(done) {
        const other = ends[1 - index]!;
        if (!other.destroyed) other.push(null);
        done();
      },
      destroy(error, done) {
        const other = ends[1 - index];
        if (other && !other.destroyed && !other.readableEnded)
          setImmediate(() => other.destroyed || other.push(null));
        wanted?.();
        done(error);
      },
    });
    return Object.assign(duplex, {
      whenWanted(action: () => void) {
        wanted = action;
      },
    });
  };
  ends.push(end(0), end(1));
  return [ends[0]!, ends[1]!];
}

type Waiting = Duplex & { whenWanted(action: () => void): void };
