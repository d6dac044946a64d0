import type {
  BenchReport,
  BenchSettings,
  BenchSide,
  BenchTool,
} from '@isthmus/check/internal/bench/model.js';
import { chooseRequests } from '@isthmus/check/internal/bench/request.js';
import { runBench } from '@isthmus/check/internal/bench/run-bench.js';
import { orAborted } from '@isthmus/sdk/internal/async/abort.js';
import type { Command } from 'commander';
import { suggest } from '../arguments/suggest.js';
import { toOpponent } from '../bench/against.js';
import { type BenchOptions, toSettings, toTool, withBenchOptions } from '../bench/bench-options.js';
import { followBench } from '../bench/bench-progress.js';
import { checkConcurrency, openSides } from '../bench/open-sides.js';
import { renderBench } from '../bench/render-bench.js';
import { catchSignals } from '../catch-signals.js';
import { chooseTarget, type GivenOptions } from '../choose-target.js';
import { CliError, usageError } from '../cli-error.js';
import { clientCommand } from '../common-options.js';
import { EXIT } from '../exit-codes.js';
import { type CommandTarget, commandLine } from '../target.js';
import { createProgressLine, type ProgressLine } from '../terminal/progress-line.js';
import { processTerminal, type Terminal, writeJson } from '../terminal/terminal.js';
import { oneLine } from '../terminal/text.js';

export function benchCommand(behind: readonly string[] | undefined): Command {
  const command = clientCommand('bench', '', {
    description:
      'Put load on a server: throughput, latency, errors, and what it costs; or two, side by side.',
    help: [HELP],
    examples: [
      'isthmus bench -- node server.js',
      `isthmus bench --tool echo --args '{"text": "hi"}' --concurrency 50 -- isthmus demo`,
      'isthmus bench http://127.0.0.1:8080/mcp --rate 500 --duration 30',
      "isthmus bench http://127.0.0.1:8080/mcp --against 'isthmus demo'",
      'isthmus bench unix:/tmp/demo.sock --json | jq .targets[0].latencyMs.p99',
    ],
  });
  return withBenchOptions(command).action(async (words: string[], given: GivenOptions<BenchOptions>) => {
    const { target, rest, options } = await chooseTarget('bench', words, behind, given);
    if (rest.length > 0) throw usageError(`bench takes a target and nothing else; what is "${rest[0]}"?`);
    const work = { settings: toSettings(options), tool: toTool(options) };
    const targets = [target];
    for (const text of options.against ?? []) targets.push(await toOpponent(text, given));
    checkConcurrency(targets, work.settings.load.concurrency);
    process.exitCode = await bench(targets, work, options, processTerminal());
  });
}

const HELP = `
Without --rate, --concurrency requests are in flight all the time, and each begins when another has ended. With
--rate they are due at fixed times, and latency counts from then: what waits because the server stalls is slow.
Without --tool the server is asked for tools/list, or for a sign of life where it has no tools. A tool is called
thousands of times: name one that may be. With --against the targets take turns, about a second each.
Ctrl-C prints what was measured until then. The exit code is 1 when every request to a target failed, and 4 when a
server went away.`;

interface Work {
  readonly settings: BenchSettings;
  readonly tool: BenchTool | undefined;
}

async function bench(
  targets: readonly CommandTarget[],
  work: Work,
  options: BenchOptions,
  terminal: Terminal,
): Promise<number> {
  const line = createProgressLine(terminal.stderr, terminal.readsErrors ? 'live' : 'none', terminal.err);
  const interruption = catchSignals(line);
  const { signal } = interruption;
  try {
    const { sides, close } = await openSides(targets, options, signal, (text) => line.write(text));
    try {
      const report = await measure(targets, sides, work, line, signal);
      if (report.interrupted && report.targets.every(({ turns }) => turns.length === 0)) throw signal.reason;
      if (options.json) writeJson(terminal, report);
      else terminal.stdout.write(renderBench(report, terminal));
      return report.interrupted ? interruption.code() : exitCode(report);
    } finally {
      await close();
    }
  } catch (error) {
    if (signal.aborted) throw new CliError(interruption.code(), 'Interrupted; nothing was measured');
    throw error;
  } finally {
    interruption.release();
  }
}

async function measure(
  targets: readonly CommandTarget[],
  sides: readonly BenchSide[],
  { settings, tool }: Work,
  line: ProgressLine,
  signal: AbortSignal,
): Promise<BenchReport> {
  if (tool) await orAborted(checkTool(targets, sides, tool.name), signal, () => {});
  const requests = await orAborted(chooseRequests(sides, tool), signal, () => {});
  const progress = followBench(line, sides.length);
  try {
    return await runBench(sides, requests, settings, { signal, onTurn: progress.onTurn });
  } finally {
    progress.stop();
  }
}

/** A server that cannot list its tools may have it all the same. */
async function checkTool(
  targets: readonly CommandTarget[],
  sides: readonly BenchSide[],
  name: string,
): Promise<void> {
  for (const [at, { client, label }] of sides.entries()) {
    const tools = await client.listTools().catch(() => undefined);
    const names = tools?.map((tool) => oneLine(tool.name)) ?? [name];
    if (names.includes(name)) continue;
    const meant = suggest(name, names);
    throw usageError(
      `${oneLine(client.server.info?.name ?? label)} has no tool "${name}"`,
      `${meant === undefined ? '' : `Did you mean ${meant}? `}${commandLine('list', targets[at]!)} shows all`,
    );
  }
}

function exitCode({ targets }: BenchReport): number {
  if (targets.some(({ gone }) => gone)) return EXIT.protocol;
  return targets.some(({ answered }) => answered === 0) ? EXIT.failed : EXIT.ok;
}
