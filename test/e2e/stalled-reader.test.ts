/** A client that sends and does not read. Each such server measured elsewhere grew without limit (2.8 GB). */
import { describe, expect, it } from 'vitest';
import { type Child, fixture, startChild, startDemo } from '../support/child.js';
import { call, line, type Message } from '../support/messages.js';

const CALLS = 20_000;
const LIMIT_MB = 300;

describe.skipIf(process.platform !== 'linux')('20,000 calls to a server whose output nobody reads', () => {
  it('cost less than 300 MB, and all small answers arrive, once and in order, when somebody does', async () => {
    const ids: unknown[] = [];
    const errors: string[] = [];
    const demo = startDemo({ read: false, onLine: (text) => take(text, ids, errors) });
    const stalled = stall(demo, (id) => line(call(id, 'echo', { text: 'x'.repeat(200) })));
    await stalled.settled;
    expect(demo.peakMemory()).toBeLessThan(LIMIT_MB);
    demo.readOutput();
    await stalled.sent;
    demo.end();
    await demo.until('all answers', () => ids.length + errors.length >= CALLS);
    expect(demo.peakMemory()).toBeLessThan(LIMIT_MB);
    expect(await demo.exit()).toEqual({ code: 0, signal: null });
    expect(errors).toEqual([]);
    expect(ids).toEqual(Array.from({ length: CALLS }, (_, id) => id));
  });

  it('cost less than 300 MB with 64 KiB an answer: 1.3 GB in all, and none is lost or refused', async () => {
    const ids: unknown[] = [];
    const errors: string[] = [];
    const demo = startDemo({ read: false, onLine: (text) => take(text, ids, errors) });
    const stalled = stall(demo, (id) => line(call(id, 'big', { bytes: 65_536 })));
    await stalled.settled;
    expect(demo.peakMemory()).toBeLessThan(LIMIT_MB);
    demo.readOutput();
    await stalled.sent;
    demo.end();
    await demo.until('all answers', () => ids.length + errors.length >= CALLS);
    expect(demo.peakMemory()).toBeLessThan(LIMIT_MB);
    expect(await demo.exit()).toEqual({ code: 0, signal: null });
    expect(errors.slice(0, 3)).toEqual([]);
    expect(ids).toEqual(Array.from({ length: CALLS }, (_, id) => id));
  }, 180_000);

  it('cost less than 300 MB when the answers come late, and no call is turned away', async () => {
    const ids: unknown[] = [];
    const errors: string[] = [];
    const demo = startDemo({ read: false, onLine: (text) => take(text, ids, errors) });
    const stalled = stall(demo, (id) => line(call(id, 'sleep', { ms: 1 })));
    await stalled.settled;
    expect(demo.peakMemory()).toBeLessThan(LIMIT_MB);
    demo.readOutput();
    await stalled.sent;
    demo.end();
    expect(await demo.exit()).toEqual({ code: 0, signal: null });
    expect(errors.slice(0, 3)).toEqual([]);
    expect(ids).toHaveLength(CALLS);
    expect(new Set(ids).size).toBe(CALLS);
  }, 60_000);

  it('and as many lines that are no messages cost no more', async () => {
    let answers = 0;
    const demo = startDemo({ read: false, onLine: () => (answers += 1) });
    const stalled = stall(demo, () => 'x\n'.repeat(10));
    await stalled.settled;
    expect(demo.peakMemory()).toBeLessThan(LIMIT_MB);
    demo.readOutput();
    await stalled.sent;
    demo.end();
    expect(await demo.exit()).toEqual({ code: 0, signal: null });
    expect(answers).toBe(CALLS * 10);
  }, 60_000);
});

it('a client that neither reads nor goes away does not keep a server alive after the end of input', async () => {
  const child = startChild(fixture('server-with-big-answers.mjs'), { read: false });
  child.end(Array.from({ length: 200 }, (_, id) => line(call(id, 'big'))).join(''));
  expect(await child.exit()).toEqual({ code: 0, signal: null });
  expect(child.stderr).toBe('');
});

/** Sends all calls; `settled` when the child has stopped taking them or has taken all, `sent` when it has all. */
function stall(demo: Child, text: (id: number) => string): { settled: Promise<void>; sent: Promise<void> } {
  const lines = Array.from({ length: CALLS }, (_, id) => text(id));
  const parts = Array.from({ length: CALLS / 100 }, (_, at) =>
    lines.slice(at * 100, at * 100 + 100).join(''),
  );
  const sent = demo.pour(parts);
  return { settled: Promise.race([sent, inputRests(demo)]), sent };
}

/** Waits until the child has not read for half a second: the amount in the pipe no longer changes. */
async function inputRests(demo: Child): Promise<void> {
  let before = -1;
  let rests = 0;
  await new Promise<void>((resolve) => {
    const timer = setInterval(() => {
      const now = demo.stdin.writableLength + demo.peakMemory();
      rests = now === before ? rests + 1 : 0;
      before = now;
      if (rests < 5) return;
      clearInterval(timer);
      resolve();
    }, 100);
  });
}

/** Reads the head of an answer only: parsing 1.3 GB would be most of the test's time. */
function take(text: string, ids: unknown[], errors: string[]): void {
  const id = /^\{"jsonrpc":"2\.0","id":(\d+),"result":/.exec(text.slice(0, 100))?.[1];
  if (id !== undefined && text.endsWith('}')) return void ids.push(Number(id));
  const { id: failed, error } = JSON.parse(text) as Message;
  errors.push(`${String(failed)}: ${error?.message}`);
}
