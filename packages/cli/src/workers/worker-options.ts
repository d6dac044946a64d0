import { availableParallelism } from 'node:os';
import { type Command, InvalidArgumentError } from 'commander';
import { usageError } from '../cli-error.js';
import { env } from '../serve/option-values.js';
import type { WorkerLink } from './worker-link.js';

/** The options of `isthmus serve` about workers. */
export interface WorkerFlags {
  readonly workers?: number;
  /** Set in a worker. */
  readonly worker?: WorkerLink;
}

export function addWorkerOptions(command: Command): void {
  command.addOption(
    env(
      '--workers <count>',
      'serve with so many processes on the same port, as one; auto: one for each core (default: 1)',
      'WORKERS',
      toWorkers,
    ),
  );
}

function toWorkers(text: string): number {
  if (text === 'auto') return availableParallelism();
  const count = Number(text);
  if (/^\d{1,3}$/.test(text) && count >= 1 && count <= MAX_WORKERS) return count;
  throw new InvalidArgumentError(`It must be a number from 1 to ${MAX_WORKERS}, or auto.`);
}

/** Workers share a port. A stream has one reader. */
export function checkWorkerAddresses(addresses: readonly string[]): void {
  const other = addresses.find((address) => !/^https?:/.test(address));
  if (other === undefined) return;
  throw usageError(
    `--workers serves HTTP addresses only, and there is ${other}`,
    'Leave --workers out, or serve that address by another isthmus serve',
  );
}

/** Each worker has a private listener of its own, so the port has to be a free one. */
export function checkWorkerCluster(flags: {
  readonly clusterListen?: string;
  readonly clusterAdvertise?: string;
}): void {
  if (flags.clusterAdvertise !== undefined) {
    throw usageError('--cluster-advertise is one address, and --workers has several processes', ADVICE);
  }
  if (flags.clusterListen !== undefined && !/:0\/?$/.test(flags.clusterListen)) {
    throw usageError('--cluster-listen needs port 0 with --workers: each process has its own', ADVICE);
  }
}

const MAX_WORKERS = 256;
const ADVICE = 'Use --cluster-listen http://HOST:0, or leave --workers out';
