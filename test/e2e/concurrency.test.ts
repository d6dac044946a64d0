import type { Server } from '@isthmus/sdk';
import { describe, expect, it } from 'vitest';
import { envelope, initialize, legacy, modern, notification } from '../support/eras.js';
import { FakeClock } from '../support/fake-clock.js';
import { type RawClient, settle } from '../support/raw-client.js';
import { bare, createStarter, gate } from '../support/sessions.js';
import { eventually } from '../support/until.js';

const start = createStarter();

/** A tool whose runs end when the test says so. */
function holding() {
  const server = bare();
  const running: string[] = [];
  const ends = new Map<string, (text: string) => void>();
  server.tool('hold', {}, (args, ctx) => {
    const key = String(args['key']);
    running.push(key);
    return new Promise<string>((resolve, reject) => {
      ends.set(key, resolve);
      ctx.signal.addEventListener('abort', () => reject(ctx.signal.reason));
    });
  });
  server.tool('echo', {}, (args) => String(args['key']));
  return { server, running, end: (key: string) => ends.get(key)!(key) };
}

/** How each era writes a call and opens a connection. */
const ERAS = [
  {
    era: 'modern',
    open: async (_client: RawClient) => {},
    call: (id: string | number, name: string, key: string) =>
      modern(id, 'tools/call', { name, arguments: { key } }),
    /** Answered at once: what was sent before has been read when the answer comes. */
    fence: (id: string) => modern(id, 'server/discover'),
  },
  {
    era: 'legacy',
    open: async (client: RawClient) => void (await initialize(client)),
    call: (id: string | number, name: string, key: string) =>
      legacy(id, 'tools/call', { name, arguments: { key } }),
    fence: (id: string) => legacy(id, 'ping'),
  },
] as const;

