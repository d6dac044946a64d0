import { connect, type Socket } from 'node:net';
import { systemClock } from '@isthmus/sdk/internal/async/clock.js';
import { IsthmusError, messageOf } from '@isthmus/sdk/internal/errors.js';
import type { LogLine } from '../log-tail.js';
import type { GatewayStatus } from '../status.js';
import { createAsking } from './asking.js';
import type { Controlled, LogsOptions, ReloadReport } from './controlled.js';
import { socketProblem } from './private-socket.js';

/** A running gateway, from outside. Failures are `IsthmusError`s, those of the gateway with its codes. */
export interface ControlClient extends Controlled {
  readonly path: string;
  /** Settles when the gateway has begun to end. */
  shutdown(): Promise<void>;
  /** Ends the control protocol on this connection, which then belongs to the caller. */
  attach(params: Readonly<Record<string, unknown>>): Promise<Attached>;
  /** Settles when the connection is gone, whoever ended it. */
  readonly closed: Promise<void>;
  close(): void;
}

export interface Attached {
  /** Paused, so that nothing is lost: `resume()` it, or `pipe` it. Half-open connections are allowed. */
  readonly stream: Socket;
  /** What came behind the answer already: `stream.unshift(leftover)` puts it back. */
  readonly leftover: Buffer;
  readonly result: unknown;
}

export interface ConnectControlOptions {
  /** How long a gateway may take to connect and to tell its status. Default 10 s. */
  readonly statusMs?: number;
  /** How long starting, stopping, restarting and reloading may take: calls are finished first. Default 5 min. */
  readonly actionMs?: number;
}

/** Connects to a control socket. Rejects with `ADDRESS_UNAVAILABLE` when nobody listens there. */
export async function connectControl(
  path: string,
  options: ConnectControlOptions = {},
): Promise<ControlClient> {
  const { statusMs = 10_000, actionMs = 300_000 } = options;
  const problem = socketProblem(path);
  if (problem !== undefined) throw unreachable(path, problem);
  const socket = await open(path, statusMs);
  const asking = createAsking(socket);
  const act = async (verb: 'restart' | 'stop' | 'start', name: string) => {
    await asking.ask({ verb, name }, actionMs);
  };
  return {
    path,
    closed: asking.closed,
    close: asking.close,
    status: async () => (await asking.ask({ verb: 'status' }, statusMs)) as GatewayStatus,
    restart: (name) => act('restart', name),
    stop: (name) => act('stop', name),
    start: (name) => act('start', name),
    reload: async () => (await asking.ask({ verb: 'reload' }, actionMs)) as ReloadReport,
    logs: (name: string | undefined, { lines, follow }: LogsOptions, signal: AbortSignal) =>
      asking.follow({ verb: 'logs', name, lines, follow }, signal) as AsyncIterable<LogLine>,
    async shutdown() {
      await asking.ask({ verb: 'shutdown' }, statusMs);
    },
    attach: (params) => asking.attach(params, statusMs),
  };
}

function open(path: string, ms: number): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ path, allowHalfOpen: true });
    const callOff = systemClock.after(ms, () =>
      socket.destroy(new Error(`it did not answer within ${ms} ms`)),
    );
    const onError = (error: NodeJS.ErrnoException) => {
      callOff();
      const isAway = error.code === 'ECONNREFUSED' || error.code === 'ENOENT';
      reject(unreachable(path, isAway ? 'nobody listens there' : messageOf(error), error));
    };
    socket.once('error', onError);
    socket.once('connect', () => {
      callOff();
      socket.off('error', onError);
      resolve(socket);
    });
  });
}

function unreachable(path: string, why: string, cause?: unknown): IsthmusError {
  return new IsthmusError('ADDRESS_UNAVAILABLE', `Cannot connect to the control socket ${path}: ${why}`, {
    cause,
    sent: 'no',
  });
}
