import type { Connection } from '@isthmus/sdk/internal/exchange/connection.js';
import { childOf } from '@isthmus/sdk/internal/transport/stream-connection.js';
import { chooseTarget, type GivenOptions } from '../choose-target.js';
import { CliError, EXIT, usageError } from '../cli-error.js';
import type { CommonOptions } from '../common-options.js';
import { describeFailure } from '../describe-failure.js';
import { catchSignals } from '../session/catch-signals.js';
import { connectorOf } from '../session/target-connector.js';
import { createProgressLine } from '../terminal/progress-line.js';
import { processTerminal, writeJson } from '../terminal/terminal.js';
import { oneLine } from '../terminal/text.js';
import { readScript } from './read-script.js';
import { renderReplay } from './render-replay.js';
import { type ReplayedRequest, replayConversation } from './replay-conversation.js';
import { ReplayPeer } from './replay-peer.js';

export interface ReplayCommandOptions extends CommonOptions {
  readonly shape?: boolean;
  readonly server?: string;
}

/** What `isthmus replay --json` prints. */
export interface ReplayReport {
  readonly file: string;
  readonly target: string;
  /** How many answers and questions were compared. */
  readonly compared: number;
  readonly different: number;
  readonly requests: readonly ReplayedRequest[];
}

export async function runReplay(
  args: readonly string[],
  afterDashes: readonly string[] | undefined,
  given: GivenOptions<ReplayCommandOptions>,
): Promise<void> {
  const { file, words } = takeFile(args, given.config !== undefined);
  const { target, rest, options } = await chooseTarget('replay', words, afterDashes, given);
  if (rest.length > 0) throw usageError(`Unexpected argument "${rest[0]}": replay takes a file and a target`);
  const script = await readScript(file, options.server);
  const terminal = processTerminal();
  const say = (line: string) => terminal.stderr.write(`isthmus: ${line}\n`);
  if (script.skipped > 0) say(`${script.skipped} lines of ${oneLine(file)} are not valid, and are left out`);
  if (script.redacted > 0)
    say(
      `warning: ${script.redacted} frames had secrets that are not in the file; they are sent without them`,
    );
  const connector = connectorOf(target, options);
  const interruption = catchSignals(createProgressLine(terminal.stderr, 'none', terminal.err));
  const requests: ReplayedRequest[] = [];
  const { timeout: timeoutMs = ANSWER_MS, shape = false } = options;
  let connection: Connection | undefined;
  try {
    for (const conversation of script.conversations) {
      connection = await connector.connect();
      const peer = new ReplayPeer(connection);
      if (options.stderr)
        childOf(connection)?.stderr.stream().setEncoding('utf8').pipe(process.stderr, { end: false });
      const { signal } = interruption;
      const played = await replayConversation(conversation, peer, { timeoutMs, shape, signal });
      if (signal.aborted) throw new CliError(interruption.exitCode(), 'Interrupted');
      const failed = peer.heard === 0 && played.length > 0;
      connection.close();
      const { error } = await connection.closed;
      if (failed && error) throw error;
      requests.push(...played);
    }
  } catch (error) {
    throw describeFailure(error, {
      ...{ target, label: connector.label, connected: false, mode: options.mode },
      stderrTail: tailOf(connection),
    });
  } finally {
    connection?.close();
    interruption.release();
  }
  const different = requests.filter(isDifferent).length;
  const report: ReplayReport = {
    ...{ file, target: oneLine(connector.label), compared: requests.length, different, requests },
  };
  if (options.json) writeJson(terminal, report);
  else terminal.stdout.write(renderReplay(report, terminal));
  process.exitCode = different === 0 ? EXIT.ok : EXIT.failed;
}

const ANSWER_MS = 60_000;

export function isDifferent({ failure, differences }: ReplayedRequest): boolean {
  return failure !== undefined || differences.length > 0;
}

/** FILE is the first word, also with `--config`. */
function takeFile([file, ...words]: readonly string[], isConfigured: boolean) {
  if (file?.endsWith('.mcptrace')) return { file, words };
  const usage = isConfigured
    ? 'isthmus replay FILE.mcptrace --config FILE NAME'
    : 'isthmus replay FILE.mcptrace -- COMMAND';
  if (file === undefined) throw usageError('No trace file given', usage);
  throw usageError(`"${oneLine(file)}" is not the name of a trace file (.mcptrace)`, usage);
}

function tailOf(connection: Connection | undefined): readonly string[] {
  const child = connection && childOf(connection);
  const lines = child?.stderr.tail().trimEnd().split(/\r?\n/) ?? [];
  return lines.slice(-TAIL_LINES).filter((line) => line !== '');
}

const TAIL_LINES = 10;
