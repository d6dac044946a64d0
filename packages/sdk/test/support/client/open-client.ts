import { setImmediate as turn } from 'node:timers/promises';
import { onTestFinished } from 'vitest';
import { fixture } from '../../../../../test/support/child.js';
import type { Connector } from '../../../src/exchange/connection.js';
import { type CallToolResult, type Client, type ConnectOptions, connect, stdio } from '../../../src/index.js';
import type { CommandOptions } from '../../../src/transport/child-connection.js';
import { childOf } from '../../../src/transport/stream-connection.js';
import { isAlive } from '../process.js';

export { until } from '../../../../../test/support/until.js';

/** A client that is closed when the test ends. Nothing is remembered unless the test says so. */
export async function openClient(connector: Connector, options: ConnectOptions = {}): Promise<Client> {
  const client = await connect(connector, { cache: false, ...options });
  onTestFinished(() => client.close());
  return client;
}

/** What `connect` rejects with. */
export async function failure(work: Promise<unknown>): Promise<Error & { code?: unknown; sent?: unknown }> {
  return work.then(
    (value) => {
      throw new Error(`it did not fail but gave ${JSON.stringify(value)}`);
    },
    (error: Error) => error,
  );
}

export interface WatchedConnector extends Connector {
  /** The processes it started, in order. */
  readonly pids: number[];
  /** How many of them were alive at the same time, at most. */
  mostAlive(): number;
  stderr(): string;
}

/** Starts a fixture program for each connection. */
export function program(
  name: string,
  args: readonly (string | number)[] = [],
  options: Partial<CommandOptions> = {},
): WatchedConnector {
  return command({ command: process.execPath, args: [fixture(name), ...args.map(String)], ...options });
}

/** `stdio(…)`, with an eye on its processes: the test fails when it leaves one behind. */
export function command(options: CommandOptions): WatchedConnector {
  const connector = stdio(options);
  const pids: number[] = [];
  let most = 0;
  let tail = () => '';
  onTestFinished(async () => {
    const left = pids.filter(isAlive);
    for (const pid of left) process.kill(-pid, 'SIGKILL');
    if (left.length > 0) throw new Error(`processes left behind: ${left.join(', ')}`);
  });
  return {
    label: connector.label,
    identity: connector.identity,
    pids,
    mostAlive: () => most,
    stderr: () => tail(),
    async connect() {
      const living = pids.filter(isAlive).length;
      const connection = await connector.connect();
      const child = childOf(connection);
      if (child?.pid !== undefined) pids.push(child.pid);
      most = Math.max(most, living + 1);
      tail = () => child?.stderr.tail() ?? '';
      return connection;
    },
  };
}

/** The text of a tool result. */
export function textOf(result: CallToolResult): string {
  const [block] = result.content;
  return block?.type === 'text' ? block.text : JSON.stringify(block);
}

/** Lets everything that is ready run, without letting time pass on a fake clock. */
export async function settle(): Promise<void> {
  for (let i = 0; i < 5; i += 1) await turn();
}

/** Whether a promise has settled by now. */
export async function isSettled(work: Promise<unknown>): Promise<boolean> {
  let settled = false;
  const note = () => {
    settled = true;
  };
  work.then(note, note);
  await settle();
  return settled;
}
