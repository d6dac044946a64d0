import { mkdtemp, rm, stat } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ensureBuilt } from '../../../../scripts/setup.js';
import { runProgram } from '../../../../test/package/run-program.js';
import {
  createServer,
  type Listener,
  memory,
  type ServeOptions,
  serve,
  stdio,
  tcp,
  unixSocket,
} from '../../src/index.js';
import { memoryPair } from '../../src/transport/memory.js';
import { connectTo, ERAS, MODERN, openPeer, payload, settle, text } from '../support/server.js';

const ROOT = new URL('../../../../', import.meta.url).pathname;

/** Time that passes only when told. */
function handClock() {
  let now = 0;
  const timers = new Set<{ at: number; action: () => void }>();
  return {
    now: () => now,
    after(ms: number, action: () => void) {
      const timer = { at: now + ms, action };
      timers.add(timer);
      return () => void timers.delete(timer);
    },
    async pass(ms: number) {
      now += ms;
      for (const timer of [...timers].filter((each) => each.at <= now)) {
        timers.delete(timer);
        timer.action();
      }
      await settle();
    },
  };
}

function workshop() {
  const server = createServer({ name: 'serving', version: '1' });
  const open: (() => void)[] = [];
  const state = { running: 0, aborted: 0 };
  server.tool('wait', {}, async (_args, ctx) => {
    state.running += 1;
    ctx.signal.addEventListener('abort', () => {
      state.aborted += 1;
    });
    await new Promise<void>((resolve) => open.push(resolve));
    return 'waited';
  });
  server.tool('echo', {}, () => 'echo');
  server.tool('ask', {}, async (_args, ctx) => `${(await ctx.roots()).length} roots`);
  const release = () => {
    for (const resolve of open.splice(0)) resolve();
  };
  return { server, state, release };
}

describe('invalid options are refused by name', () => {
  const { server } = workshop();
  const NUMBERS = [
    'graceMs',
    'maxConcurrent',
    'maxQueued',
    'maxQueuedBytes',
    'askTimeoutMs',
    'roundTtlMs',
    'maxParked',
    'maxListens',
    'pingIntervalMs',
  ] as const;

  it.each(NUMBERS)('%s', async (name) => {
    for (const value of [-1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, '5']) {
      await expect(serve(server, memory(), { [name]: value })).rejects.toMatchObject({
        code: 'INVALID_OPTION',
        message: expect.stringContaining(name),
      });
    }
  });

  it.each<[string, ServeOptions]>([
    ['eras', { eras: [] }],
    ['eras', { eras: ['future' as never] }],
    ['eras', { eras: 'modern' as never }],
    ['maxConcurrent', { maxConcurrent: 0 }],
    ['stateKey', { stateKey: 'short' }],
    ['stateKey', { stateKey: new Uint8Array(31) }],
    ['stateKey', { stateKey: 5 as never }],
  ])('%s: %o', async (name, options) => {
    await expect(serve(server, memory(), options)).rejects.toMatchObject({
      code: 'INVALID_OPTION',
      message: expect.stringContaining(name),
    });
  });

  it('no listener at all', async () => {
    await expect(serve(server, [])).rejects.toMatchObject({ code: 'INVALID_OPTION' });
  });

  it.each([
    ['a port out of range', () => tcp({ port: 65_536 })],
    ['a port that is no number', () => tcp({ port: 'http' as never })],
    ['an empty path', () => unixSocket('')],
    ['a path longer than sockets allow', () => serve(server, unixSocket(`/tmp/${'a'.repeat(200)}`))],
    ['a limit below zero', () => tcp({ port: 0, maxLineBytes: -1 })],
    ['no connections allowed', () => unixSocket('/tmp/x.sock', { maxConnections: Number.NaN })],
  ])('%s', async (_what, make) => {
    await expect(async () => make()).rejects.toMatchObject({
      code: expect.stringMatching(/INVALID_OPTION|ADDRESS/),
    });
  });

  it('an invalid grace at close', async () => {
    const served = await serve(server, memory());
    await expect(async () => served.close({ graceMs: Number.NaN })).rejects.toMatchObject({
      code: 'INVALID_OPTION',
    });
    await served.close();
  });

  it('durations longer than a timer holds do not become short', async () => {
    const month = 30 * 24 * 3600 * 1000;
    const options = { askTimeoutMs: month, roundTtlMs: month, graceMs: month };
    for (const era of ERAS) {
      await using peer = await connectTo(server, era, { options });
      const answer = await peer.converse('tools/call', { name: 'ask' }, () => ({ roots: [] }));
      expect(answer).toMatchObject({ result: text('0 roots') });
    }
    await using slow = await connectTo(server, 'modern', { options });
    const round = await slow.result('tools/call', { name: 'ask' });
    await sleep(30);
    const inputResponses = { 'roots-1': { roots: [] } };
    const { requestState } = round;
    expect(payload(await slow.result('tools/call', { name: 'ask', requestState, inputResponses }))).toEqual(
      text('0 roots'),
    );
  });
});

