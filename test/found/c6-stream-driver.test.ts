/** C6: the driver of `isthmus bench` beside the client on one stream, and what it says when it is the limit itself. */
import { PassThrough } from 'node:stream';
import { BenchRequests, tapStream } from '@isthmus/check/internal/bench/direct-stream.js';
import type { BenchReport, SideReport } from '@isthmus/check/internal/bench/model.js';
import type { BenchFailure } from '@isthmus/check/internal/bench/request.js';
import { Buckets } from '@isthmus/check/internal/bench/times.js';
import { closedLoop } from '@isthmus/check/internal/bench/turn.js';
import { IsthmusError } from '@isthmus/sdk/internal/errors.js';
import { createStreamConnection } from '@isthmus/sdk/internal/transport/stream-connection.js';
import type { Decoded } from '@isthmus/sdk/internal/wire/json-rpc.js';
import { notesOf } from 'isthmus/internal/bench/notes.js';
import { describe, expect, it, onTestFinished } from 'vitest';
import { demo, isthmus } from '../../packages/cli/test/support/isthmus.js';

const FIRST_ID = 1_073_741_824;

describe('C6: the driver on a stream', () => {
  it('C6: sends the requests of one turn in one write, in both eras', async () => {
    const modern = open('modern');
    modern.ask();
    modern.ask();
    await expect.poll(() => modern.writes).toHaveLength(1);
    const meta = {
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientCapabilities': {},
      'io.modelcontextprotocol/clientInfo': { name: 'isthmus-bench', version: '0.1.0' },
    };
    const request = { jsonrpc: '2.0', method: 'tools/call' };
    expect(modern.sent()).toEqual([
      { ...request, id: FIRST_ID, params: { name: 'echo', _meta: meta } },
      { ...request, id: FIRST_ID + 1, params: { name: 'echo', _meta: meta } },
    ]);
    const legacy = open('legacy');
    legacy.ask();
    await expect.poll(legacy.sent).toEqual([{ ...request, id: FIRST_ID, params: { name: 'echo' } }]);
  });

  it('C6: takes answers in any order, and leaves those of the client to the client', async () => {
    const { ask, answer, received } = open('modern');
    const [first, second] = [ask(), ask()];
    answer({ id: FIRST_ID + 1, error: { code: -32000, message: 'no' } });
    answer({ id: 1, result: {} });
    answer({ id: FIRST_ID, result: { resultType: 'complete' } });
    expect(await second).toEqual({ kind: 'error -32000', example: 'no', answered: true });
    expect(await first).toBeUndefined();
    expect(received).toEqual([{ kind: 'result', id: 1, result: {} }]);
  });

  it('C6: cancels what is not answered in time, and drops the answer that comes later', async () => {
    const { ask, answer, sent, received } = open('legacy', 100);
    const first = ask();
    expect(await first).toEqual({ kind: 'TIMED_OUT', example: 'no answer within 100 ms', answered: false });
    await expect
      .poll(() => sent().at(-1))
      .toEqual({
        jsonrpc: '2.0',
        method: 'notifications/cancelled',
        params: { requestId: FIRST_ID, reason: 'no answer within 100 ms' },
      });
    answer({ id: FIRST_ID, result: {} });
    answer({ id: 7, result: {} });
    await expect.poll(() => received).toEqual([{ kind: 'result', id: 7, result: {} }]);
  });

  it('C6: says why the server is gone, for requests before and after it went', async () => {
    const { ask, end } = open('modern');
    const first = ask();
    end(new IsthmusError('CHILD_EXITED', 'server stopped with code 1'));
    const gone = { kind: 'CHILD_EXITED', example: 'server stopped with code 1', answered: false };
    expect(await first).toEqual(gone);
    expect(await ask()).toEqual(gone);
  });

  it('C6: counts an answer that is not valid, and a request that the server has no room for', async () => {
    const { ask, input } = open('modern');
    const first = ask();
    input.write(`{"jsonrpc":"2.0","id":${FIRST_ID},"result":{"a":}}\n`);
    expect(await first).toMatchObject({ kind: 'INVALID_RESULT', answered: true });
    const full = open('modern', 30_000, 300);
    void full.ask();
    expect(await full.ask()).toMatchObject({ kind: 'BUSY', answered: false });
  });

  it('C6: asks for all answers of one read in one go, however long the run has lasted', () => {
    const counts = { sent: 0, soon: 0 };
    const count = (name: 'sent' | 'soon') => {
      counts[name] += 1;
    };
    const pace = { now: () => 0, at: () => () => {}, soon: () => count('soon') };
    const lane = { pace, began: 0, ends: 10_000, inFlight: () => 0, close() {}, neverSent() {} };
    const loop = closedLoop(
      { kind: 'closed', concurrency: 10 },
      { ...lane, isOutside: true, send: () => count('sent') },
    );
    for (const at of [5, 21, 500, 5000]) for (let each = 0; each < 10; each += 1) loop.settled(at, true);
    expect(counts).toEqual({ sent: 40, soon: 0 });
    loop.settled(5001, false);
    expect(counts).toEqual({ sent: 40, soon: 1 });
  });

  it('C6: keeps a request that waits for long apart from those that use its slot later', () => {
    const inFlight = new BenchRequests(FIRST_ID);
    const settled: string[] = [];
    const slow = inFlight.add(() => settled.push('slow'), 0);
    for (let count = 0; count < 40_000; count += 1) inFlight.take(inFlight.add(() => {}, 5));
    expect(inFlight.take(slow + 16_384)).toBeUndefined();
    const late = inFlight.add(() => settled.push('late'), 10);
    expect(late).toBe(FIRST_ID + 40_003);
    for (const { settle } of inFlight.takeSentBefore(10)) settle(undefined);
    expect(settled).toEqual(['slow']);
    inFlight.take(late)!(undefined);
    expect(settled).toEqual(['slow', 'late']);
    expect(inFlight.take(late)).toBeUndefined();
  });

  it('C6: the percentiles of its buckets are those of the sorted numbers, to a two-thousandth', () => {
    const buckets = new Buckets();
    const all: number[] = [];
    for (let index = 0; index < 20_000; index += 1) {
      const value = Math.floor(1.0015 ** index % 2 ** 45);
      all.push(value);
      buckets.add(value);
    }
    all.sort((a, b) => a - b);
    for (const percent of [0.1, 10, 50, 90, 99, 99.9, 100]) {
      const exact = all[Math.ceil((percent * all.length) / 100) - 1]!;
      const got = buckets.percentile(percent);
      expect(got).toBeGreaterThanOrEqual(exact);
      expect(got).toBeLessThanOrEqual(exact * 1.0005 + 1);
    }
  });
});

