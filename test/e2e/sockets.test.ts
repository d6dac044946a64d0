/** Sockets as they are in the wild: peers that half-close, reset, stall, vanish; files that are in the way. */
import {
  existsSync,
  lstatSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { type AddressInfo, createServer as createNetServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { PassThrough } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  createServer,
  type Listener,
  type Served,
  type ServeOptions,
  type SocketOptions,
  serve,
  tcp,
  unixSocket,
} from '@isthmus/sdk';
import { listenerFor } from '@isthmus/sdk/internal/transport/address.js';
import { createStreamConnection } from '@isthmus/sdk/internal/transport/stream-connection.js';
import { describe, expect, it, onTestFinished } from 'vitest';
import { fixture, startChild, startDemo } from '../support/child.js';
import { dial } from '../support/line-socket.js';
import { call, initialize, legacyCall, line, request, textOf } from '../support/messages.js';
import { until } from '../support/until.js';

const onWindows = process.platform === 'win32';
const MIB = 1024 * 1024;

for (const kind of ['tcp', 'unix'] as const) {
  describe.skipIf(kind === 'unix' && onWindows)(`a ${kind} socket`, () => {
    const listener = (options: SocketOptions = {}): Listener =>
      kind === 'tcp' ? tcp({ port: 0, ...options }) : unixSocket(freePath(), options);

    it('serves both eras at once, each connection in its own', async () => {
      const { addresses, served } = await start(listener());
      const [modern, legacy, undecided] = await Promise.all([
        dial(addresses[0]),
        dial(addresses[0]),
        dial(addresses[0]),
      ]);
      modern.send(request(1, 'server/discover'), call(2, 'echo', { text: 'modern' }));
      legacy.send(initialize(1), legacyCall(2, 'echo', { text: 'legacy' }));
      undecided.send({ jsonrpc: '2.0', id: 1, method: 'ping' });
      expect((await modern.answer(2)).result).toMatchObject({
        resultType: 'complete',
        content: [{ text: 'modern' }],
      });
      expect((await legacy.answer(2)).result).toEqual({ content: [{ type: 'text', text: 'legacy' }] });
      expect((await undecided.answer(1)).result).toEqual({});
      expect(served.connections).toBe(3);
      legacy.send(call(3, 'echo', { text: 'x' }));
      modern.send(initialize(3));
      expect((await legacy.answer(3)).error?.code).toBe(-32600);
      expect((await modern.answer(3)).error?.code).toBe(-32022);
    });

    it('answers a peer that half-closes behind a slow call, then ends', async () => {
      const { addresses, served } = await start(listener());
      const peer = await dial(addresses[0]);
      peer.socket.end(
        line(call(1, 'slow', { ms: 200 })) + JSON.stringify(call(2, 'echo', { text: 'no newline' })),
      );
      await peer.end();
      expect(peer.messages.map(({ id }) => id)).toEqual([2, 1]);
      await until('no connection is left', () => served.connections === 0);
    });

    it('delivers 20 MB to a peer that half-closed and reads late', async () => {
      const { addresses } = await start(listener());
      const peer = await dial(addresses[0], { read: false });
      peer.socket.end(line(call(1, 'big', { bytes: 20 * MIB })));
      await sleep(200);
      peer.read();
      await peer.end();
      expect(textOf(await peer.answer(1))).toHaveLength(20 * MIB);
    });

    it('ends every connection on close(), idle ones at once, and frees its address', async () => {
      const { addresses, served } = await start(listener());
      const idle = await dial(addresses[0]);
      const busy = await dial(addresses[0]);
      idle.send(call(1, 'echo', { text: 'x' }));
      await idle.answer(1);
      busy.send(call(1, 'slow', { ms: 300 }), call('mark', 'echo', { text: 'x' }));
      await busy.answer('mark');
      const closing = served.close();
      expect(await settled(closing)).toBe('pending');
      await idle.end(5000);
      expect(busy.ended).toBe(false);
      expect(textOf(await busy.answer(1))).toBe('took 300 ms');
      await busy.end();
      await closing;
      await served.closed;
      await served.close();
      expect(served.connections).toBe(0);
      await expect(dial(addresses[0])).rejects.toThrow(kind === 'tcp' ? 'ECONNREFUSED' : 'ENOENT');
      if (kind === 'unix') expect(existsSync(pathOf(addresses[0]))).toBe(false);
      const again =
        kind === 'tcp' ? tcp({ port: Number(new URL(addresses[0]).port) }) : unixSocket(pathOf(addresses[0]));
      const { addresses: second } = await start(again);
      const peer = await dial(second[0]);
      peer.send(call(1, 'echo', { text: 'again' }));
      expect(textOf(await peer.answer(1))).toBe('again');
    });

    it('answers calls that outlive the grace of close() with an error', async () => {
      const { addresses, served } = await start(listener());
      const peer = await dial(addresses[0]);
      peer.send(call(1, 'never'), call('mark', 'echo', { text: 'x' }));
      await peer.answer('mark');
      await within(15_000, served.close({ graceMs: 100 }));
      await peer.end();
      expect((await peer.answer(1)).error?.code).toBe(-32603);
    });

    it('lets a later close() with a shorter grace hurry one that is under way', async () => {
      const { addresses, served } = await start(listener());
      const halfClosed = await dial(addresses[0]);
      halfClosed.socket.end(line(call(1, 'never')) + line(call('mark', 'echo', { text: 'x' })));
      await halfClosed.answer('mark');
      const peer = await dial(addresses[0]);
      peer.send(call(1, 'never'), call('mark', 'echo', { text: 'x' }));
      await peer.answer('mark');
      void served.close({ graceMs: 9000 });
      await within(15_000, served.close({ graceMs: 100 }));
      expect((await halfClosed.answer(1)).error?.code).toBe(-32603);
      expect((await peer.answer(1)).error?.code).toBe(-32603);
    });

    it.skipIf(kind === 'tcp')('close() is bounded although a peer does not read', async () => {
      const { addresses, served } = await start(listener());
      const stalled = await dial(addresses[0], { read: false });
      stalled.send(call(1, 'big', { bytes: 30 * MIB }));
      const peer = await dial(addresses[0]);
      peer.send(call(1, 'slow', { ms: 50 }));
      expect(textOf(await peer.answer(1))).toBe('took 50 ms');
      await within(12_000, served.close({ graceMs: 100 }));
    });

    it('close() is bounded although a peer never stops sending', async () => {
      const { addresses, served } = await start(listener());
      const peer = await dial(addresses[0]);
      const pings = line({ jsonrpc: '2.0', id: 1, method: 'ping' }).repeat(1000);
      let more = true;
      const pour = () => {
        if (more && peer.socket.writable) peer.socket.write(pings, pour);
      };
      pour();
      await peer.answer(1);
      await within(15_000, served.close({ graceMs: 100 })).finally(() => {
        more = false;
      });
      await peer.end();
    });

    it('does not let a peer that does not read delay the others', async () => {
      const { addresses } = await start(listener());
      const stalled = await dial(addresses[0], { read: false });
      for (let id = 0; id < 500; id++) stalled.send(call(id, 'big', { bytes: 65_536 }));
      const peer = await dial(addresses[0]);
      for (let id = 0; id < 20; id++) {
        peer.send(call(id, 'echo', { text: 'x' }));
        await peer.answer(id);
      }
      expect(peer.messages).toHaveLength(20);
    });

    it('survives a peer that vanishes during its call, and tells the handler', async () => {
      const aborted: string[] = [];
      const { addresses, served } = await start(listener(), {}, (reason) => aborted.push(reason));
      const other = await dial(addresses[0]);
      other.send(call(1, 'slow', { ms: 300 }));
      const peer = await dial(addresses[0]);
      peer.send(call(1, 'never'), call(2, 'slow', { ms: 50 }), call('mark', 'echo', { text: 'x' }));
      await peer.answer('mark');
      if (kind === 'tcp') peer.socket.resetAndDestroy();
      else peer.socket.destroy();
      if (kind === 'tcp') await until('the handler is aborted', () => aborted.length === 1);
      expect(textOf(await other.answer(1))).toBe('took 300 ms');
      other.send(call(2, 'echo', { text: 'fine' }));
      expect(textOf(await other.answer(2))).toBe('fine');
      if (kind === 'tcp') await until('one connection is open', () => served.connections === 1);
      await within(15_000, served.close({ graceMs: 100 }));
      expect(aborted).toHaveLength(1);
    });

    it('survives peers that send half a line and go, politely or not', async () => {
      const { addresses, served } = await start(listener());
      const half = line(call(1, 'echo', { text: 'x' })).slice(0, -20);
      for (let i = 0; i < 10; i++) {
        const rude = await dial(addresses[0]);
        rude.socket.write(half, () =>
          kind === 'tcp' ? rude.socket.resetAndDestroy() : rude.socket.destroy(),
        );
      }
      const polite = await dial(addresses[0]);
      polite.socket.end(half);
      await polite.end();
      expect(polite.messages.map(({ id, error }) => [id, error?.code])).toEqual([[1, -32700]]);
      await until('no connection is left', () => served.connections === 0);
      const peer = await dial(addresses[0]);
      peer.send(call(1, 'echo', { text: 'fine' }));
      expect(textOf(await peer.answer(1))).toBe('fine');
    });

    it('turns peers away beyond maxConnections, until there is room', async () => {
      const { addresses, served } = await start(listener({ maxConnections: 2 }));
      const [first, second] = [await dial(addresses[0]), await dial(addresses[0])];
      for (const peer of [first, second]) {
        peer.send(call(1, 'echo', { text: 'x' }));
        await peer.answer(1);
      }
      const third = await dial(addresses[0]);
      await third.end();
      expect(third.messages).toEqual([]);
      second.send(call(2, 'echo', { text: 'unharmed' }));
      expect(textOf(await second.answer(2))).toBe('unharmed');
      first.socket.end();
      await first.end();
      await until('one connection is open', () => served.connections === 1);
      const fourth = await dial(addresses[0]);
      fourth.send(call(1, 'echo', { text: 'room' }));
      expect(textOf(await fourth.answer(1))).toBe('room');
    });

    it('keeps to maxLineBytes on each connection', async () => {
      const { addresses } = await start(listener({ maxLineBytes: 1000 }));
      const peer = await dial(addresses[0]);
      peer.send(call(1, 'echo', { text: 'x'.repeat(2000) }), call(2, 'echo', { text: 'short' }));
      expect((await peer.answer(1)).error?.code).toBe(-32600);
      expect(textOf(await peer.answer(2))).toBe('short');
    });

    it('accepts many at once: 200 connections, each answered', async () => {
      const { addresses, served } = await start(listener());
      const peers = await Promise.all(Array.from({ length: 200 }, () => dial(addresses[0])));
      peers.forEach((peer, at) => {
        peer.send(at % 2 ? call(1, 'echo', { text: `n${at}` }) : initialize(1));
      });
      const answers = await Promise.all(peers.map((peer) => peer.answer(1)));
      expect(answers.filter(({ result }) => result === undefined)).toEqual([]);
      await within(10_000, served.close());
      await Promise.all(peers.map((peer) => peer.end()));
    });
  });
}

describe('a tcp address', () => {
  it('is on the loopback unless somebody says otherwise', async () => {
    const { addresses } = await start(tcp({ port: 0 }));
    expect(addresses[0]).toMatch(/^tcp:\/\/127\.0\.0\.1:\d+$/);
  });

  it('that is in use is refused with the address and the reason', async () => {
    const taken = createNetServer().listen(0, '127.0.0.1');
    onTestFinished(() => void taken.close());
    await until('the socket listens', () => taken.listening);
    const { port } = taken.address() as AddressInfo;
    await expect(start(tcp({ port }))).rejects.toMatchObject({
      code: 'ADDRESS_UNAVAILABLE',
      message: expect.stringContaining(`tcp://127.0.0.1:${port}: another process listens there`),
    });
  });

  it('that fails takes the other listeners down with it', async () => {
    const taken = createNetServer().listen(0, '127.0.0.1');
    onTestFinished(() => void taken.close());
    await until('the socket listens', () => taken.listening);
    const path = freePath();
    const { port } = taken.address() as AddressInfo;
    await expect(start([unixSocket(path), tcp({ port })])).rejects.toMatchObject({
      code: 'ADDRESS_UNAVAILABLE',
    });
    expect(existsSync(path)).toBe(false);
  });

  it('with a port that cannot be is refused before anything opens', () => {
    for (const port of [-1, 65_536, 1.5, Number.NaN]) {
      expect(() => tcp({ port })).toThrow(expect.objectContaining({ code: 'INVALID_OPTION' }));
    }
  });
});

describe.skipIf(onWindows)('a Unix socket file', () => {
  it('can be opened by its owner only, and the umask is as before', async () => {
    const before = process.umask();
    const { addresses } = await start(unixSocket(freePath()));
    expect(lstatSync(pathOf(addresses[0])).mode & 0o777).toBe(0o600);
    expect(process.umask()).toBe(before);
  });

  it('that a killed server left behind is replaced', async () => {
    const path = freePath();
    const killed = startDemo({ args: ['--listen', `unix:${path}`] });
    await killed.until('start', () => killed.stderr.includes(path));
    killed.kill('SIGKILL');
    await killed.exit();
    expect(lstatSync(path).isSocket()).toBe(true);
    const { addresses } = await start(unixSocket(path));
    const peer = await dial(addresses[0]);
    peer.send(call(1, 'echo', { text: 'new' }));
    expect(textOf(await peer.answer(1))).toBe('new');
    expect(lstatSync(path).mode & 0o777).toBe(0o600);
  });

  it('that somebody listens on is refused, and that somebody is not disturbed', async () => {
    const path = freePath();
    const { addresses, served } = await start(unixSocket(path));
    await expect(start(unixSocket(path))).rejects.toMatchObject({
      code: 'ADDRESS_UNAVAILABLE',
      message: expect.stringContaining('another process listens there'),
    });
    const peer = await dial(addresses[0]);
    peer.send(call(1, 'echo', { text: 'undisturbed' }));
    expect(textOf(await peer.answer(1))).toBe('undisturbed');
    await until('one connection is open', () => served.connections === 1);
  });

  it('is never made of something else: files, folders and links are left alone', async () => {
    const dir = freeDir();
    const file = join(dir, 'file');
    writeFileSync(file, 'precious');
    const link = join(dir, 'link');
    symlinkSync(file, link);
    for (const path of [file, dir, link]) {
      await expect(start(unixSocket(path))).rejects.toMatchObject({
        code: 'ADDRESS_UNAVAILABLE',
        message: expect.stringContaining('not a socket'),
      });
    }
    expect(readFileSync(file, 'utf8')).toBe('precious');
    expect(lstatSync(link).isSymbolicLink()).toBe(true);
  });

  it('in a folder that is not there is refused', async () => {
    await expect(start(unixSocket(join(freeDir(), 'no', 'such.sock')))).rejects.toMatchObject({
      code: 'ADDRESS_UNAVAILABLE',
    });
  });

  it('with a path too long for the system is refused, and nothing is left behind', async () => {
    const dir = freeDir();
    const path = join(dir, `${'x'.repeat(150)}.sock`);
    await expect((async () => start(unixSocket(path)))()).rejects.toMatchObject({
      name: 'IsthmusError',
      message: expect.stringContaining(path),
    });
    expect(readdirSync(dir)).toEqual([]);
    expect(readdirSync(dirname(dir)).filter((name) => name.startsWith('xxx'))).toEqual([]);
  });

  it('is gone after SIGTERM, although clients are connected', async () => {
    const path = freePath();
    const demo = startDemo({ args: ['--listen', `unix:${path}`, '--listen', 'tcp://127.0.0.1:0'] });
    await demo.until('start', () => demo.stderr.includes(path));
    const peer = await dial(`unix:${path}`);
    peer.send(call(1, 'echo', { text: 'x' }));
    await peer.answer(1);
    const start = performance.now();
    demo.kill('SIGTERM');
    expect(await demo.exit()).toEqual({ code: 0, signal: null });
    // The grace is 10 s.
    expect(performance.now() - start).toBeLessThan(9000);
    await peer.end();
    expect(existsSync(path)).toBe(false);
  });
});

describe('close()', () => {
  it('leaves nothing open: a process that serves a socket ends by itself', async () => {
    const child = startChild(fixture('server-on-a-socket.mjs'));
    await child.first(1);
    const [address] = child.messages[0] as unknown as [string];
    const idle = await dial(address);
    idle.send(call(1, 'none'));
    await idle.answer(1);
    const peer = await dial(address);
    peer.send(call(1, 'close'));
    expect(textOf(await peer.answer(1))).toBe('closing');
    expect(await child.exit(10_000)).toEqual({ code: 0, signal: null });
    await idle.end();
  });
});

describe('an address on the command line', () => {
  it.each([
    '',
    'tcp',
    'tcp://',
    'tcp://127.0.0.1',
    'tcp://127.0.0.1:',
    'tcp://:4000',
    'tcp://127.0.0.1:port',
    'tcp://127.0.0.1:4000/path',
    'tcp://::1:4000',
    'https://127.0.0.1:4000',
    'http://',
    '127.0.0.1:4000',
    '/tmp/x.sock',
    'stdio:',
    'STDIO',
    'unix:',
    'tcp://127.0.0.1:65536',
    'tcp://127.0.0.1:99999',
    'tcp://127.0.0.1:-1',
  ])('%j is refused with INVALID_OPTION', (address) => {
    expect(() => listenerFor(address)).toThrow(expect.objectContaining({ code: 'INVALID_OPTION' }));
  });

  it.each([
    'stdio',
    'unix:/tmp/x.sock',
    'unix:relative.sock',
    'tcp://127.0.0.1:0',
    'tcp://localhost:4000',
    'tcp://[::1]:4000',
  ])('%j is understood', (address) => {
    expect(listenerFor(address).ownsProcess).toBe(address === 'stdio');
  });
});

describe('writes', () => {
  it('carry all answers of one turn, from synchronous and asynchronous handlers alike', async () => {
    const writes: string[] = [];
    const input = new PassThrough();
    const connection = createStreamConnection({
      label: 'test',
      input,
      output: new PassThrough().resume(),
      write(data, done) {
        writes.push(String(data));
        setImmediate(done);
        return true;
      },
      release() {},
    });
    await start({
      ownsProcess: false,
      async listen(accept) {
        accept(connection);
        return { address: 'test', ended: connection.closed.then(() => {}), async stop() {} };
      },
    });
    const calls = Array.from({ length: 50 }, (_, id) =>
      line(call(id, id % 2 ? 'echo' : 'soon', { text: 'x' })),
    );
    input.write(`not json\n${calls.join('')}`);
    await until('the lines are written', () => writes.join('').split('\n').length > 51);
    expect(writes).toHaveLength(1);
    input.end();
  });

  it('carry all answers of one turn on a real socket', async () => {
    const { addresses } = await start(tcp({ port: 0 }));
    const peer = await dial(addresses[0]);
    let chunks = 0;
    peer.socket.on('data', () => (chunks += 1));
    peer.send(...Array.from({ length: 50 }, (_, id) => call(id, 'echo', { text: 'x' })));
    await peer.answer(49);
    // One write of 8 KB arrives in one read on the loopback; 50 writes without delay arrive in many.
    expect(chunks).toBeLessThan(5);
  });
});

/** A server with tools for every need of these tests; closed at the end of the test. */
async function start(
  listeners: Listener | Listener[],
  options: ServeOptions = {},
  onAbort: (reason: string) => void = () => {},
): Promise<{ served: Served; addresses: [string, ...string[]] }> {
  const server = createServer({ name: 'sockets', version: '1' });
  const number = { type: 'integer' } as const;
  server.tool('echo', {}, ({ text }) => String(text));
  server.tool('soon', {}, async ({ text }) => {
    await Promise.resolve();
    return String(text);
  });
  server.tool('slow', { input: { type: 'object', properties: { ms: number } } }, async (args) => {
    const { ms } = args as { ms: number };
    await sleep(ms);
    return `took ${ms} ms`;
  });
  server.tool('big', { input: { type: 'object', properties: { bytes: number } } }, (args) =>
    'x'.repeat((args as { bytes: number }).bytes),
  );
  server.tool('never', {}, (_args, ctx) => {
    ctx.signal.addEventListener('abort', () => onAbort(String(ctx.signal.reason)));
    return new Promise<string>(() => {});
  });
  const served = await serve(server, listeners, options);
  onTestFinished(() => served.close({ graceMs: 0 }));
  return { served, addresses: served.addresses as [string, ...string[]] };
}

function pathOf(address: string): string {
  return address.slice('unix:'.length);
}

function freeDir(): string {
  const dir = mkdtempSync(join(tmpdir(), 'isthmus-'));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  return dir;
}

function freePath(): string {
  return join(freeDir(), 'x.sock');
}

async function settled(promise: Promise<unknown>): Promise<'pending' | 'settled'> {
  return Promise.race([promise.then(() => 'settled' as const), sleep(0).then(() => 'pending' as const)]);
}

async function within(ms: number, promise: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`not settled within ${ms} ms`)), ms);
  });
  await Promise.race([promise, late]).finally(() => clearTimeout(timer));
}
