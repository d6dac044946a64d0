import type {
  BenchLoad,
  BenchReport,
  BenchSettings,
  BenchSide,
  BenchTool,
} from '@isthmus/check/internal/bench/model.js';
import { chooseRequests } from '@isthmus/check/internal/bench/request.js';
import { type BenchState, runBench } from '@isthmus/check/internal/bench/run-bench.js';
import { orAborted } from '@isthmus/sdk/internal/async/abort.js';
import { fromJson } from '../arguments/read-arguments.js';
import { suggest } from '../arguments/suggest.js';
import { chooseTarget, type GivenOptions } from '../choose-target.js';
import { CliError, EXIT, usageError } from '../cli-error.js';
import { type BenchOptions, IN_FLIGHT, IN_FLIGHT_WITH_RATE } from '../commands/bench.js';
import { splitCommand } from '../compat/split-command.js';
import { findConfigured } from '../config-target.js';
import { withAuth, withToken } from '../login/auth-options.js';
import { catchSignals } from '../session/catch-signals.js';
import { type CommandTarget, commandLine, commandTarget, targetAt } from '../target.js';
import { createProgressLine, type ProgressLine } from '../terminal/progress-line.js';
import { processTerminal, type Terminal, writeJson } from '../terminal/terminal.js';
import { oneLine } from '../terminal/text.js';
import { count, duration, letter } from './numbers.js';
import { checkConcurrency, openSides } from './open-sides.js';
import { renderBench } from './render-bench.js';

export async function runBenchCommand(
  args: readonly string[],
  afterDashes: readonly string[] | undefined,
  given: GivenOptions<BenchOptions>,
): Promise<void> {
  const { target, rest, options } = await chooseTarget('bench', args, afterDashes, given);
  if (rest.length > 0) throw usageError(`Unexpected argument "${rest[0]}": bench takes only a target`);
  const work = { settings: toSettings(options), tool: toTool(options) };
  const targets = [await withToken(target)];
  for (const text of options.against ?? []) {
    const other = await toTarget(text, given);
    targets.push(await withToken(other.kind === 'url' ? await withAuth(other, given) : other));
  }
  checkConcurrency(targets, work.settings.load.concurrency);
  process.exitCode = await bench(targets, work, options, processTerminal());
}

interface Work {
  readonly settings: BenchSettings;
  readonly tool: BenchTool | undefined;
}

function toSettings(options: BenchOptions): BenchSettings {
  const { duration: seconds, warmup } = options;
  return { load: toLoad(options), durationMs: seconds * 1000, warmupMs: warmup * 1000 };
}

function toLoad({ rate, concurrency }: BenchOptions): BenchLoad {
  if (rate === undefined) return { kind: 'closed', concurrency: concurrency ?? IN_FLIGHT };
  return { kind: 'open', perSecond: rate, concurrency: concurrency ?? IN_FLIGHT_WITH_RATE };
}

/** `--tool` is consent: a tool may have side effects, and is called thousands of times. */
function toTool({ tool, args }: BenchOptions): BenchTool | undefined {
  if (args !== undefined && tool === undefined) {
    throw usageError('--args needs --tool NAME', `--tool echo --args '{"text": "hi"}'`);
  }
  return tool === undefined ? undefined : { name: tool, args: args === undefined ? {} : fromJson(args) };
}

/** The target of `--against`: an address, a server of `--config`, or a command line in quotes. */
export async function toTarget(
  text: string,
  {
    config,
    input,
  }: { readonly config?: readonly string[]; readonly input?: Readonly<Record<string, string>> },
): Promise<CommandTarget> {
  const address = targetAt(text);
  if (address) return address;
  if (config && !/\s/.test(text.trim())) {
    const { target, warnings } = await findConfigured('bench', config, text, input);
    for (const warning of warnings) process.stderr.write(`isthmus: warning: ${warning}\n`);
    return target;
  }
  const [command = '', ...args] = splitCommand(text, '--against');
  return commandTarget(command, args);
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
      return report.interrupted ? interruption.exitCode() : exitCode(report);
    } finally {
      await close();
    }
  } catch (error) {
    if (signal.aborted) throw new CliError(interruption.exitCode(), 'Interrupted; nothing was measured');
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

/** A server that cannot list its tools may still have the tool. */
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

/** Draws the progress a few times a second: rarely enough not to disturb the measurement. */
export function followBench(line: ProgressLine, sides: number) {
  let state: BenchState | undefined;
  let began = 0;
  const draw = () => {
    if (!state) return;
    const { phase, doneMs, totalMs, durationMs, tally } = state;
    const ranMs = Math.min(durationMs, performance.now() - began);
    const name = sides > 1 ? `${letter(state.index)}: ` : '';
    if (phase === 'warm-up')
      line.update({ progress: 0, total: totalMs / 1000, message: `s, ${name}warming up` });
    else {
      line.update({
        progress: Math.round((doneMs + ranMs) / 100) / 10,
        total: totalMs / 1000,
        message: `s, ${name}${describe(state, ranMs + tally.elapsedMs)}`,
      });
    }
  };
  const timer = setInterval(draw, DRAW_MS);
  return {
    onTurn(next: BenchState) {
      state = next;
      began = performance.now();
      draw();
    },
    stop() {
      clearInterval(timer);
      line.hide();
    },
  };
}

const DRAW_MS = 250;

function describe({ tally }: BenchState, ms: number): string {
  const { answered, failed, latency } = tally;
  const rate = ms > 0 ? `${count((answered * 1000) / ms)}/s` : '';
  const tail = latency.count > 0 ? `, p99 ${duration(latency.percentile(99))}` : '';
  return `${rate}${tail}${failed > 0 ? `, ${count(failed)} failed` : ''}`;
}
