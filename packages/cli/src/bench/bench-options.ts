import type { BenchLoad, BenchSettings, BenchTool } from '@isthmus/check/internal/bench/model.js';
import { type Command, InvalidArgumentError } from 'commander';
import { fromJson } from '../arguments/read-arguments.js';
import { usageError } from '../cli-error.js';
import { type CommonOptions, collect } from '../common-options.js';

export interface BenchOptions extends CommonOptions {
  readonly tool?: string;
  readonly args?: string;
  readonly concurrency?: number;
  readonly duration: number;
  readonly warmup: number;
  readonly rate?: number;
  readonly against?: readonly string[];
}

export function withBenchOptions(command: Command): Command {
  const timeout = command.options.find(({ long }) => long === '--timeout');
  if (timeout) timeout.description = TIMEOUT;
  return command
    .option('--tool <name>', 'call this tool; without it, nothing is asked that could do harm')
    .option('--args <json>', 'the arguments of the tool, as a JSON object (default: none)')
    .option(
      '-n, --concurrency <n>',
      `requests in flight at a time (default: ${IN_FLIGHT}; with --rate at most ${IN_FLIGHT_WITH_RATE})`,
      toCount,
    )
    .option('-d, --duration <s>', 'how long each target is measured, in seconds', toSeconds, 10)
    .option('--warmup <s>', 'how long each is asked before that, in seconds; not counted', toSecondsOrNone, 1)
    .option(
      '-r, --rate <r>',
      'requests that are due per second, whatever the server does; times count from when each was due',
      toRate,
    )
    .option(
      '--against <target>',
      'measure this one in turn with the first, and compare: an address, a command line in quotes, or a name of --config; repeatable',
      collect,
    );
}

/** The longest that one waits for a single answer: much longer than for any that one would want to measure. */
export const ANSWER_MS = 10_000;

const TIMEOUT = `how long connecting, and each answer, may take (default: 30000 to connect, ${ANSWER_MS} to answer)`;
const IN_FLIGHT = 10;
const IN_FLIGHT_WITH_RATE = 256;

export function toSettings(options: BenchOptions): BenchSettings {
  const { duration, warmup } = options;
  return { load: toLoad(options), durationMs: duration * 1000, warmupMs: warmup * 1000 };
}

/** `--tool` is consent: a tool may do harm, and is called thousands of times. */
export function toTool({ tool, args }: BenchOptions): BenchTool | undefined {
  if (args !== undefined && tool === undefined) {
    throw usageError('--args are for a tool, and there is no --tool', `--tool echo --args '{"text": "hi"}'`);
  }
  return tool === undefined ? undefined : { name: tool, args: args === undefined ? {} : fromJson(args) };
}

function toLoad({ rate, concurrency }: BenchOptions): BenchLoad {
  if (rate === undefined) return { kind: 'closed', concurrency: concurrency ?? IN_FLIGHT };
  return { kind: 'open', perSecond: rate, concurrency: concurrency ?? IN_FLIGHT_WITH_RATE };
}

function toCount(text: string): number {
  const count = Number(text);
  if (/^\d+$/.test(text) && count >= 1 && count <= MOST_IN_FLIGHT) return count;
  throw new InvalidArgumentError(`It must be a whole number from 1 to ${MOST_IN_FLIGHT}.`);
}

const MOST_IN_FLIGHT = 10_000;

function toSeconds(text: string): number {
  const seconds = toNumber(text);
  if (seconds !== undefined && seconds >= 0.1 && seconds <= DAY_S) return seconds;
  throw new InvalidArgumentError('It must be a number of seconds, 0.1 or more, and no more than a day.');
}

function toSecondsOrNone(text: string): number {
  const seconds = toNumber(text);
  if (seconds !== undefined && seconds <= DAY_S) return seconds;
  throw new InvalidArgumentError('It must be a number of seconds, 0 or more, and no more than a day.');
}

function toRate(text: string): number {
  const rate = toNumber(text);
  if (rate !== undefined && rate > 0 && rate <= HIGHEST_RATE) return rate;
  throw new InvalidArgumentError('It must be a number of requests per second, above 0, up to 1000000.');
}

function toNumber(text: string): number | undefined {
  return /^\d+(\.\d+)?$/.test(text) ? Number(text) : undefined;
}

const HIGHEST_RATE = 1_000_000;
const DAY_S = 24 * 60 * 60;