describe('each option does something', () => {
  it('eras: only legacy', async () => {
    const { server } = workshop();
    const link = memory();
    await using _served = await serve(server, link, { eras: ['legacy'] });
    await using modern = await openPeer(link, 'modern');
    expect((await modern.error('server/discover')).code).toBe(-32601);
    await using legacy = await openPeer(link, 'legacy');
    await legacy.result('tools/list');
  });

  it('eras: only modern, and initialize is told which versions there are', async () => {
    const { server } = workshop();
    const link = memory();
    await using _served = await serve(server, link, { eras: ['modern'] });
    await using peer = await openPeer(link, 'modern');
    const params = {
      protocolVersion: '2025-11-25',
      capabilities: {},
      clientInfo: { name: 'a', version: '1' },
    };
    expect(await peer.error('initialize', params)).toMatchObject({
      code: -32022,
      data: { supported: [MODERN], requested: '2025-11-25' },
    });
    await peer.result('tools/list');
  });

  it.each(ERAS)(
    'maxConcurrent and maxQueued: the rest waits its turn, nobody is turned away, %s',
    async (era) => {
      const { server, state, release } = workshop();
      await using peer = await connectTo(server, era, { options: { maxConcurrent: 2, maxQueued: 1 } });
      const calls = [1, 2, 3, 4, 5].map(() => peer.result('tools/call', { name: 'wait' }));
      await settle();
      expect(state.running).toBe(2);
      release();
      await settle();
      expect(state.running).toBe(4);
      release();
      await settle();
      release();
      expect(await Promise.all(calls)).toHaveLength(5);
    },
  );

  it.each(ERAS)('a full queue does not keep a client from calling off what runs, %s', async (era) => {
    const { server, state, release } = workshop();
    const clock = handClock();
    await using peer = await connectTo(server, era, { options: { clock, maxConcurrent: 1, maxQueued: 1 } });
    const first = peer.nextId;
    for (let call = 0; call < 4; call += 1) peer.request('tools/call', { name: 'wait' }).catch(() => {});
    await settle();
    peer.notify('notifications/cancelled', { requestId: first });
    // Input is held for a moment, in the hope that a call ends; then it is read on.
    await clock.pass(250);
    await settle();
    expect(state.aborted).toBe(1);
    for (let call = 0; call < 4; call += 1) {
      release();
      await settle();
    }
  });

  it('graceMs: what runs at close may finish, and no longer', async () => {
    for (const era of ERAS) {
      const clock = handClock();
      const { server, state, release } = workshop();
      const link = memory();
      const served = await serve(server, link, { clock, graceMs: 1000 });
      const peer = await openPeer(link, era);
      const finished = peer.request('tools/call', { name: 'wait' });
      await settle();
      const closed = served.close();
      await settle();
      await clock.pass(999);
      release();
      expect(await finished).toMatchObject({ result: text('waited') });
      await closed;

      const late = memory();
      const second = await serve(server, late, { clock, graceMs: 1000 });
      const other = await openPeer(late, era);
      const cut = other.request('tools/call', { name: 'wait' });
      await settle();
      const ended = second.close();
      await settle();
      await clock.pass(1000);
      expect(await cut).toMatchObject({ kind: 'error', error: { code: -32603 } });
      await ended;
      expect(state.aborted).toBe(1);
    }
  });

  it('close({ graceMs: 0 }) does not wait', async () => {
    const { server } = workshop();
    const link = memory();
    const served = await serve(server, link);
    const peer = await openPeer(link, 'modern');
    const cut = peer.request('tools/call', { name: 'wait' });
    await settle();
    await served.close({ graceMs: 0 });
    expect(await cut).toMatchObject({ kind: 'error' });
    await served.close();
    expect(served.connections).toBe(0);
    expect(() => link.connect()).toThrow(expect.objectContaining({ code: 'ADDRESS_UNAVAILABLE' }));
  });

  it('askTimeoutMs: a legacy client that does not answer is told that the question is off', async () => {
    const clock = handClock();
    const { server } = workshop();
    await using peer = await connectTo(server, 'legacy', { options: { clock, askTimeoutMs: 500 } });
    const call = peer.result('tools/call', { name: 'ask' });
    await settle();
    expect(peer.questions).toHaveLength(1);
    await clock.pass(500);
    expect(await call).toMatchObject({
      isError: true,
      content: [{ text: expect.stringContaining('500 ms') }],
    });
    expect(peer.notifications).toMatchObject([
      { method: 'notifications/cancelled', params: { requestId: 0 } },
    ]);
  });

  it('roundTtlMs: a modern client that comes back too late is refused', async () => {
    const clock = handClock();
    const { server } = workshop();
    await using peer = await connectTo(server, 'modern', { options: { clock, roundTtlMs: 500 } });
    const { requestState } = await peer.result('tools/call', { name: 'ask' });
    await clock.pass(500);
    const inputResponses = { 'roots-1': { roots: [] } };
    const error = await peer.error('tools/call', { name: 'ask', requestState, inputResponses });
    expect(error.code).toBe(-32602);
  });

  it('maxParked: sleeping calls are bounded', async () => {
    const { server } = workshop();
    await using peer = await connectTo(server, 'modern', { options: { maxParked: 1 } });
    expect(await peer.result('tools/call', { name: 'ask' })).toMatchObject({ resultType: 'input_required' });
    const { requestState } = await peer.result('tools/call', { name: 'ask' });
    // The oldest of the client that has most of them made room; the new one goes on.
    const answers = { 'elicitation-1': { action: 'accept', content: {} } };
    const again = { name: 'ask', requestState, inputResponses: answers };
    expect(JSON.stringify(await peer.request('tools/call', again))).not.toContain('"error"');
  });

  it('maxListens: open subscriptions are bounded', async () => {
    const { server } = workshop();
    await using peer = await connectTo(server, 'modern', { options: { maxListens: 1 } });
    const notifications = { toolsListChanged: true };
    peer.request('subscriptions/listen', { notifications }).catch(() => {});
    await settle();
    expect((await peer.error('subscriptions/listen', { notifications })).message).toContain(
      '1 open subscriptions',
    );
  });

  it('pingIntervalMs: a legacy client that stays silent is let go, one that answers is kept', async () => {
    const clock = handClock();
    const { server } = workshop();
    const link = memory();
    await using served = await serve(server, link, { clock, pingIntervalMs: 1000 });
    const silent = await openPeer(link, 'legacy');
    const alive = await openPeer(link, 'legacy');
    alive.respond = () => ({});
    await settle();
    await clock.pass(1000);
    expect(silent.questions.map((question) => question.method)).toEqual(['ping']);
    await clock.pass(1000);
    await clock.pass(1000);
    expect(served.connections).toBe(1);
    await alive.result('tools/list');
  });

  it('stateKey: replicas that share it understand each other, others do not', async () => {
    const key = Buffer.alloc(32, 7);
    const { server } = workshop();
    server.tool('poll', {}, (_args, ctx) =>
      ctx.state === undefined
        ? ({ resultType: 'input_required', state: { a: 1 } } as const)
        : `state ${JSON.stringify(ctx.state)}`,
    );
    await using one = await connectTo(server, 'modern', { options: { stateKey: key } });
    await using same = await connectTo(server, 'modern', {
      options: { stateKey: key.toString('base64url') },
    });
    await using other = await connectTo(server, 'modern');
    const { requestState } = await one.result('tools/call', { name: 'poll' });
    expect(payload(await same.result('tools/call', { name: 'poll', requestState }))).toEqual(
      text('state {"a":1}'),
    );
    expect((await other.error('tools/call', { name: 'poll', requestState })).code).toBe(-32602);
  });

  it('onClose runs once, after the last connection and before `closed`', async () => {
    const order: string[] = [];
    const { server } = workshop();
    const link = memory();
    const served = await serve(server, link, {
      onClose: async () => {
        order.push(`onClose, ${served.connections} connections`);
        await sleep(5);
        order.push('onClose done');
      },
    });
    const peer = await openPeer(link, 'modern');
    await peer.result('tools/list');
    void served.closed.then(() => order.push('closed'));
    await Promise.all([served.close(), served.close()]);
    await served.closed;
    await settle();
    expect(order).toEqual(['onClose, 0 connections', 'onClose done', 'closed']);
  });

  it('onClose that fails or hangs does not keep the server from closing', async () => {
    const { server } = workshop();
    const failing = await serve(server, memory(), {
      onClose: () => {
        throw new Error('flush failed');
      },
    });
    await failing.close();
    const hanging = await serve(server, memory(), { graceMs: 20, onClose: () => new Promise(() => {}) });
    await hanging.close();
  });

  it('ownsProcess: when the server has ended, the process ends, whatever else would keep it', async () => {
    await ensureBuilt();
    const program = (ownsProcess: boolean) => `
      import { createServer, memory, serve } from 'isthmus';
      setTimeout(() => process.exit(7), 1500);
      const served = await serve(createServer({ name: 'a', version: '1' }), memory(), { ownsProcess: ${ownsProcess} });
      await served.close();`;
    const run = (owns: boolean) =>
      runProgram(process.execPath, ['--input-type=module', '--eval', program(owns)], {
        cwd: ROOT,
        limitMs: 20_000,
      });
    const [owning, not] = await Promise.all([run(true), run(false)]);
    expect(owning).toMatchObject({ code: 0, stderr: '' });
    expect(not).toMatchObject({ code: 7, stderr: '' });
  });
});

