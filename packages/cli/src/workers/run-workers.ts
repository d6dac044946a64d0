import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, sep } from 'node:path';
import {
  type Control,
  type ControlClient,
  controlClient,
  controlPath,
  openControl,
  sweepSockets,
} from '@isthmus/gateway/internal/control/index.js';
import { controlWorkers } from '@isthmus/gateway/internal/workers/control-workers.js';
import { type ServedStore, serveStore } from '@isthmus/sdk/internal/cluster/channel/serve-store.js';
import { MEMBERS_CHANNEL } from '@isthmus/sdk/internal/cluster/members.js';
import { memoryStore } from '@isthmus/sdk/internal/cluster/memory-store.js';
import type { ClusterStore } from '@isthmus/sdk/internal/cluster/store.js';
import { messageOf } from '@isthmus/sdk/internal/errors.js';
import type { StoreChannel } from '@isthmus/sdk/internal/process/remote-store/messages.js';
import { watchTerminal } from '@isthmus/sdk/internal/server/own-process.js';
import { serveTaskStore } from '@isthmus/sdk/internal/server/tasks/channel/serve-task-store.js';
import { memoryTaskStore } from '@isthmus/sdk/internal/server/tasks/memory-store.js';
import { VERSION } from '@isthmus/sdk/internal/version.js';
import type { Operator } from '../serve/operator.js';
import { type Worker, type WorkerEnd, WorkerPool } from './worker-pool.js';

export interface RunWorkersOptions {
  readonly count: number;
  /** False with --no-control. */
  readonly control: boolean;
}

/**
 * Runs the same command line in several processes that share the addresses, and starts another one when one ends. The
 * process itself serves no client: it has the store of the workers and the control socket.
 */
export async function runWorkers({ count, control }: RunWorkersOptions, operator: Operator): Promise<void> {
  const store = memoryStore();
  const tasks = memoryTaskStore();
  const secret = randomBytes(32).toString('base64url');
  const parent = randomBytes(9).toString('base64url');
  const sockets = workerSockets();
  const served = new Map<Worker, ServedStore>();
  const pool = new WorkerPool({
    count,
    welcome: (number, isFirst) => ({
      ...{ of: 'workers', kind: 'welcome', parent, secret, number, speaks: isFirst },
      ...{ folder: sockets.folder, hasControl: control },
    }),
    onStart(worker) {
      const channel = channelTo(worker);
      served.set(worker, serveStore(store, channel));
      // Unless --task-store or --cluster gives them a store, the workers have the tasks of their clients in common here.
      serveTaskStore(tasks, channel);
    },
    onReady: (worker) => {
      if (control) void controlled.inform(sockets.clientOf(worker.number));
    },
    onEnd(worker, end, nextMs) {
      void forgetMembers(store, served.get(worker));
      served.delete(worker);
      const line = describeEnd(worker, end, nextMs);
      if (line !== undefined) operator.say(`isthmus: warning: ${line}`);
    },
  });
  const controlled = controlWorkers({
    facts: { pid: process.pid, version: VERSION, startedAt: new Date().toISOString() },
    workers: () => pool.ready.map(({ number }) => sockets.clientOf(number)),
    shutdown: () => pool.signal('SIGTERM'),
  });
  const isTerminalGone = watchTerminal();
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => pool.signal(signal));
  // As in a single process: SIGHUP reloads the configuration, unless it says that the terminal is gone.
  process.on('SIGHUP', () => {
    pool.signal(process.platform === 'win32' || isTerminalGone() ? 'SIGTERM' : 'SIGHUP');
  });
  const opened = control && (await openOwnControl(controlled, operator));
  pool.start();
  const code = await pool.over;
  if (opened) await opened.close();
  sockets.remove();
  process.exit(code);
}

/** The sockets where the parent controls its workers. Commands of the user find only that of the parent. */
function workerSockets() {
  const isWindows = process.platform === 'win32';
  const folder = isWindows
    ? `\\\\.\\pipe\\isthworker-${randomBytes(9).toString('hex')}-`
    : join(mkdtempSync(join(tmpdir(), 'isthmus-workers-')), sep);
  return {
    folder,
    clientOf: (number: number): ControlClient => controlClient(`${folder}${number}.sock`),
    remove() {
      if (!isWindows) rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function openOwnControl(
  controlled: ReturnType<typeof controlWorkers>,
  operator: Operator,
): Promise<Control | undefined> {
  try {
    const opened = await openControl(controlled, { path: controlPath(`gateway-${process.pid}`) });
    void sweepSockets(opened.path);
    return opened;
  } catch (error) {
    // The gateway works without it. Only the commands cannot reach it.
    operator.say(`isthmus: warning: the control socket could not be opened: ${messageOf(error)}`);
    return undefined;
  }
}

function channelTo({ process: child }: Worker): StoreChannel {
  return {
    send(message) {
      if (child.connected) child.send(message as object, () => {});
    },
    onMessage: (callback) => child.on('message', callback),
    onClosed: (callback) => child.once('disconnect', callback),
  };
}

/** The other workers need not wait until they miss one that has ended. */
async function forgetMembers(store: ClusterStore, served: ServedStore | undefined): Promise<void> {
  served?.close();
  for (const member of served?.members ?? []) await store.leave(member);
  await store.publish(MEMBERS_CHANNEL, Buffer.from('gone'));
}

function describeEnd(
  { number, process: child, state }: Worker,
  { code, signal }: WorkerEnd,
  nextMs: number | undefined,
): string | undefined {
  if (nextMs === undefined || state === 'ending') return undefined;
  const how = signal ? `was ended by ${signal}` : `ended with code ${code}`;
  const next = nextMs === 0 ? 'another one is started' : `another one is started in ${nextMs} ms`;
  return `worker ${number} (pid ${child.pid}) ${how}; ${next}`;
}
