/** What `isthmus bench` says to a person, from reports that are written down here. */

import { Writable } from 'node:stream';
import type { BenchReport, SideReport, Times } from '@isthmus/check/internal/bench/model.js';
import { Tally } from '@isthmus/check/internal/bench/tally.js';
import { describe, expect, it } from 'vitest';
import { notesOf } from '../../src/bench/notes.js';
import { count, duration, megabytes, times } from '../../src/bench/numbers.js';
import { settingsFor } from '../../src/bench/open-sides.js';
import { renderBench } from '../../src/bench/render-bench.js';
import { followBench, toTarget } from '../../src/bench/run-bench-command.js';
import { commandTarget, targetAt } from '../../src/target.js';
import { createProgressLine } from '../../src/terminal/progress-line.js';
import { createStyle, processTerminal, type Terminal } from '../../src/terminal/terminal.js';

const plain = createStyle(false, {});
const terminal: Terminal = { ...processTerminal(), width: 200, out: plain, err: plain };

describe('the report for people', () => {
  it('of one target', () => {
    expect(renderBench(report([side({})]), terminal)).toBe(`node server.js (demo 1.0.0, modern 2026-07-28)
  request  tools/list (harmless; --tool NAME calls a tool)
  load     closed loop: 10 in flight, each begins when another has ended; 10.0 s, after 1.00 s of warm-up

  throughput       21,340/s
  latency p50      450 µs
  latency p90      600 µs
  latency p99      1.20 ms
  latency p99.9    3.40 ms
  latency max      12.0 ms
  answered         213,400
  failed           0
  server CPU       41.2 µs per request
  server peak RSS  78.0 MB
  driver           60 % busy, 20.0 µs per request

  · No requests are sent while the server stalls, so few of them measure the stall (coordinated omission). --rate R sends them.
`);
  });

  it('of two, with a rate: side by side, with ratios, and with what went wrong', () => {
    const other = side({
      target: 'http://127.0.0.1:8080/mcp',
      process: null,
      answered: 900,
      failed: 12,
      unsent: 88,
      errors: [{ kind: 'TIMED_OUT', count: 12, example: 'no answer\nwithin 10 s' }],
      longestSilence: { ms: 1000, atMs: 3200, waiting: 101 },
      driver: {
        busy: 1,
        cpuMicrosPerRequest: 20,
        cpu: 0.5,
        longestPauseMs: 3,
        lateMs: { ...TIMES, p99: 2.5 },
      },
    });
    const text = renderBench(
      report([side({}), other], {
        load: { kind: 'open', perSecond: 100, concurrency: 256, durationMs: 10_000, warmupMs: 0, turns: 10 },
        interrupted: false,
        ratios: [
          {
            target: 'b',
            against: 'a',
            throughput: { ratio: 0.48, min: 0.45, max: 0.5 },
            latency: { min: 1, mean: 1, p50: 2, p90: 2, p99: 12.3, p999: 100, max: 0.012 },
            cpuPerRequest: null,
            peakRss: null,
          },
        ],
      }),
      terminal,
    );
    expect(text).toBe(`A  node server.js (demo 1.0.0, modern 2026-07-28)
B  http://127.0.0.1:8080/mcp (demo 1.0.0, modern 2026-07-28)
  request  tools/list (harmless; --tool NAME calls a tool)
  load     open loop: 100 requests due per second, at most 256 in flight; 10.0 s each, in 10 turns

                   A                    B          B ÷ A
  throughput       21,340/s             21,340/s   0.48× (0.45× to 0.50×)
  latency p50      450 µs               450 µs     2.00×
  latency p90      600 µs               600 µs     2.00×
  latency p99      1.20 ms              1.20 ms    12.3×
  latency p99.9    3.40 ms              3.40 ms    100×
  latency max      12.0 ms              12.0 ms    0.012×
  service p50      450 µs               450 µs
  service p90      600 µs               600 µs
  service p99      1.20 ms              1.20 ms
  service p99.9    3.40 ms              3.40 ms
  service max      12.0 ms              12.0 ms
  answered         213,400              900
  failed           0                    12
  server CPU       41.2 µs per request  not known  -
  server peak RSS  78.0 MB              not known  -

  ! B: 12 × TIMED_OUT, for example: no answer within 10 s
  ! B: the server stalled: no answer for 1.00 s, 3.20 s into the run, while 101 requests were due
  ! B: 88 requests were due and never sent, because 256 in flight were not enough: the real latency is higher than shown
  ! B: the driver sent one request in a hundred 2.50 ms late: that part of the latency is its own
  · Latency counts from the time at which a request was due, service from the time at which it was sent.
  · With 900 answers, p99.9 is the slowest of them.
  · CPU and RSS are measured only for servers that bench starts (-- COMMAND), on Linux.
`);
  });

  it('says when the driver may be the limit, who went away, and what was cut short', () => {
    const bad = side({
      gone: true,
      abandoned: 3,
      driver: { busy: 0.95, cpuMicrosPerRequest: 1, cpu: 0.5, longestPauseMs: 3, lateMs: null },
    });
    expect(
      notesOf(report([bad]))
        .filter(({ isBad }) => isBad)
        .map(({ text }) => text),
    ).toEqual([
      'the server went away before the end',
      '3 in flight at the interruption are not counted',
      'the driver was 95 % busy: it may be the limit, not the server',
    ]);
  });

  it('does not blame the server for a pause of the driver', () => {
    const driver = { busy: 0.5, cpuMicrosPerRequest: 1, cpu: 0.5, longestPauseMs: 180, lateMs: null };
    const paused = side({ longestSilence: { ms: 200, atMs: 1000, waiting: 1 }, driver });
    expect(notesOf(report([paused]))[0]!.text).toBe(
      'no answer for 200 ms, 1.00 s into the run, while 1 request was due; the driver itself was paused for 180 ms',
    );
  });

  it('says that others were using the machine', () => {
    const notes = notesOf(report([side({})], { machine: { processors: 2, loadBefore: 1.5 } }));
    expect(notes[0]).toEqual({
      isBad: true,
      text: 'the machine was busy before the run (a load of 1.5 on 2 processors): the server may be better than these numbers',
    });
  });

  it('does not call a stall what is usual for the server, or short', () => {
    const slow = side({ serviceMs: { ...TIMES, p50: 50 }, longestSilence: { ms: 450, atMs: 0, waiting: 1 } });
    const short = side({ longestSilence: { ms: 99, atMs: 0, waiting: 1 } });
    for (const each of [slow, short])
      expect(notesOf(report([each])).filter(({ isBad }) => isBad)).toEqual([]);
  });

  it('shows nothing that a server could paint the screen with', () => {
    const painted = side({
      server: { name: 'a\u001b[2J', version: '\u001b]0;x\u0007' },
      errors: [{ kind: 'isError', count: 1, example: '\u001b[31mred' }],
    });
    expect(renderBench(report([painted]), terminal)).not.toContain('\u001b');
  });
});