describe.each(ERAS)('in the $era era', ({ open, call, fence }) => {
  async function connect(server: Server, options = {}) {
    const client = (await start(server, options)).connect();
    await open(client);
    return client;
  }

  const cancel = (requestId: unknown) => notification('notifications/cancelled', { requestId });

  it('a fast call overtakes a slow one (STATE-002)', async () => {
    const { server, end } = holding();
    const client = await connect(server);
    client.send(call(1, 'hold', 'slow'));
    client.send(call(2, 'echo', 'fast'));
    expect(await client.next()).toMatchObject({ id: 2, result: { content: [{ text: 'fast' }] } });
    end('slow');
    expect(await client.next()).toMatchObject({ id: 1, result: { content: [{ text: 'slow' }] } });
  });

  it('a second request with an id in flight is refused, the first is untouched (JRPC-004, JRPC-006)', async () => {
    const { server, running, end } = holding();
    const client = await connect(server);
    client.send(call(1, 'hold', 'first'));
    client.send(call(1, 'hold', 'second'));
    expect(await client.next()).toMatchObject({ id: 1, error: { code: -32600 } });
    expect(running).toEqual(['first']);
    end('first');
    expect(await client.next()).toMatchObject({ id: 1, result: { content: [{ text: 'first' }] } });
    expect(await client.settle()).toEqual([]);
  });

  it.each([
    [1, '1'],
    [0, ''],
    [0, '0'],
  ])('the ids %j and %j are two requests (JRPC-006)', async (one, other) => {
    const { server, end } = holding();
    const client = await connect(server);
    client.send(call(one, 'hold', 'a'));
    client.send(call(other, 'hold', 'b'));
    await settle();
    end('b');
    expect(await client.next()).toMatchObject({ id: other, result: { content: [{ text: 'b' }] } });
    end('a');
    expect(await client.next()).toMatchObject({ id: one, result: { content: [{ text: 'a' }] } });
  });

  it('an id is free again after its answer (JRPC-004)', async () => {
    const { server } = holding();
    const client = await connect(server);
    for (const key of ['a', 'b', 'c']) {
      client.send(call('same', 'echo', key));
      expect(await client.next()).toMatchObject({ id: 'same', result: { content: [{ text: key }] } });
    }
  });

  it('an id is free again after its cancellation, and the late end of the first says nothing (CANC-010)', async () => {
    const server = bare();
    const late = gate<string>();
    server.tool('deaf', {}, () => late.passed);
    server.tool('echo', {}, (args) => String(args['key']));
    const client = await connect(server);
    client.send(call(1, 'deaf', ''));
    client.send(cancel(1));
    client.send(call(1, 'echo', 'new'));
    expect(await client.next()).toMatchObject({ id: 1, result: { content: [{ text: 'new' }] } });
    late.open('old');
    expect(await client.settle()).toEqual([]);
  });

  it('no more than maxConcurrent run, the others wait in order (maxConcurrent)', async () => {
    const { server, running, end } = holding();
    const client = await connect(server, { maxConcurrent: 2 });
    for (const key of ['a', 'b', 'c', 'd']) client.send(call(key, 'hold', key));
    await settle();
    expect(running).toEqual(['a', 'b']);
    end('b');
    expect(await client.next()).toMatchObject({ id: 'b' });
    expect(running).toEqual(['a', 'b', 'c']);
    end('a');
    expect(await client.next()).toMatchObject({ id: 'a' });
    expect(running).toEqual(['a', 'b', 'c', 'd']);
    end('d');
    end('c');
    expect([(await client.next()).id, (await client.next()).id].sort()).toEqual(['c', 'd']);
  });

  it.each([0, 1, 2])(
    'with maxQueued %i no request is lost: each is answered once, with its result unless it never ran',
    async (maxQueued) => {
      const { server, running, end } = holding();
      const client = await connect(server, { maxConcurrent: 1, maxQueued });
      const keys = ['a', 'b', 'c', 'd', 'e'];
      for (const key of keys) client.send(call(key, 'hold', key));
      const answers = await client.settle();
      for (let index = 0; index < running.length; index += 1) {
        end(running[index]!);
        answers.push(...(await client.settle()));
      }
      expect(answers.map(({ id }) => id).sort()).toEqual(keys);
      for (const { id, result, error } of answers) {
        if (running.includes(id as string)) expect(result).toMatchObject({ content: [{ text: id }] });
        else expect(error).toMatchObject({ code: -32603 });
      }
      expect(running.slice(0, maxQueued + 1)).toEqual(keys.slice(0, maxQueued + 1));
    },
  );

  it('a cancellation reaches a running call even when the queue is full (CANC-007, STDIO-015)', async () => {
    const { server, running, end } = holding();
    const client = await connect(server, { maxConcurrent: 1, maxQueued: 1 });
    client.send(call('a', 'hold', 'a'));
    client.send(call('b', 'hold', 'b'));
    client.send(cancel('a'));
    await eventually(() => expect(running).toEqual(['a', 'b']));
    end('b');
    expect(await client.next()).toMatchObject({ id: 'b' });
    expect(await client.settle()).toEqual([]);
  });

  it('a queued request that is cancelled never runs and is never answered (CANC-007)', async () => {
    const { server, running, end } = holding();
    const client = await connect(server, { maxConcurrent: 1 });
    for (const key of ['a', 'b', 'c']) client.send(call(key, 'hold', key));
    client.send(cancel('b'));
    await settle();
    end('a');
    expect(await client.next()).toMatchObject({ id: 'a' });
    end('c');
    expect(await client.next()).toMatchObject({ id: 'c' });
    expect(running).toEqual(['a', 'c']);
  });

  it('a queued request that is cancelled gives its place in the queue back (CANC-007)', async () => {
    const { server, running, end } = holding();
    const client = await connect(server, { maxConcurrent: 1, maxQueued: 1 });
    client.send(call('a', 'hold', 'a'));
    for (let round = 0; round < 3; round += 1) {
      client.send(call(`b${round}`, 'hold', `b${round}`));
      client.send(cancel(`b${round}`));
    }
    client.send(call('c', 'hold', 'c'));
    client.send(fence('fence'));
    expect(await client.next()).toMatchObject({ id: 'fence', result: {} });
    end('a');
    expect(await client.next()).toMatchObject({ id: 'a' });
    expect(running).toEqual(['a', 'c']);
    end('c');
    expect(await client.next()).toMatchObject({ id: 'c' });
  });

  it('a cancelled handler frees its place when it ends (CANC-007, STDIO-015)', async () => {
    const { server, running, end } = holding();
    const client = await connect(server, { maxConcurrent: 1 });
    client.send(call('a', 'hold', 'a'));
    client.send(call('b', 'hold', 'b'));
    client.send(cancel('a'));
    await settle();
    expect(running).toEqual(['a', 'b']);
    end('b');
    expect(await client.next()).toMatchObject({ id: 'b' });
    expect(await client.settle()).toEqual([]);
  });

  it('one connection does not use up the places of another', async () => {
    const { server, end } = holding();
    const link = await start(server, { maxConcurrent: 1, maxQueued: 0 });
    const [one, two] = [link.connect(), link.connect()];
    await open(one);
    await open(two);
    one.send(call(1, 'hold', 'a'));
    two.send(call(1, 'echo', 'b'));
    expect(await two.next()).toMatchObject({ id: 1, result: { content: [{ text: 'b' }] } });
    end('a');
    expect(await one.next()).toMatchObject({ id: 1, result: { content: [{ text: 'a' }] } });
  });

  it('a thousand calls in one write are each answered once', async () => {
    const { server } = holding();
    const client = await connect(server, { maxConcurrent: 3 });
    client.sendLine(
      Array.from({ length: 1000 }, (_, index) => JSON.stringify(call(index, 'echo', `${index}`))).join('\n'),
    );
    const answered = new Map<unknown, unknown>();
    for (let index = 0; index < 1000; index += 1) {
      const { id, result } = await client.next();
      answered.set(id, (result!['content'] as { text: string }[])[0]!.text);
    }
    expect(answered.size).toBe(1000);
    for (const [id, text] of answered) expect(text).toBe(String(id));
    expect(await client.settle()).toEqual([]);
  });

  it('what still waits at the end of input is served within the grace, then the connection closes', async () => {
    const { server, end } = holding();
    const client = await connect(server, { maxConcurrent: 1, clock: new FakeClock() });
    client.send(call('a', 'hold', 'a'));
    client.send(call('b', 'hold', 'b'));
    client.end();
    await settle();
    end('a');
    expect(await client.next()).toMatchObject({ id: 'a', result: {} });
    end('b');
    expect(await client.next()).toMatchObject({ id: 'b', result: {} });
    await client.closed;
  });

  it('what still waits when the grace is over is answered too, and never runs afterwards', async () => {
    const { server, running } = holding();
    const clock = new FakeClock();
    const client = await connect(server, { maxConcurrent: 1, clock, graceMs: 100 });
    client.send(call('a', 'hold', 'a'));
    client.send(call('b', 'hold', 'b'));
    client.end();
    await settle();
    clock.advance(100);
    expect(await client.next()).toMatchObject({ id: 'a', error: { code: -32603 } });
    expect(await client.next()).toMatchObject({ id: 'b', error: { code: -32603 } });
    await client.closed;
    expect(running).toEqual(['a']);
  });

  it('what waits when the client vanishes never runs (CANC-010)', async () => {
    const { server, running } = holding();
    const client = await connect(server, { maxConcurrent: 1 });
    client.send(call('a', 'hold', 'a'));
    client.send(call('b', 'hold', 'b'));
    await settle();
    client.vanish();
    await client.closed;
    await settle();
    expect(running).toEqual(['a']);
  });
});

