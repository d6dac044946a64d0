import { EventEmitter } from 'node:events';
import type { Socket } from 'node:net';
import type { StoreChannel } from '@isthmus/sdk/internal/process/remote-store/messages.js';
import type { SignalSource } from '@isthmus/sdk/internal/server/own-process.js';
import type { AcceptedConnections } from '@isthmus/sdk/internal/transport/http-server/node-server.js';
import { ParentsConnections } from './parents-connections.js';
import { isOfWorkers, type ToParent, type ToWorker } from './worker-messages.js';

/** A worker's connection to its parent. */
export interface WorkerLink {
  readonly parentPid: number;
  /** A random word that tells the workers of one parent from those of others. It is not a secret. */
  readonly parent: string;
  /** What all workers share. */
  readonly secret: string;
  /** Its number among the workers of its parent, from 1. */
  readonly number: number;
  readonly speaks: boolean;
  /** Where the parent controls it. Undefined with --no-control. */
  readonly controlPath: string | undefined;
  /** The stores that the parent keeps for all workers: what a cluster has in common, and the tasks. */
  readonly stores: StoreChannel;
  /** The connections of clients, which the parent accepts. */
  readonly connections: AcceptedConnections;
  /** The signals that the parent has passed on. */
  readonly signals: SignalSource;
  owned(exitMs: number): void;
  ready(): void;
}

/** Whether `runWorkers` has started this process. Children of this process are not meant. */
export function isWorker(): boolean {
  const isNamed = process.env[WORKER_VARIABLE] === '1';
  delete process.env[WORKER_VARIABLE];
  return isNamed && process.send !== undefined;
}

/** Asks the parent what this worker needs to know. When the parent is gone, the worker finishes its calls and ends. */
export async function linkToParent(): Promise<WorkerLink> {
  const signals = new EventEmitter();
  const send = (message: ToParent | object) => {
    if (process.connected) process.send?.(message, undefined, undefined, () => {});
  };
  const connections = new ParentsConnections(send);
  const onSignal = (signal: NodeJS.Signals) => {
    // Nothing is open yet.
    if (signals.listenerCount(signal) === 0 && signal !== 'SIGHUP') process.exit(0);
    signals.emit(signal, signal);
  };
  const welcomed = new Promise<Extract<ToWorker, { kind: 'welcome' }>>((resolve) => {
    process.on('message', (message, socket) => {
      if (!isOfWorkers<ToWorker>(message)) return;
      if (message.kind === 'welcome') resolve(message);
      else if (message.kind === 'signal') onSignal(message.signal);
      else connections.hear(message, socket as Socket | undefined);
    });
  });
  process.once('disconnect', () => onSignal('SIGTERM'));
  for (const signal of PARENTS) process.on(signal, () => send({ of: 'workers', kind: 'signalled', signal }));
  send({ of: 'workers', kind: 'hello' });
  const { parent, secret, number, speaks, folder, hasControl } = await welcomed;
  connections.begin(folder);
  // A worker that cannot serve ends, as a single process does.
  process.channel?.unref();
  return {
    ...{ parentPid: process.ppid, parent, secret, number, speaks, signals, connections },
    controlPath: hasControl ? `${folder}${number}.sock` : undefined,
    stores: {
      send,
      onMessage: (callback) => process.on('message', callback),
      onClosed: (callback) => process.once('disconnect', callback),
    },
    owned: (exitMs) => send({ of: 'workers', kind: 'owned', exitMs }),
    ready: () => send({ of: 'workers', kind: 'ready' }),
  };
}

/** Tells a process that it is a worker. */
export const WORKER_VARIABLE = 'ISTHMUS_IS_WORKER';
/** A terminal and a service manager send these to the parent and to the workers. The parent decides. */
const PARENTS: readonly NodeJS.Signals[] = ['SIGINT', 'SIGTERM', 'SIGHUP'];