describe('the line that is drawn while it runs', () => {
  it('says whose turn it is, how far, how fast and what failed', () => {
    let screen = '';
    const stream = new Writable({
      write(chunk, _, done) {
        screen += String(chunk);
        done();
      },
    });
    const { onTurn, stop } = followBench(createProgressLine(stream, 'live', plain), 2);
    const tally = new Tally();
    const state = { index: 0, tally, doneMs: 0, totalMs: 4000, durationMs: 1000 } as const;
    onTurn({ ...state, phase: 'warm-up' });
    expect(screen).toBe('[....................]   0%  0/4 s, A: warming up');
    tally.beginTurn(0);
    for (let at = 0; at < 1000; at += 1) {
      tally.asked(at, 0);
      tally.settled({ due: at, sent: at, over: at + 0.5 }, undefined, 0);
    }
    tally.asked(1000, 0);
    tally.settled({ due: 1000, sent: 1000, over: 1000 }, { kind: 'isError', example: '', answered: true }, 0);
    tally.endTurn(1000, 0, 0);
    screen = '';
    onTurn({ ...state, index: 1, doneMs: 2000, phase: 'measuring' });
    stop();
    expect(screen).toMatch(/#{10}\.{10}\] {2}50% {2}2\/4 s, B: [\d,]+\/s, p99 500 µs, 1 failed/);
  });
});

describe('numbers', () => {
  it('have three figures and a unit that suits them', () => {
    expect([0.0421, 0.999, 1.2, 12.34, 999, 1000, 61_000].map(duration)).toEqual([
      '42.1 µs',
      '999 µs',
      '1.20 ms',
      '12.3 ms',
      '999 ms',
      '1.00 s',
      '61.0 s',
    ]);
    expect([0.5, 9.25, 21_340.6].map(count)).toEqual(['0.5', '9.25', '21,341']);
    expect(megabytes(1024 * 1024 * 78)).toBe('78.0 MB');
    expect([null, 0, 0.045, 1.5].map(times)).toEqual(['-', '0.00×', '0.045×', '1.50×']);
  });
});

describe('--against', () => {
  it('is an address or a command line in quotes', async () => {
    expect(await toTarget('tcp://127.0.0.1:4000', {})).toMatchObject({
      kind: 'socket',
      address: 'tcp://127.0.0.1:4000',
    });
    expect(await toTarget('https://example.com/mcp', {})).toMatchObject({
      kind: 'url',
      url: 'https://example.com/mcp',
    });
    expect(await toTarget(`node 'my server.js' --fast`, {})).toMatchObject({
      kind: 'command',
      command: 'node',
      args: ['my server.js', '--fast'],
    });
    await expect(toTarget(' ', {})).rejects.toThrow('--against has no command');
  });

  it('gets the options that are for its kind; what is for nobody is left to the first', () => {
    const url = targetAt('http://a')!;
    const command = commandTarget('a', []);
    const given = { header: ['a: b'], env: { A: '1' }, cwd: '/' };
    expect(settingsFor(url, [url, command], given)).toEqual({ header: ['a: b'] });
    expect(settingsFor(command, [url, command], given)).toEqual({ env: { A: '1' }, cwd: '/' });
    expect(settingsFor(url, [url], given)).toEqual(given);
  });
});

const TIMES: Times = { min: 0.1, mean: 0.5, p50: 0.45, p90: 0.6, p99: 1.2, p999: 3.4, max: 12 };

function side(more: Partial<SideReport>): SideReport {
  return {
    target: 'node server.js',
    era: 'modern',
    revision: '2026-07-28',
    server: { name: 'demo', version: '1.0.0' },
    request: { method: 'tools/list', params: {} },
    answered: 213_400,
    failed: 0,
    unsent: 0,
    abandoned: 0,
    elapsedMs: 10_000,
    perSecond: 21_340,
    latencyMs: TIMES,
    serviceMs: TIMES,
    errors: [],
    longestSilence: { ms: 12, atMs: 100, waiting: 10 },
    process: { cpuMs: 8792, cpuMicrosPerRequest: 41.2, peakRssBytes: 78 * 1024 * 1024, processes: 1 },
    driver: { busy: 0.6, cpuMicrosPerRequest: 20, cpu: 0.5, longestPauseMs: 3, lateMs: null },
    gone: false,
    turns: [],
    ...more,
  };
}

function report(targets: readonly SideReport[], more: Partial<BenchReport> = {}): BenchReport {
  return {
    load: { kind: 'closed', concurrency: 10, durationMs: 10_000, warmupMs: 1000, turns: 1 },
    machine: { processors: 2, loadBefore: 0.3 },
    interrupted: false,
    targets,
    ratios: [],
    ...more,
  };
}
