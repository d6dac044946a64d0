/** Whole runs against servers in this process. */

import { ProtocolError } from '@isthmus/sdk/internal/errors.js';
import type { Server } from '@isthmus/sdk/internal/server/server.js';
import { describe, expect, it } from 'vitest';
import type { BenchSettings } from '../../src/bench/model.js';
import { chooseRequests } from '../../src/bench/request.js';
import { type BenchState, runBench } from '../../src/bench/run-bench.js';
import { sideOf } from '../support/bench.js';

const short: BenchSettings = { load: { kind: 'closed', concurrency: 2 }, durationMs: 60, warmupMs: 20 };

describe('a run', () => {
  it('counts what is measured and not the warm-up', async () => {
    let calls = 0;
    const side = await sideOf((server) => {
      server.tool('count', { description: 'counts' }, () => {
        calls += 1;
        return 'ok';
      });
    });
    const requests = await chooseRequests([side], { name: 'count', args: {} });
    let afterWarmup = 0;
    const onTurn = ({ phase }: BenchState) => {
      if (phase === 'measuring') afterWarmup = calls;
    };
    const { targets, load, ratios } = await runBench([side], requests, short, { onTurn });
    expect(afterWarmup).toBeGreaterThan(0);
    expect(targets[0]!.answered).toBe(calls - afterWarmup);
    expect(load).toEqual({ kind: 'closed', concurrency: 2, durationMs: 60, warmupMs: 20, turns: 1 });
    expect(ratios).toEqual([]);
    expect(targets[0]).toMatchObject({ failed: 0, errors: [], process: null, gone: false });
  });

  it('tells errors apart, with one example each, the most frequent first', async () => {
    let calls = 0;
    const side = await sideOf((server) => {
      server.tool('moody', { description: 'fails in two ways' }, () => {
        calls += 1;
        if (calls % 4 === 0) throw new ProtocolError(-32602, `call ${calls} is not allowed`);
        if (calls % 4 !== 1) return { content: [{ type: 'text', text: 'no luck' }], isError: true };
        return 'ok';
      });
    });
    const requests = await chooseRequests([side], { name: 'moody', args: {} });
    const { targets } = await runBench([side], requests, { ...short, durationMs: 200, warmupMs: 0 });
    const { answered, failed, errors } = targets[0]!;
    expect(errors).toEqual([
      { kind: 'isError', count: expect.any(Number), example: 'no luck' },
      { kind: 'error -32602', count: expect.any(Number), example: 'call 4 is not allowed' },
    ]);
    expect(errors[0]!.count + errors[1]!.count).toBe(failed);
    expect(failed).toBeGreaterThan(answered);
  });

  it('counts those that are not answered in time, with the time that was waited', async () => {
    const never = (server: Server) =>
      void server.tool('wait', { description: 'for ever' }, (_, { signal }) => {
        return new Promise<string>((resolve) => signal.addEventListener('abort', () => resolve('over')));
      });
    const side = await sideOf(never, 'memory', { timeoutMs: 100 });
    const requests = await chooseRequests([side], { name: 'wait', args: {} });
    const { targets } = await runBench([side], requests, { ...short, warmupMs: 0 });
    expect(targets[0]).toMatchObject({ answered: 0, failed: 2, errors: [{ kind: 'TIMED_OUT', count: 2 }] });
    expect(targets[0]!.latencyMs!.p50).toBeGreaterThanOrEqual(99);
  });

  it('reports the failures of the warm-up when a server is gone before anything is measured', async () => {
    const dying = await sideOf((server) =>
      server.tool('a', { description: '' }, () => {
        throw new ProtocolError(-32603, 'about to crash');
      }),
    );
    const other = await sideOf((server) => server.tool('a', { description: '' }, () => 'a'), 'other');
    const requests = await chooseRequests([dying, other], { name: 'a', args: {} });
    // Its own warm-up is over when it is gone.
    const onTurn = ({ index, phase }: BenchState) => {
      if (index === 1 && phase === 'warm-up') void dying.client.close();
    };
    const { targets } = await runBench([dying, other], requests, short, { onTurn });
    expect(targets[0]).toMatchObject({
      gone: true,
      answered: 0,
      errors: [{ kind: 'error -32603', count: expect.any(Number), example: 'about to crash' }],
    });
  });

  it('lets several servers take turns, one after the other', async () => {
    const slow = await sideOf((server) => server.tool('a', { description: '' }, () => 'a'), 'first');
    const fast = await sideOf((server) => server.tool('a', { description: '' }, () => 'a'), 'second');
    const order: string[] = [];
    const onTurn = ({ index, phase }: BenchState) => void order.push(`${phase} ${index}`);
    const requests = await chooseRequests([slow, fast], undefined);
    const { targets, ratios, load } = await runBench([slow, fast], requests, short, { onTurn });
    expect(order).toEqual([
      ...['warm-up 0', 'warm-up 1'],
      ...Array.from({ length: 4 }, () => ['measuring 0', 'measuring 1']).flat(),
    ]);
    expect(load.turns).toBe(4);
    expect(targets.map(({ turns }) => turns.length)).toEqual([4, 4]);
    expect(ratios).toEqual([expect.objectContaining({ target: 'second', against: 'first', peakRss: null })]);
    expect(ratios[0]!.throughput!.ratio).toBeGreaterThan(0);
  });

  it('called off, reports what was measured until then', async () => {
    const side = await sideOf((server) => server.tool('a', { description: '' }, () => 'a'));
    const stop = new AbortController();
    const requests = await chooseRequests([side], undefined);
    setTimeout(() => stop.abort(), 50);
    const began = performance.now();
    const { targets, interrupted } = await runBench(
      [side],
      requests,
      { ...short, durationMs: 60_000 },
      { signal: stop.signal },
    );
    expect(interrupted).toBe(true);
    expect(targets[0]!.answered).toBeGreaterThan(0);
    expect(performance.now() - began).toBeLessThan(10_000);
  });

  it('knows a pause of its own from one of the server', async () => {
    const side = await sideOf((server) => server.tool('a', { description: '' }, () => 'a'));
    const requests = await chooseRequests([side], undefined);
    const pause = () => {
      for (const until = performance.now() + 300; performance.now() < until; );
    };
    const onTurn = () => void setTimeout(pause, 60);
    const settings = { ...short, durationMs: 200, warmupMs: 0 };
    const { targets } = await runBench([side], requests, settings, { onTurn });
    expect(targets[0]!.driver.longestPauseMs).toBeGreaterThan(250);
  });

  it('with a rate, says how late the driver itself was', async () => {
    const side = await sideOf((server) => server.tool('a', { description: '' }, () => 'a'));
    const requests = await chooseRequests([side], undefined);
    const load = { kind: 'open', perSecond: 500, concurrency: 256 } as const;
    const { targets } = await runBench([side], requests, { load, durationMs: 100, warmupMs: 0 });
    const { answered, driver, serviceMs, latencyMs } = targets[0]!;
    expect(answered).toBe(50);
    expect(driver.lateMs!.p50).toBeGreaterThan(0);
    expect(latencyMs!.p50).toBeGreaterThanOrEqual(serviceMs!.p50);
  });
});

describe('what is asked without --tool', () => {
  it('is tools/list, of the server and not of the cache', async () => {
    const side = await sideOf((server) => server.tool('rm', { description: 'deletes all' }, () => 'gone'));
    expect(await chooseRequests([side], undefined)).toEqual([{ method: 'tools/list', params: {} }]);
  });

  it('is a sign of life where one of them has no tools', async () => {
    const without = await sideOf((server) => server.resource('a://b', { name: 'b' }, () => 'b'));
    const with_ = await sideOf((server) => server.tool('a', { description: '' }, () => 'a'));
    expect(await chooseRequests([with_, without], undefined)).toEqual([
      { method: 'server/discover', params: {} },
      { method: 'server/discover', params: {} },
    ]);
    const { targets } = await runBench([without], await chooseRequests([without], undefined), {
      ...short,
      warmupMs: 0,
    });
    expect(targets[0]).toMatchObject({ failed: 0 });
    expect(targets[0]!.answered).toBeGreaterThan(0);
  });
});
