import type { BenchReport, SideReport } from '@isthmus/check/internal/bench/model.js';
import { oneLine } from '../terminal/text.js';
import { count, duration, letter, percent } from './numbers.js';

export interface Note {
  readonly isBad: boolean;
  readonly text: string;
}

/** What the numbers do not show: errors, stalls, and whether the driver or the machine was the limit. */
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
  'No requests are sent while the server stalls, so few of them measure the stall (coordinated omission). --rate R sends them.';

function failures({ errors, gone, abandoned }: SideReport): string[] {
  const lines = errors.map(
    ({ kind, count: n, example }) => `${count(n)} × ${kind}, for example: ${oneLine(example)}`,
  );
  if (gone) lines.push('the server went away before the end');
  if (abandoned > 0) lines.push(`${count(abandoned)} in flight at the interruption are not counted`);
  return lines;
}

/** A stall is reported when it is long, and far above the usual time of this server. */
function silence({ longestSilence, serviceMs, driver: { longestPauseMs } }: SideReport): string[] {
  if (!longestSilence) return [];
  const { ms, atMs, waiting } = longestSilence;
  if (ms < NOTABLE_SILENCE_MS || ms < NOTABLE_SILENCE * (serviceMs?.p50 ?? 0)) return [];
  const what = waiting === 1 ? '1 request was' : `${count(waiting)} requests were`;
  const when = `no answer for ${duration(ms)}, ${duration(atMs)} into the run, while ${what} due`;
  const isDriver = longestPauseMs > ms / 2;
  return [
    isDriver
      ? `${when}; the driver itself was paused for ${duration(longestPauseMs)}`
      : `the server stalled: ${when}`,
  ];
}

const NOTABLE_SILENCE_MS = 100;
const NOTABLE_SILENCE = 10;

function unsent({ unsent: left }: SideReport, { load, interrupted }: BenchReport): string[] {
  if (left === 0 || interrupted) return [];
  const limit = `${load.concurrency} in flight were not enough`;
  return [
    `${count(left)} requests were due and never sent, because ${limit}: the real latency is higher than shown`,
  ];
}

function driver({ driver: { busy, cpu, lateMs } }: SideReport, { load }: BenchReport): string[] {
  if (load.kind === 'closed') {
    if (cpu >= BUSY)
      return [`the driver is the limit: it used ${percent(cpu)} of a processor; the server may be faster`];
    return busy < BUSY ? [] : [`the driver was ${percent(busy)} busy: it may be the limit, not the server`];
  }
  if (!lateMs || lateMs.p99 < LATE_MS) return [];
  return [
    `the driver sent one request in a hundred ${duration(lateMs.p99)} late: that part of the latency is its own`,
  ];
}

const BUSY = 0.9;
const LATE_MS = 1;

function machine({ machine: { processors, loadBefore } }: BenchReport): Note[] {
  if (loadBefore < processors * CROWDED) return [];
  const load = `a load of ${loadBefore} on ${processors} processors`;
  return [
    {
      isBad: true,
      text: `the machine was busy before the run (${load}): the server may be better than these numbers`,
    },
  ];
}

const CROWDED = 0.75;

/** With fewer than a thousand answers, p99.9 is the maximum. */
function few(targets: readonly SideReport[]): Note[] {
  const least = Math.min(...targets.map(({ answered }) => answered));
  if (least === 0 || least >= 1000) return [];
  return [{ isBad: false, text: `With ${count(least)} answers, p99.9 is the slowest of them.` }];
}

function unknown(targets: readonly SideReport[]): Note[] {
  if (targets.every(({ process }) => process)) return [];
  return [
    {
      isBad: false,
      text: 'CPU and RSS are measured only for servers that bench starts (-- COMMAND), on Linux.',
    },
  ];
}