describe('listeners', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'isthmus-'));
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  const ask = (to: { path: string } | { host: string; port: number }) =>
    new Promise<string>((resolve, reject) => {
      const socket = connect(to as never);
      let got = '';
      socket.on('error', reject);
      socket.on('data', (chunk) => {
        got += chunk;
        if (got.includes('\n')) socket.end();
      });
      socket.on('close', () => resolve(got.trim()));
      socket.write('{"jsonrpc":"2.0","id":"p","method":"ping"}\n');
    });
  const PONG = '{"jsonrpc":"2.0","id":"p","result":{}}';

  it('several at once, each connection with its own era; close frees all', async () => {
    const { server } = workshop();
    const path = join(folder, 'a.sock');
    const link = memory();
    const served = await serve(server, [unixSocket(path), tcp({ port: 0 }), link]);
    expect(served.addresses).toEqual([
      `unix:${path}`,
      expect.stringMatching(/^tcp:\/\/127\.0\.0\.1:\d+$/),
      'memory',
    ]);
    const port = Number(served.addresses[1]?.split(':').pop());
    expect(await Promise.all([ask({ path }), ask({ host: '127.0.0.1', port })])).toEqual([PONG, PONG]);
    const legacy = await openPeer(link, 'legacy');
    const modern = await openPeer(link, 'modern');
    expect(payload(await legacy.result('tools/list'))).toEqual(payload(await modern.result('tools/list')));
    await served.close();
    await expect(ask({ path })).rejects.toThrow();
    await expect(ask({ host: '127.0.0.1', port })).rejects.toThrow();
    await expect(stat(path)).rejects.toThrow();
  });

  it('a second listener that fails leaves nothing open', async () => {
    const { server } = workshop();
    const path = join(folder, 'a.sock');
    const [mine, theirs] = memoryPair();
    const eager: Listener = {
      ownsProcess: false,
      async listen(accept) {
        accept(theirs);
        return { address: 'eager', ended: new Promise(() => {}), stop: async () => {} };
      },
    };
    mine.open({ receive() {}, inputEnded() {}, drained() {} });
    const failing = serve(server, [unixSocket(path), eager, unixSocket(join(folder, 'no', 'such', 'place'))]);
    await expect(failing).rejects.toMatchObject({ code: 'ADDRESS_UNAVAILABLE' });
    await expect(stat(path)).rejects.toThrow();
    expect(await Promise.race([mine.closed.then(() => 'closed'), sleep(1000, 'still open')])).toBe('closed');
  });

  it('a path or port in use is said to be in use', async () => {
    const { server } = workshop();
    const path = join(folder, 'a.sock');
    await using first = await serve(server, [unixSocket(path), tcp({ port: 0 })]);
    const port = Number(first.addresses[1]?.split(':').pop());
    for (const listener of [unixSocket(path), tcp({ port })]) {
      await expect(serve(server, listener)).rejects.toMatchObject({
        code: 'ADDRESS_UNAVAILABLE',
        message: expect.stringContaining('another process listens there'),
      });
    }
    expect(await ask({ path })).toBe(PONG);
  });

  it('a memory link is served by one server at a time, and again after a close', async () => {
    const { server } = workshop();
    const link = memory();
    const first = await serve(server, link);
    await expect(serve(server, link)).rejects.toMatchObject({ code: 'ADDRESS_UNAVAILABLE' });
    await first.close();
    await using _second = await serve(server, link);
    const peer = await openPeer(link, 'modern');
    await peer.result('tools/list');
  });

  it('stdio cannot be served twice', async () => {
    const { server } = workshop();
    await expect(serve(server, [stdio(), stdio()])).rejects.toMatchObject({ code: expect.any(String) });
  });

  it('one definition, several serves: both hear of changes', async () => {
    const { server } = workshop();
    await using a = await connectTo(server, 'legacy');
    await using b = await connectTo(server, 'legacy');
    await settle();
    server.tool('new', {}, () => 'x');
    await settle();
    for (const peer of [a, b])
      expect(peer.notifications).toMatchObject([{ method: 'notifications/tools/list_changed' }]);
  });
});
