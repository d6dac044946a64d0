import type { BenchReport, SideReport } from '@isthmus/check/internal/bench/model.js';
import { oneLine } from '../terminal/text.js';
import { letter } from './bench-progress.js';
import { count, duration, percent } from './numbers.js';

export interface Note {
  readonly isBad: boolean;
  readonly text: string;
}

/** What the numbers do not say by themselves: what failed, who stalled, and whose limits were measured. */
export function notesOf(report: BenchReport): readonly Note[] {
  const { targets, load } = report;
  const own = targets.flatMap((side, at) => {
    const name = targets.length > 1 ? `${letter(at)}: ` : '';
    return [...failures(side), ...silence(side), ...unsent(side, report), ...driver(side, report)].map(
      (text) => ({ isBad: true, text: `${name}${text}` }),
    );
  });
  return [
    ...own,
    ...machine(report),
    { isBad: false, text: load.kind === 'open' ? OPEN : CLOSED },
    ...few(targets),
    ...unknown(targets),
  ];
}

const OPEN =
  'Latency counts from the time at which a request was due, service from the time at which it was sent.';
const CLOSED =
  'While a server stalls it is not asked, so few requests see it (coordinated omission). --rate R asks all the same.';

function failures({ errors, gone, abandoned }: SideReport): string[] {
  const lines = errors.map(
    ({ kind, count: n, example }) => `${count(n)} × ${kind}, the first: ${oneLine(example)}`,
  );
  if (gone) lines.push('the server went away before the end');
  if (abandoned > 0) lines.push(`in flight when it was interrupted, and not counted: ${count(abandoned)}`);
  return lines;
}

/** Worth a word: longer than anybody would like, and far from what is usual for this server. */
function silence({ longestSilence, serviceMs, driver: { longestPauseMs } }: SideReport): string[] {
  if (!longestSilence) return [];
  const { ms, atMs, waiting } = longestSilence;
  if (ms < NOTABLE_SILENCE_MS || ms < NOTABLE_SILENCE * (serviceMs?.p50 ?? 0)) return [];
  const what = waiting === 1 ? '1 request was' : `${count(waiting)} requests were`;
  const when = `no answer for ${duration(ms)}, ${duration(atMs)} into the run, while ${what} due`;
  const isOurs = longestPauseMs > ms / 2;
  return [
    isOurs ? `${when}; the driver itself stood still for ${duration(longestPauseMs)}` : `it stalled: ${when}`,
  ];
}

const NOTABLE_SILENCE_MS = 100;
const NOTABLE_SILENCE = 10;

function unsent({ unsent: left }: SideReport, { load, interrupted }: BenchReport): string[] {
  if (left === 0 || interrupted) return [];
  const limit = `with ${load.concurrency} in flight it does not keep up`;
  return [
    `${count(left)} requests were due and never sent, as ${limit}: their latency is more than what is shown`,
  ];
}

function driver({ driver: { busy, cpu, lateMs } }: SideReport, { load }: BenchReport): string[] {
  if (load.kind === 'closed') {
    if (cpu >= BUSY)
      return [
        `the driver is the limit: it used ${percent(cpu)} of a processor, and the server may be faster than this`,
      ];
    return busy < BUSY
      ? []
      : [`the driver was ${percent(busy)} busy: this may be its limit, and not that of the server`];
  }
  if (!lateMs || lateMs.p99 < LATE_MS) return [];
  return [
    `the driver was ${duration(lateMs.p99)} late with one request in a hundred: so much of the latency is its own`,
  ];
}

const BUSY = 0.9;
const LATE_MS = 1;

/** Whoever wants a processor has to share it. */
function machine({ machine: { processors, loadBefore } }: BenchReport): Note[] {
  if (loadBefore < processors * CROWDED) return [];
  const load = `a load of ${loadBefore} on ${processors} processors`;
  return [
    {
      isBad: true,
      text: `the machine was busy before it began (${load}): the server may be better than this`,
    },
  ];
}

const CROWDED = 0.75;

/** Of fewer than a thousand, the slowest is the thousandth part. */
function few(targets: readonly SideReport[]): Note[] {
  const least = Math.min(...targets.map(({ answered }) => answered));
  if (least === 0 || least >= 1000) return [];
  return [{ isBad: false, text: `With ${count(least)} answers, p99.9 is the slowest of them.` }];
}

function unknown(targets: readonly SideReport[]): Note[] {
  if (targets.every(({ process }) => process)) return [];
  return [
    { isBad: false, text: 'CPU and RSS are known of servers that are started here (-- COMMAND), on Linux.' },
  ];
}
