/** The targets that there are. */
import { connect } from 'node:net';
import type { Duplex } from 'node:stream';
import { type ChildOptions, spawnChild } from '@isthmus/sdk/internal/process/spawn-child.js';
import type { HttpTarget, Pipe, StreamTarget } from './target.js';

/** A command, started anew for every connection. */
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
  if (pid === undefined) throw (await exited).error ?? new Error(`${options.command} could not be started`);
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

/** `unix:PATH` or `tcp://HOST:PORT`, connected to anew each time. */
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

/** Streams within this process, or made elsewhere: `open` gives the client's end of a connection. */
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
