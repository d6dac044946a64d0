import type { BenchReport, Ratios, SideReport, Times } from '@isthmus/check/internal/bench/model.js';
import { table } from '../terminal/table.js';
import type { Style, Terminal } from '../terminal/terminal.js';
import { oneLine } from '../terminal/text.js';
import { notesOf } from './notes.js';
import { count, duration, letter, megabytes, percent, times } from './numbers.js';

/** The report for a terminal: the targets, the load, the numbers side by side, and notes. */
export function renderBench(report: BenchReport, { width, out }: Terminal): string {
  const indent = '  ';
  const facts = table(factRows(report), { width, indent, maxLines: 10, paint: dimFirst(out) });
  const numbers = table(numberRows(report), {
    width: Number.POSITIVE_INFINITY,
    indent,
    paint: dimFirst(out),
  });
  const notes = notesOf(report).map(
    ({ isBad, text }) => `${indent}${isBad ? out.yellow('!') : '·'} ${text}\n`,
  );
  return [...heads(report, out), facts, '\n', numbers, notes.length > 0 ? '\n' : '', ...notes].join('');
}

function heads({ targets }: BenchReport, out: Style): string[] {
  return targets.map((side, at) => {
    const name = targets.length > 1 ? `${letter(at)}  ` : '';
    return `${out.bold(`${name}${oneLine(side.target)}`)} (${identity(side)})\n`;
  });
}

function identity({ server, era, revision }: SideReport): string {
  const name = server ? `${oneLine(server.name)} ${oneLine(server.version)}, ` : '';
  return `${name}${era} ${revision}`;
}

function factRows({ targets, load, interrupted }: BenchReport): string[][] {
  const requests = [...new Set(targets.map(describeRequest))];
  const measured = `${duration(load.durationMs)}${targets.length > 1 ? ` each, in ${load.turns} turns` : ''}`;
  const warm = load.warmupMs > 0 ? `, after ${duration(load.warmupMs)} of warm-up` : '';
  const how =
    load.kind === 'open'
      ? `open loop: ${count(load.perSecond)} requests due per second, at most ${load.concurrency} in flight`
      : `closed loop: ${load.concurrency} in flight, each begins when another has ended`;
  const rows = [
    ['request', requests.join('; ')],
    ['load', `${how}; ${measured}${warm}`],
  ];
  if (interrupted) rows.push(['', 'interrupted: these numbers are from the time before']);
  return rows;
}

function describeRequest({ request: { method, params } }: SideReport): string {
  if (method !== 'tools/call') return `${method} (harmless; --tool NAME calls a tool)`;
  return oneLine(`${method} ${String(params['name'])} ${JSON.stringify(params['arguments'])}`);
}

function numberRows({ targets, ratios, load }: BenchReport): string[][] {
  const row = (
    name: string,
    of: (side: SideReport) => string,
    ratio: (ratios: Ratios) => string = () => '',
  ) => [name, ...targets.map(of), ...ratios.map(ratio)];
  const timeRows = (name: string, of: (side: SideReport) => Times | null, compared: boolean) =>
    PERCENTILES.map(([key, label]) =>
      row(
        `${name} ${label}`,
        (side) => (of(side) ? duration(of(side)![key]) : '-'),
        ({ latency }) => (compared ? times(latency[key]) : ''),
      ),
    );
  const rows = [
    row('throughput', ({ perSecond }) => `${count(perSecond)}/s`, throughputRatio),
    ...timeRows('latency', ({ latencyMs }) => latencyMs, true),
    ...(load.kind === 'open' ? timeRows('service', ({ serviceMs }) => serviceMs, false) : []),
    row('answered', ({ answered }) => count(answered)),
    row('failed', ({ failed }) => count(failed)),
    row('server CPU', cpu, ({ cpuPerRequest }) => times(cpuPerRequest)),
    row('server peak RSS', memory, ({ peakRss }) => times(peakRss)),
    // With a rate the driver polls the clock and is always busy.
    ...(load.kind === 'closed' ? [row('driver', driver)] : []),
  ];
  if (targets.length === 1) return rows;
  const names = targets.map((_, at) => letter(at));
  return [['', ...names, ...names.slice(1).map((name) => `${name} ÷ A`)], ...rows];
}

const PERCENTILES: readonly (readonly [keyof Times, string])[] = [
  ['p50', 'p50'],
  ['p90', 'p90'],
  ['p99', 'p99'],
  ['p999', 'p99.9'],
  ['max', 'max'],
];

function throughputRatio({ throughput }: Ratios): string {
  if (!throughput) return '-';
  const { ratio, min, max } = throughput;
  return `${times(ratio)} (${times(min)} to ${times(max)})`;
}

function cpu({ process }: SideReport): string {
  const micros = process?.cpuMicrosPerRequest ?? null;
  return micros === null ? 'not known' : `${duration(micros / 1000)} per request`;
}

function memory({ process }: SideReport): string {
  if (!process) return 'not known';
  return `${megabytes(process.peakRssBytes)}${process.processes > 1 ? ` (${process.processes} processes)` : ''}`;
}

function driver({ driver: { busy, cpuMicrosPerRequest } }: SideReport): string {
  const micros = cpuMicrosPerRequest === null ? '' : `, ${duration(cpuMicrosPerRequest / 1000)} per request`;
  return `${percent(busy)} busy${micros}`;
}

function dimFirst(out: Style): (text: string, column: number) => string {
  return (text, column) => (column === 0 ? out.dim(text) : text);
}
