import { type Command, InvalidArgumentError } from 'commander';
import type { GivenOptions } from '../choose-target.js';
import { type CommonOptions, clientCommand, collect } from '../common-options.js';

export interface BenchOptions extends CommonOptions {
  readonly tool?: string;
  readonly args?: string;
  readonly concurrency?: number;
  readonly duration: number;
  readonly warmup: number;
  readonly rate?: number;
  readonly against?: readonly string[];
}

/** The limit for one answer: far above every latency that one would want to measure. */
export const ANSWER_MS = 10_000;
export const IN_FLIGHT = 10;
export const IN_FLIGHT_WITH_RATE = 256;

export function benchCommand(afterDashes: readonly string[] | undefined): Command {
  return clientCommand('bench', '', {
    description:
      'Put load on a server and measure throughput, latency, errors and cost; or compare several servers.',
    help: [HELP],
    failed: 'every request to a target failed',
    examples: [
      'isthmus bench -- node server.js',
      `isthmus bench --tool echo --args '{"text": "hi"}' --concurrency 50 -- isthmus demo`,
      'isthmus bench http://127.0.0.1:8080/mcp --rate 500 --duration 30',
      "isthmus bench http://127.0.0.1:8080/mcp --against 'isthmus demo'",
      'isthmus bench unix:/tmp/demo.sock --json | jq .targets[0].latencyMs.p99',
    ],
    timeout: `limit for connecting, and for each answer (default: 30000 to connect, ${ANSWER_MS} to answer)`,
  })
    .option('--tool <name>', 'call this tool; without it, only harmless requests are sent')
    .option('--args <json>', 'the arguments of the tool, as a JSON object (default: none)')
    .option(
      '-j, --concurrency <n>',
      `requests in flight at the same time (default: ${IN_FLIGHT}; with --rate at most ${IN_FLIGHT_WITH_RATE})`,
      toCount,
    )
    .option('-d, --duration <s>', 'seconds for which each target is measured', toSeconds, 10)
    .option('--warmup <s>', 'seconds of load before that, which are not counted', toSecondsOrZero, 1)
    .option(
      '-r, --rate <r>',
      'send this many requests per second, even while the server stalls; latency counts from the due time',
      toRate,
    )
    .option(
      '--against <target>',
      'measure this target in turn with the first one, and compare: an address, a command line in quotes, or a name of --config; repeatable',
      collect,
    )
    .action(async (args: string[], given: GivenOptions<BenchOptions>) => {
      const { runBenchCommand } = await import('../bench/run-bench-command.js');
      await runBenchCommand(args, afterDashes, given);
    });
}

const HELP = `
Without --rate, --concurrency requests are in flight all the time, and each begins when another has ended. With
--rate they are due at fixed times, and latency counts from then, so requests that wait for a stalled server count as
slow. Without --tool, bench sends tools/list, or a ping where the server has no tools. A tool is called thousands of
times: name one that has no side effects. With --against the targets take turns, about a second each.
Ctrl-C prints what was measured until then.`;

function toCount(text: string): number {
  const count = Number(text);
  if (/^\d+$/.test(text) && count >= 1 && count <= MOST_IN_FLIGHT) return count;
  throw new InvalidArgumentError(`It must be a whole number from 1 to ${MOST_IN_FLIGHT}.`);
}

const MOST_IN_FLIGHT = 10_000;

function toSeconds(text: string): number {
  const seconds = toNumber(text);
  if (seconds !== undefined && seconds >= 0.1 && seconds <= DAY_S) return seconds;
  throw new InvalidArgumentError('It must be a number of seconds, from 0.1 to 86400 (one day).');
}

function toSecondsOrZero(text: string): number {
  const seconds = toNumber(text);
  if (seconds !== undefined && seconds <= DAY_S) return seconds;
  throw new InvalidArgumentError('It must be a number of seconds, from 0 to 86400 (one day).');
}

const DAY_S = 24 * 60 * 60;

function toRate(text: string): number {
  const rate = toNumber(text);
  if (rate !== undefined && rate > 0 && rate <= HIGHEST_RATE) return rate;
  throw new InvalidArgumentError(
    `It must be a number of requests per second, above 0, up to ${HIGHEST_RATE}.`,
  );
}

const HIGHEST_RATE = 1_000_000;

function toNumber(text: string): number | undefined {
  return /^\d+(\.\d+)?$/.test(text) ? Number(text) : undefined;
}