describe('places and questions', () => {
  it('a legacy call that waits for the user keeps its place, and the answer gets through (maxConcurrent 1)', async () => {
    const server = bare();
    server.tool('ask', {}, async (_args, ctx) => `${(await ctx.roots()).length}`);
    const client = (await start(server, { maxConcurrent: 1 })).connect();
    await initialize(client, '2025-11-25', { roots: {} });
    client.send(legacy(1, 'tools/call', { name: 'ask' }));
    client.send(legacy(2, 'tools/call', { name: 'ask' }));
    expect(await client.next()).toMatchObject({ id: 0, method: 'roots/list' });
    expect(await client.settle()).toEqual([]);
    client.send(legacy(3, 'ping'));
    expect(await client.next()).toEqual({ jsonrpc: '2.0', id: 3, result: {} });
    client.send({ jsonrpc: '2.0', id: 0, result: { roots: [] } });
    // The answer and the next call's question, in either order.
    const both = await client.settle();
    expect(both).toHaveLength(2);
    expect(both).toContainEqual(expect.objectContaining({ id: 1, method: 'roots/list' }));
    expect(both).toContainEqual(
      expect.objectContaining({ id: 1, result: { content: [{ type: 'text', text: '0' }] } }),
    );
    client.send({ jsonrpc: '2.0', id: 1, result: { roots: [] } });
    expect(await client.next()).toMatchObject({ id: 2, result: { content: [{ text: '0' }] } });
  });

  it('a parked modern call gives its place back and takes one again when it is resumed (maxConcurrent 1)', async () => {
    const server = bare();
    server.tool('ask', {}, async (_args, ctx) => `${(await ctx.roots()).length}`);
    server.tool('echo', {}, () => 'echo');
    const client = (await start(server, { maxConcurrent: 1, maxQueued: 0 })).connect();
    const ask = (id: number, more = {}) =>
      modern(id, 'tools/call', { name: 'ask', ...more }, envelope({ roots: {} }));
    const states: unknown[] = [];
    for (const id of [1, 2, 3]) {
      client.send(ask(id));
      states.push((await client.next()).result?.['requestState']);
    }
    client.send(modern(4, 'tools/call', { name: 'echo' }));
    expect(await client.next()).toMatchObject({ id: 4, result: { content: [{ text: 'echo' }] } });
    for (const [index, requestState] of states.entries()) {
      client.send(ask(10 + index, { requestState, inputResponses: { 'roots-1': { roots: [] } } }));
      expect(await client.next()).toMatchObject({ id: 10 + index, result: { content: [{ text: '0' }] } });
    }
    // Refused retries must not keep a place either.
    for (let id = 20; id < 25; id += 1) {
      client.send(ask(id, { requestState: states[0] }));
      expect(await client.next()).toMatchObject({ id, error: { code: -32602 } });
    }
    client.send(modern(30, 'tools/call', { name: 'echo' }));
    expect(await client.next()).toMatchObject({ id: 30, result: { content: [{ text: 'echo' }] } });
  });

  it('a legacy call that waits for the user does not block the line: beyond the queue there is a busy error', async () => {
    const server = bare();
    server.tool('ask', {}, async (_args, ctx) => `${(await ctx.roots()).length}`);
    server.tool('echo', {}, () => 'echo');
    const client = (await start(server, { maxConcurrent: 1, maxQueued: 1 })).connect();
    await initialize(client, '2025-11-25', { roots: {} });
    client.send(legacy(1, 'tools/call', { name: 'ask' }));
    expect(await client.next()).toMatchObject({ id: 0, method: 'roots/list' });
    client.send(legacy(2, 'tools/call', { name: 'echo' }));
    client.send(legacy(3, 'tools/call', { name: 'echo' }));
    expect(await client.next()).toEqual({
      jsonrpc: '2.0',
      id: 3,
      error: { code: -32603, message: 'Too many requests: 1 are running and 1 are waiting' },
    });
    client.send({ jsonrpc: '2.0', id: 0, result: { roots: [] } });
    const answers = [await client.next(), await client.next()];
    expect(answers).toContainEqual(
      expect.objectContaining({ id: 1, result: { content: [{ type: 'text', text: '0' }] } }),
    );
    expect(answers).toContainEqual(
      expect.objectContaining({ id: 2, result: { content: [{ type: 'text', text: 'echo' }] } }),
    );
  });

  it('ping is answered while calls wait in a full queue (PING-001)', async () => {
    const { server, end } = holding();
    const client = (await start(server, { maxConcurrent: 1, maxQueued: 1 })).connect();
    await initialize(client);
    client.send(legacy('a', 'tools/call', { name: 'hold', arguments: { key: 'a' } }));
    client.send(legacy('b', 'tools/call', { name: 'hold', arguments: { key: 'b' } }));
    client.send(legacy('p', 'ping'));
    expect(await client.next()).toEqual({ jsonrpc: '2.0', id: 'p', result: {} });
    end('a');
    await client.settle();
    end('b');
  });

  it('discovery is answered while every place is taken (DISC-001)', async () => {
    const { server, end } = holding();
    const client = (await start(server, { maxConcurrent: 1, maxQueued: 0 })).connect();
    client.send(modern(1, 'tools/call', { name: 'hold', arguments: { key: 'a' } }));
    client.send(modern(2, 'server/discover'));
    expect(await client.next()).toMatchObject({ id: 2, result: { resultType: 'complete' } });
    end('a');
    expect(await client.next()).toMatchObject({ id: 1 });
  });
});

describe('a cancelled modern retry', () => {
  it('keeps no place and no handler (CANC-007, maxConcurrent 1)', async () => {
    const server = bare();
    server.tool('ask', {}, async (_args, ctx) => `${(await ctx.roots()).length}`);
    const client = (await start(server, { maxConcurrent: 1, maxQueued: 0 })).connect();
    const ask = (id: number, more = {}) =>
      modern(id, 'tools/call', { name: 'ask', ...more }, envelope({ roots: {} }));
    client.send(ask(1));
    const requestState = (await client.next()).result?.['requestState'];
    client.send(ask(2, { requestState, inputResponses: { 'roots-1': { roots: [] } } }));
    client.send(notification('notifications/cancelled', { requestId: 2 }));
    await settle();
    client.send(ask(3, { requestState: 'x' }));
    expect(await client.next()).toMatchObject({ id: 3, error: { code: -32602 } });
    client.send(ask(4));
    expect(await client.next()).toMatchObject({ id: 4, result: { resultType: 'input_required' } });
  });
});
