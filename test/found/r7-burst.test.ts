import { describe, expect, it } from 'vitest';
import { fixture, startChild, startDemo } from '../support/child.js';
import { initialize, legacy, modern, notification } from '../support/eras.js';
import { call, line } from '../support/messages.js';
import { bare, createStarter } from '../support/sessions.js';

const start = createStarter();
const MIB = 1024 * 1024;

/** A tool whose runs all end when the test says so. */
function holding() {
  const server = bare();
  const running: (() => void)[] = [];
  let isOpen = false;
  let runs = 0;
  server.tool('hold', {}, () => {
    runs += 1;
    if (isOpen) return 'held';
    return new Promise<string>((resolve) => running.push(() => resolve('held')));
  });
  return {
    server,
    runs: () => runs,
    release() {
      isOpen = true;
      for (const go of running.splice(0)) go();
    },
  };
}

const hold = (id: number | string, text = '') =>
  modern(id, 'tools/call', { name: 'hold', arguments: { text } });
const cancel = (requestId: unknown) => notification('notifications/cancelled', { requestId });

describe('R7: a burst of requests on one connection', () => {
  it('R7: 10,000 small calls at once wait their turn, and the connection is still read', async () => {
    const { server, runs, release } = holding();
    const client = (await start(server)).connect();
    for (let id = 0; id < 10_000; id += 1) client.send(hold(id));
    client.send(modern('fence', 'server/discover'));
    // Answered at once: all that was sent before has been read.
    expect(await client.next()).toMatchObject({ id: 'fence', result: {} });
    expect(runs()).toBe(256);
    release();
    const ids: unknown[] = [];
    for (let count = 0; count < 10_000; count += 1) {
      const answer = await client.next();
      expect(answer.error).toBeUndefined();
      ids.push(answer.id);
    }
    expect(new Set(ids).size).toBe(10_000);
  });

  it('R7: over the stdio of a real process, calls that each take longer than 250 ms wait, too', async () => {
    const COUNT = 2500;
    const demo = startDemo();
    demo.write(Array.from({ length: COUNT }, (_, id) => line(call(id, 'sleep', { ms: 300 }))).join(''));
    await demo.until('all answers', () => demo.messages.length >= COUNT);
    expect(demo.messages.filter(({ error }) => error)).toEqual([]);
    expect(new Set(demo.messages.map(({ id }) => id)).size).toBe(COUNT);
  }, 30_000);

  it('R7: the queue is bounded in bytes: what does not fit is refused when no call ends', async () => {
    const { server, release } = holding();
    const client = (await start(server, { maxConcurrent: 1, maxQueuedBytes: 4 * MIB })).connect();
    const text = 'x'.repeat(MIB);
    for (let id = 0; id < 10; id += 1) client.send(hold(id, text));
    const refused = [];
    // One runs, four wait; the fourth of those reaches the bound.
    for (let count = 0; count < 5; count += 1) refused.push(await client.next());
    expect(refused.map(({ id }) => id)).toEqual([5, 6, 7, 8, 9]);
    expect(refused[0]!.error).toEqual({
      code: -32603,
      message: 'Too many requests: 1 are running and 4 are waiting',
    });
    release();
    const answered = new Set<unknown>();
    for (let count = 0; count < 5; count += 1) answered.add((await client.next()).id);
    expect(answered).toEqual(new Set([0, 1, 2, 3, 4]));
  });

  it('R7: cancellations are read while the queue is full', async () => {
    const { server, runs } = holding();
    const client = (await start(server, { maxConcurrent: 1, maxQueuedBytes: 2 * MIB })).connect();
    const text = 'x'.repeat(MIB);
    for (let id = 0; id < 3; id += 1) client.send(hold(id, text));
    for (let id = 0; id < 3; id += 1) client.send(cancel(id));
    client.send(modern('fence', 'server/discover'));
    expect(await client.next()).toMatchObject({ id: 'fence' });
    // There is room again: a later call waits, and is not refused.
    client.send(hold('later'));
    expect(await client.settle()).toEqual([]);
    expect(runs()).toBe(1);
  });

  it('R7: answers to questions are read while the queue is full', async () => {
    const server = bare();
    server.tool('ask', {}, async (_args, ctx) => {
      const answer = await ctx.elicit({ message: 'which?', schema: { type: 'object', properties: {} } });
      return `it was ${answer.action}`;
    });
    const client = (await start(server, { maxConcurrent: 1, maxQueuedBytes: 2 * MIB })).connect();
    await initialize(client, '2025-11-25', { elicitation: {} });
    const ask = (id: number) =>
      legacy(id, 'tools/call', { name: 'ask', arguments: { text: 'x'.repeat(MIB) } });
    for (let id = 1; id <= 3; id += 1) client.send(ask(id));
    const results: unknown[] = [];
    while (results.length < 3) {
      const { method, id, result } = await client.next();
      if (method === 'elicitation/create') client.send({ jsonrpc: '2.0', id, result: { action: 'decline' } });
      else results.push(result);
    }
    const declined = expect.objectContaining({ content: [{ type: 'text', text: 'it was decline' }] });
    expect(results).toEqual([declined, declined, declined]);
  });

  it.runIf(process.platform === 'linux')(
    'R7: calls that are cancelled while they wait keep no memory: 300 MB of them cost less than 250 MB',
    async () => {
      const server = startChild(fixture('server-that-never-answers.mjs'));
      server.send(call('a', 'never'), call('b', 'never'));
      const text = 'x'.repeat(MIB);
      const lines = function* () {
        for (let id = 0; id < 300; id += 1) yield line(call(id, 'never', { text })) + line(cancel(id));
      };
      await server.pour(lines());
      server.send(modern('fence', 'server/discover'));
      await server.until('all is read', () => server.messages.some(({ id }) => id === 'fence'));
      expect(server.peakMemory()).toBeLessThan(250);
    },
    30_000,
  );
});
