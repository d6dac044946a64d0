import type { Side } from '../../bench/model.js';
import type { Client } from '../../client/client.js';
import { connect } from '../../client/connect.js';
import type { Connector } from '../../exchange/connection.js';
import type { ChildConnection } from '../../transport/child.js';
import { CliError } from '../cli-error.js';
import type { CommonOptions } from '../common-options.js';
import { describeFailure } from '../describe-failure.js';
import { connectorOf, type Target } from '../target.js';
import { settingsFor } from './against.js';
import { ANSWER_MS } from './bench-options.js';

export interface OpenSides {
  readonly sides: readonly Side[];
  close(): Promise<void>;
}

/** Connects to all targets; what fails comes out as `CliError`, and nobody is left open. */
export async function openSides(
  targets: readonly Target[],
  options: CommonOptions,
  signal: AbortSignal,
  onStderr: (text: string) => void,
): Promise<OpenSides> {
  const sides: Side[] = [];
  const close = async () => void (await Promise.all(sides.map(({ client }) => client.close())));
  try {
    // All are checked before the first is started.
    const ways = targets.map((target) => connectorOf(target, settingsFor(target, targets, options)));
    for (const [at, target] of targets.entries()) {
      sides.push(await openSide(target, ways[at]!, options, signal, onStderr));
    }
  } catch (error) {
    await close();
    throw error;
  }
  return { sides, close };
}

async function openSide(
  target: Target,
  connector: Connector,
  options: CommonOptions,
  signal: AbortSignal,
  onStderr: (text: string) => void,
): Promise<Side> {
  let child: ChildConnection | undefined;
  const watched: Connector = {
    label: connector.label,
    identity: connector.identity,
    async connect() {
      const connection = await connector.connect();
      child = 'stderrTail' in connection ? (connection as ChildConnection) : undefined;
      if (options.stderr) child?.stderr().setEncoding('utf8').on('data', onStderr);
      return connection;
    },
  };
  let client: Client;
  try {
    client = await connect(watched, {
      mode: options.mode,
      signal,
      info: { name: 'isthmus-bench', version: '0.1.0' },
      // A server that is started again is not the one that was measured.
      reconnect: false,
      timeoutMs: options.timeout ?? ANSWER_MS,
      ...(options.timeout !== undefined && { connectTimeoutMs: options.timeout }),
    });
  } catch (error) {
    if (signal.aborted) throw error;
    const tail = child?.stderrTail().trimEnd().split(/\r?\n/) ?? [];
    const { label } = connector;
    const stderrTail = tail.filter((line) => line !== '').slice(-TAIL_LINES);
    throw describeFailure(error, { target, label, connected: false, mode: options.mode, stderrTail });
  }
  return { label: connector.label, client, pid: child?.pid };
}

const TAIL_LINES = 10;

/** Over HTTP our own client lets no more requests out: those that wait for it would count as slow. */
export function checkConcurrency(targets: readonly Target[], concurrency: number): void {
  if (concurrency <= HTTP_IN_FLIGHT || !targets.some(({ kind }) => kind === 'url')) return;
  throw new CliError(2, `--concurrency ${concurrency} is too much for a URL: at most ${HTTP_IN_FLIGHT}`);
}

const HTTP_IN_FLIGHT = 256;
