import { createServer, type Service } from '@isthmus/sdk';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { FakeClock } from '../../../../test/support/fake-clock.js';
import { until } from '../../../sdk/test/support/http-server.js';
import type { LimitRefusal } from '../../src/limits/excess.js';
import { limitService, loadOf } from '../../src/limits/limit-service.js';
import { callOf } from '../support/call-of.js';
import { createWorker, serveLimited, work } from '../support/limits.js';

describe('a waiting caller', () => {
  it('is served in turns: a caller that floods does not hold up others', async () => {
    const { server, begun, end } = createWorker();
    const { url, load } = await serveLimited(server, { limits: { maxConcurrent: 1 } });
    const calls: Promise<unknown>[] = [];
    const arrive = async (name: string, label: string) => {
      const { running, waiting } = load();
      calls.push(work(url, name, label));
      await until(`arrival of ${label}`, () => load().running + load().waiting > running + waiting);
    };
    for (const label of ['a1', 'a2', 'a3', 'a4', 'a5']) await arrive('ada', label);
    for (const label of ['b1', 'b2']) await arrive('bob', label);
    await arrive('eve', 'e1');
    const order = ['a1', 'a2', 'b1', 'e1', 'a3', 'b2', 'a4', 'a5'];
    for (const label of order) await end(label);
    await Promise.all(calls);
    expect(begun).toEqual(order);
  });

  it('cannot fill the queue for others: the latest call of the caller with most calls is dropped', async () => {
    const { server, end } = createWorker();
    const { url, load, refusals } = await serveLimited(server, { limits: { maxConcurrent: 1, maxQueue: 3 } });
    const first = work(url, 'ada', 'a1');
    await until('first call', () => load().running === 1);
    const waiting: Promise<unknown>[] = [];
    for (const label of ['a2', 'a3', 'a4']) {
      waiting.push(work(url, 'ada', label));
      await until(`arrival of ${label}`, () => load().waiting === waiting.length);
    }
    // Her own do not displace her own.
    expect(await work(url, 'ada', 'a5')).toMatchObject({ status: 503 });
    const bob = work(url, 'bob', 'b1');
    expect(await waiting[2]).toMatchObject({ status: 503, retryAfter: '1' });
    // Now she has two and he has one: nobody has to make room for his second one.
    expect(await work(url, 'bob', 'b2')).toMatchObject({ status: 503 });
    for (const label of ['a1', 'a2', 'b1', 'a3']) await end(label);
    expect(await Promise.all([first, waiting[0], bob, waiting[1]])).toEqual([
      'a1 done',
      'a2 done',
      'b1 done',
      'a3 done',
    ]);
    expect(refusals.map(({ principal, limit }) => [principal, limit])).toEqual([
      ['ada', 'maxQueue'],
      ['ada', 'maxQueue'],
      ['bob', 'maxQueue'],
    ]);
  });
});

it('a call that was called off before its turn, or in the very moment, is never begun', async () => {
  const { service, running, asking } = manual();
  const limited = limitService(service, { server: 's', limits: { maxConcurrent: 1 } });
  const first = limited.handle(callOf('ada').call);
  const early = callOf('bob');
  early.cancel();
  await expect(limited.handle(early.call)).rejects.toThrow('called off');
  const late = callOf('bob');
  const outcome = limited.handle(late.call);
  running[0]!.ask();
  // Its turn has come, and nobody has told it yet.
  expect(loadOf(limited)).toMatchObject({ running: 1, waiting: 0, asking: 1 });
  late.cancel();
  await expect(outcome).rejects.toThrow('called off');
  expect(running).toHaveLength(1);
  asking[0]!.answer();
  running[0]!.end();
  await first;
  expect(running).toEqual([]);
  expect(loadOf(limited)).toMatchObject({ running: 0, waiting: 0 });
});

