import { openDirectHttp } from '@isthmus/check/internal/bench/direct-http.js';
import { type StreamTap, tapStream } from '@isthmus/check/internal/bench/direct-stream.js';
import type { BenchSide } from '@isthmus/check/internal/bench/model.js';
import type { Client } from '@isthmus/sdk/internal/client/client.js';
import { connect } from '@isthmus/sdk/internal/client/connect.js';
import type { Connector } from '@isthmus/sdk/internal/exchange/connection.js';
import type { Child } from '@isthmus/sdk/internal/process/child.js';
import { proxyOf } from '@isthmus/sdk/internal/transport/http-client/dispatch.js';
import { childOf } from '@isthmus/sdk/internal/transport/stream-connection.js';
import { VERSION } from '@isthmus/sdk/internal/version.js';
import { CliError } from '../cli-error.js';
import type { CommonOptions } from '../common-options.js';
import { describeFailure } from '../describe-failure.js';
import { type CommandTarget, connectorOf, withSettings } from '../target.js';
import { settingsFor } from './against.js';
import { ANSWER_MS } from './bench-options.js';

export interface OpenSides {
  readonly sides: readonly BenchSide[];
  close(): Promise<void>;
}

/** Connects to all targets; what fails comes out as `CliError`, and nobody is left open. */
export async function openSides(
  targets: readonly CommandTarget[],
  options: CommonOptions,
  signal: AbortSignal,
  onStderr: (text: string) => void,
): Promise<OpenSides> {
  const sides: BenchSide[] = [];
  const close = async () => {
    await Promise.all(sides.map(({ direct }) => direct?.close()));
    await Promise.all(sides.map(({ client }) => client.close()));
  };
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
  target: CommandTarget,
  connector: Connector,
  options: CommonOptions,
  signal: AbortSignal,
  onStderr: (text: string) => void,
): Promise<BenchSide> {
  let child: Child | undefined;
  let tap: StreamTap | undefined;
  const watched: Connector = {
    label: connector.label,
    identity: connector.identity,
    async connect() {
      const connection = await connector.connect();
      if (target.kind !== 'url') tap = tapStream(connection);
      child = childOf(connection);
      if (options.stderr) child?.stderr.stream().setEncoding('utf8').on('data', onStderr);
      return connection;
    },
  };
  let client: Client;
  try {
    client = await connect(watched, {
      mode: options.mode,
      signal,
      info: { name: 'isthmus-bench', version: VERSION },
      // A server that is started again is not the one that was measured.
      reconnect: false,
      timeoutMs: options.timeout ?? ANSWER_MS,
      ...(options.timeout !== undefined && { connectTimeoutMs: options.timeout }),
    });
  } catch (error) {
    if (signal.aborted) throw error;
    const tail = child?.stderr.tail().trimEnd().split(/\r?\n/) ?? [];
    const { label } = connector;
    const stderrTail = tail.filter((line) => line !== '').slice(-TAIL_LINES);
    throw describeFailure(error, { target, label, connected: false, mode: options.mode, stderrTail });
  }
  const timeoutMs = options.timeout ?? ANSWER_MS;
  const direct =
    tap?.way(client.era, client.revision, timeoutMs) ??
    (await directHttp(target, client, options, timeoutMs));
  return { label: connector.label, client, pid: child?.pid, direct };
}

/** Undefined where only the client can do it: over TLS, through a proxy, or over HTTP with SSE (2024-11-05). */
async function directHttp(
  target: CommandTarget,
  { era, revision }: Client,
  { header = [] }: CommonOptions,
  timeoutMs: number,
) {
  if (target.kind !== 'url' || revision === '2024-11-05') return undefined;
  const url = new URL(target.url);
  const { headers } = withSettings(target, { header });
  const isPlain = url.protocol === 'http:' && url.username === '' && url.password === '';
  if (!isPlain || proxyOf(url, process.env) || !Object.values(headers).every(isAscii)) return undefined;
  return openDirectHttp({ url, era, revision, headers, timeoutMs });
}

function isAscii(text: string): boolean {
  return /^[\t\x20-\x7e]*$/.test(text);
}

const TAIL_LINES = 10;

/** Over HTTP our own client lets no more requests out: those that wait for it would count as slow. */
export function checkConcurrency(targets: readonly CommandTarget[], concurrency: number): void {
  if (concurrency <= HTTP_IN_FLIGHT || !targets.some(({ kind }) => kind === 'url')) return;
  throw new CliError(2, `--concurrency ${concurrency} is too much for a URL: at most ${HTTP_IN_FLIGHT}`);
}

const HTTP_IN_FLIGHT = 256;