describe('C6: the limit of the driver', () => {
  it('C6: the report says plainly that the driver is the limit', () => {
    expect(warnings({ busy: 0.97, cpu: 0.93 })).toEqual([
      'the driver is the limit: it used 93 % of a processor; the server may be faster',
    ]);
    expect(warnings({ busy: 0.9, cpu: 0.89 })).toEqual([
      'the driver was 90 % busy: it may be the limit, not the server',
    ]);
    expect(warnings({ busy: 0.89, cpu: 0.89 })).toEqual([]);
  });

  it('C6: the driver costs about as much processor time as the server that it measures, or less', async () => {
    if (process.platform !== 'linux') return;
    const args = ['--tool', 'echo', '--args', '{"text":"hi"}', '--warmup', '0.5', '--duration', '1'];
    const { stdout } = await isthmus('bench', '--json', ...args, ...demo());
    const [side] = (JSON.parse(stdout) as BenchReport).targets;
    const { process: server, driver, failed } = side!;
    expect(failed).toBe(0);
    // It is about 1 where nothing else runs.
    expect(driver.cpuMicrosPerRequest! / server!.cpuMicrosPerRequest!).toBeLessThan(4);
  });
});

function warnings(driver: { readonly busy: number; readonly cpu: number }): string[] {
  const side = {
    errors: [],
    gone: false,
    abandoned: 0,
    unsent: 0,
    answered: 5000,
    longestSilence: null,
    process: {},
    driver: { ...driver, lateMs: null, longestPauseMs: 0, cpuMicrosPerRequest: 9 },
  } as unknown as SideReport;
  const load = { kind: 'closed', concurrency: 10, durationMs: 1, warmupMs: 0, turns: 1 } as const;
  const report: BenchReport = {
    load,
    machine: { processors: 2, loadBefore: 0 },
    interrupted: false,
    targets: [side],
    ratios: [],
  };
  return notesOf(report).flatMap(({ isBad, text }) => (isBad ? [text] : []));
}

/** A tapped connection whose other end is the test. */
function open(era: 'modern' | 'legacy', timeoutMs = 30_000, maxOutboxBytes?: number) {
  const input = new PassThrough();
  const output = new PassThrough();
  const writes: string[] = [];
  output.on('data', (chunk) => writes.push(String(chunk)));
  let end: (error: Error) => void = () => {};
  const gone = new Promise<Error>((resolve) => {
    end = resolve;
  });
  const connection = createStreamConnection({
    label: 'test',
    input,
    output,
    alwaysReads: true,
    gone,
    release() {},
    ...(maxOutboxBytes !== undefined && { maxOutboxBytes }),
  });
  const tap = tapStream(connection);
  const received: Decoded[] = [];
  connection.open({ receive: (message) => void received.push(message), inputEnded() {}, drained() {} });
  const way = tap.way(era, era === 'modern' ? '2026-07-28' : '2025-11-25', timeoutMs);
  onTestFinished(async () => {
    await way.close();
    connection.close();
  });
  const direct = way.asker({ method: 'tools/call', params: { name: 'echo' } });
  return {
    input,
    writes,
    received,
    end,
    ask: () => new Promise<BenchFailure | undefined>((resolve) => direct(resolve)),
    answer: (message: object) => input.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`),
    sent: () =>
      writes
        .join('')
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => JSON.parse(line) as unknown),
  };
}