it('however calls come, end, ask and are called off: each ends once, no limit is passed, nothing is left', async () => {
  const step = fc.record({
    kind: fc.constantFrom('call', 'call', 'call', 'end', 'cancel', 'ask', 'answer', 'wait'),
    caller: fc.nat(3),
    pick: fc.nat(20),
  });
  const limits = fc.record({
    maxConcurrent: fc.integer({ min: 1, max: 3 }),
    maxConcurrentPerCaller: fc.integer({ min: 1, max: 3 }),
    maxQueue: fc.nat(4),
  });
  await fc.assert(
    fc.asyncProperty(limits, fc.array(step, { maxLength: 60 }), async (given, steps) => {
      const clock = new FakeClock();
      const { service, running, asking } = manual();
      const refusals: LimitRefusal[] = [];
      const onRefused = (refusal: LimitRefusal) => refusals.push(refusal);
      const limited = limitService(service, {
        server: 's',
        limits: { ...given, maxQueueMs: 1000 },
        clock,
        onRefused,
      });
      const calls: { ends: number; cancel(): void }[] = [];
      let back = 0;
      const settle = () => new Promise<void>((resolve) => setImmediate(resolve));
      for (const { kind, caller, pick } of steps) {
        const one = running[pick % Math.max(1, running.length)];
        if (kind === 'call') {
          const { call, cancel } = callOf(caller === 0 ? undefined : `p${caller}`);
          const record = { ends: 0, cancel };
          calls.push(record);
          const ended = () => {
            record.ends += 1;
          };
          Promise.resolve()
            .then(() => limited.handle(call))
            .then(ended, ended);
        } else if (kind === 'end') one?.end();
        else if (kind === 'ask') one?.ask();
        else if (kind === 'answer' && asking[0]) {
          asking.shift()!.answer();
          back += 1;
        } else if (kind === 'cancel') calls[pick % Math.max(1, calls.length)]?.cancel();
        else if (kind === 'wait') clock.advance(300);
        await settle();
        const load = loadOf(limited)!;
        // Whoever has his answer goes on at once; only so can there be more.
        expect(load.running).toBeLessThanOrEqual(given.maxConcurrent + back);
        expect(load.waiting).toBeLessThanOrEqual(given.maxQueue);
        expect(load.running).toBe(running.filter(({ isAsking }) => !isAsking()).length);
        for (const name of ['p1', 'p2', 'p3']) {
          const own = running.filter(({ principal }) => principal === name).length;
          expect(own).toBeLessThanOrEqual(given.maxConcurrentPerCaller);
        }
        expect(calls.filter(({ ends }) => ends === 0).length).toBe(running.length + load.waiting);
      }
      while (running.length > 0) {
        running[0]!.end();
        await settle();
      }
      expect(calls.map(({ ends }) => ends)).toEqual(calls.map(() => 1));
      expect(loadOf(limited)).toEqual({ running: 0, waiting: 0, asking: 0, listens: 0 });
      expect(clock.waiting).toBe(0);
    }),
    { numRuns: 60 },
  );
});

/** A service whose calls do what they are told. */
function manual() {
  interface Running {
    readonly principal: string | undefined;
    end(): void;
    ask(): void;
    isAsking(): boolean;
  }
  const running: Running[] = [];
  const asking: { answer(): void }[] = [];
  const base = createServer({ name: 's', version: '1' });
  const service: Service = {
    ...base,
    handle: (call) =>
      new Promise((resolve) => {
        let questions = 0;
        const one: Running = {
          principal: call.peer.principal,
          isAsking: () => questions > 0,
          end() {
            running.splice(running.indexOf(one), 1);
            resolve({});
          },
          ask() {
            questions += 1;
            const done = () => {
              questions -= 1;
            };
            void call.ask({ method: 'roots/list' }).then(done, done);
            asking.push({ answer: (call.params['pending'] as (() => void)[]).pop()! });
          },
        };
        running.push(one);
        // A handler that heeds its signal.
        call.cancellation.addEventListener('abort', () => {
          if (running.includes(one)) one.end();
        });
      }),
  };
  return { service, running, asking };
}
