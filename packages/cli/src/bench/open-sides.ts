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
import { usageError } from '../cli-error.js';
import { ANSWER_MS } from '../commands/bench.js';
import type { CommonOptions } from '../common-options.js';
import { describeFailure } from '../describe-failure.js';
import { connectorOf } from '../session/target-connector.js';
import { type CommandTarget, type TargetSettings, withSettings } from '../target.js';

export interface OpenSides {
  readonly sides: readonly BenchSide[];
  close(): Promise<void>;
}

/** Connects to all targets. A failure becomes a `CliError`, and the connections that are open are closed. */
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
    // Refuses invalid options before the first server is started.
    const connectors = targets.map((target) => connectorOf(target, settingsFor(target, targets, options)));
    for (const [at, target] of targets.entries()) {
      sides.push(await openSide(target, connectors[at]!, options, signal, onStderr));
    }
  } catch (error) {
    await close();
    throw error;
  }
  return { sides, close };
}

/**
 * The options that fit a target: headers for URLs, variables and a folder for commands. Options that fit no target are
 * given to the first one, where `connectorOf` refuses them.
 */
export function settingsFor(
  target: CommandTarget,
  all: readonly CommandTarget[],
  { cwd, env, header }: TargetSettings,
): TargetSettings {
  const isFirst = target === all[0];
  const takes = (kind: CommandTarget['kind']) =>
    target.kind === kind || (isFirst && all.every((each) => each.kind !== kind));
  return { ...(takes('command') && { cwd, env }), ...(takes('url') && { header }) };
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
    extensions: connector.extensions,
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
      // After a restart the numbers would be those of another process.
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

/** Undefined where only the client can connect: over TLS, through a proxy, or over HTTP with SSE (2024-11-05). */
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

/** The HTTP client sends no more requests at a time. Requests that wait for it would count as slow. */
export function checkConcurrency(targets: readonly CommandTarget[], concurrency: number): void {
  if (concurrency <= HTTP_IN_FLIGHT || !targets.some(({ kind }) => kind === 'url')) return;
  throw usageError(
    `--concurrency ${concurrency} is too high for a URL`,
    `At most ${HTTP_IN_FLIGHT} are possible`,
  );
}

const HTTP_IN_FLIGHT = 256;
