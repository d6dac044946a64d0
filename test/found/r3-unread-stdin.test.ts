import { PassThrough, Writable } from 'node:stream';
import { type Client, connect } from '@isthmus/sdk/client';
import type { Connection, Receiver } from '@isthmus/sdk/internal/exchange/connection.js';
import { createStreamConnection } from '@isthmus/sdk/internal/transport/stream-connection.js';
import type { JsonRpcMessage } from '@isthmus/sdk/internal/wire/json-rpc.js';
import { notificationMessage, requestMessage, resultMessage } from '@isthmus/sdk/internal/wire/json-rpc.js';
import { stdio } from '@isthmus/sdk/stdio';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openGateway } from '../../packages/gateway/test/support/open-gateway.js';
import { commandUnit } from '../../packages/gateway/test/support/server-definitions.js';
import { failure } from '../../packages/sdk/test/support/client/open-client.js';
import { openHost, programmed } from '../../packages/sdk/test/support/host-lifetime.js';
import { ask, modernCall } from '../../packages/sdk/test/support/http-server.js';
import { onLinux } from '../../packages/sdk/test/support/process.js';
import { FakeClock } from '../support/fake-clock.js';

const MIB = 1024 * 1024;
const HALF_MB = 'x'.repeat(500_000);

/** A peer that takes one write at a time, and only when it is told to. */
function stalledPeer(options: { maxOutboxBytes?: number; clock?: FakeClock } = {}) {
  const taken: string[] = [];
  let next: (() => void) | undefined;
  let reads = false;
  const output = new Writable({
    decodeStrings: true,
    highWaterMark: 1,
    write(chunk: Buffer, _encoding, done) {
      taken.push(chunk.toString());
      if (reads) setImmediate(done);
      else next = done;
    },
  });
  const input = new PassThrough();
  const connection = createStreamConnection({
    label: 'the peer',
    input,
    output,
    alwaysReads: true,
    release: () => {
      input.destroy();
      output.destroy();
    },
    ...options,
  });
  connection.open(SILENT);
  onTestFinished(() => connection.close());
  return {
    connection,
    lines: () => taken.join('').split('\n').slice(0, -1),
    /** The peer takes one write. */
    readOne: () => next?.(),
    /** The peer reads from now on. */
    read() {
      reads = true;
      next?.();
    },
  };
}

const SILENT: Receiver = { receive() {}, inputEnded() {}, drained() {} };

function request(id: number, text = HALF_MB): JsonRpcMessage {
  return requestMessage(id, 'tools/call', { name: 'echo', arguments: { text } });
}

/** Sends requests until one is refused; says how many were taken, and why it ended. */
function fill(connection: Connection, text = HALF_MB): { count: number; error: unknown } {
  for (let count = 0; ; count += 1) {
    try {
      connection.send(request(count, text));
    } catch (error) {
      return { count, error };
    }
    if (count > 1000) return { count, error: undefined };
  }
}

describe('R3: the outgoing queue of a byte stream', () => {
  it('R3: refuses requests past its bound in bytes, with an error that says that they were not sent', () => {
    const { connection } = stalledPeer();
    const { count, error } = fill(connection);
    expect(count).toBe(67);
    expect(connection.unread).toBeLessThanOrEqual(32 * MIB);
    expect(error).toMatchObject({
      code: 'BUSY',
      sent: 'no',
      message: expect.stringMatching(
        /^the peer has not read 335\d{5} bytes that were sent to it, and at most 33554432 may wait; the request was not sent/,
      ),
    });
  });

  it('R3: takes one message of any size when nothing waits', () => {
    const { connection } = stalledPeer({ maxOutboxBytes: 1000 });
    connection.send(request(0, 'x'.repeat(100_000)));
    expect(() => connection.send(request(1, 'x'))).toThrow(/not sent/);
  });

  it('R3: still takes answers and cancellations, and delivers them in order when the peer reads again', async () => {
    const { connection, lines, read } = stalledPeer({ maxOutboxBytes: 4 * MIB });
    const { count } = fill(connection);
    connection.send(resultMessage(7, { ok: true }));
    connection.send(notificationMessage('notifications/cancelled', { requestId: 3 }));
    read();
    await expect.poll(() => lines().length, { timeout: 10_000 }).toBe(count + 2);
    expect(lines().slice(-2)).toEqual([
      '{"jsonrpc":"2.0","id":7,"result":{"ok":true}}',
      '{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":3}}',
    ]);
    expect(connection.unread).toBe(0);
    connection.send(request(9999, 'x'));
  });

  it('R3: frees the bytes of a message that is withdrawn, and never sends it', async () => {
    const { connection, lines, read } = stalledPeer();
    connection.send(request(0, 'first'));
    // The first message has begun to leave.
    await expect.poll(() => lines().length).toBe(1);
    connection.send(request(1));
    const one = connection.sent!;
    connection.send(request(2, 'last'));
    const before = connection.unread!;
    expect(connection.withdraw?.(one)).toBe(true);
    expect(connection.withdraw?.(one)).toBe(false);
    expect(connection.withdraw?.(1)).toBe(false);
    expect(before - connection.unread!).toBeGreaterThan(500_000);
    read();
    await expect.poll(() => lines().length).toBe(2);
    expect(lines().map((line) => JSON.parse(line).id)).toEqual([0, 2]);
  });

  it('R3: a thousand requests that are withdrawn one after the other leave nothing behind', async () => {
    const { connection, lines } = stalledPeer();
    connection.send(request(0, 'first'));
    await expect.poll(() => lines().length).toBe(1);
    for (let id = 1; id <= 1000; id += 1) {
      connection.send(request(id));
      connection.withdraw?.(connection.sent!);
    }
    expect(connection.unread).toBeLessThan(1000);
  });

  it('R3: ends when the peer asks without end and never reads the answers', async () => {
    const { connection } = stalledPeer({ maxOutboxBytes: 1000 });
    connection.send(request(0, 'x'.repeat(1000)));
    for (let id = 0; id < 1000; id += 1) connection.send(resultMessage(id, {}));
    const end = await connection.closed;
    expect(end).toMatchObject({
      kind: 'lost',
      error: { message: expect.stringMatching(/^the peer has not read \d+ bytes/) },
    });
  });

  it('R3: a peer that reads gets one message of any size and all that follow it', async () => {
    const { connection, lines, read } = stalledPeer({ maxOutboxBytes: 1000 });
    read();
    connection.send(resultMessage(1, { text: 'x'.repeat(100_000) }));
    connection.send(notificationMessage('notifications/tools/list_changed'));
    connection.send(resultMessage(2, {}));
    await expect.poll(() => lines().length).toBe(3);
    expect(lines().map((line) => JSON.parse(line).id)).toEqual([1, undefined, 2]);
    expect(JSON.parse(lines()[2]!)).toEqual({ jsonrpc: '2.0', id: 2, result: {} });
  });

  it('R3: the results of all calls that end at once wait for a peer that reads, whatever they take together', async () => {
    const { connection, lines, read } = stalledPeer({ maxOutboxBytes: 100_000 });
    // Twelve times the bound, in one turn.
    for (let id = 0; id < 12; id += 1) connection.send(resultMessage(id, { text: 'x'.repeat(100_000) }));
    read();
    await expect.poll(() => lines().length).toBe(12);
    expect(lines().map((line) => 'result' in JSON.parse(line))).toEqual(Array(12).fill(true));
  });

  it('R3: a peer with very much to read is watched: it is kept while it reads, and loses its connection after 10 s', async () => {
    const clock = new FakeClock();
    const { connection, readOne } = stalledPeer({ maxOutboxBytes: 100_000, clock });
    for (let id = 0; id < 4; id += 1) connection.send(resultMessage(id, { text: 'x'.repeat(99_000) }));
    expect(clock.waiting).toBe(0);
    for (let id = 4; id < 14; id += 1) connection.send(resultMessage(id, { text: 'x'.repeat(99_000) }));
    const before = connection.unread!;
    await expect.poll(() => connection.begun).toBeGreaterThan(0);
    readOne();
    await expect.poll(() => connection.unread).toBeLessThan(before);
    clock.advance(10_000);
    clock.advance(9_999);
    connection.send(resultMessage(99, {}));
    expect(connection.unread).toBeGreaterThan(400_000);
    clock.advance(1);
    expect(await connection.closed).toMatchObject({
      kind: 'lost',
      error: {
        message: expect.stringMatching(/^the peer has not read \d+ bytes .* the connection was closed$/),
      },
    });
    expect(clock.waiting).toBe(0);
  });

  it('R3: a result that does not fit becomes a short error for its call', async () => {
    const { connection, lines, read } = stalledPeer({ maxOutboxBytes: 1000 });
    for (let id = 0; id < 17; id += 1) connection.send(resultMessage(id, { text: 'x'.repeat(950) }));
    connection.send(resultMessage(50, { text: 'y'.repeat(100_000) }));
    expect(connection.unread).toBeLessThan(18_000);
    read();
    await expect.poll(() => lines().length).toBe(18);
    expect(JSON.parse(lines()[17]!)).toMatchObject({
      id: 50,
      error: {
        code: -32603,
        message: expect.stringMatching(/^The result was dropped: \d+ bytes of earlier/),
      },
    });
  });
});

async function deafClient(): Promise<Client> {
  const server = programmed({ eras: 'legacy' });
  const { command, args } = server.definition();
  const client = await connect(
    stdio({ command, args: args!, shutdown: { closeMs: 50, termMs: 50, killMs: 50 } }),
    {
      cache: false,
    },
  );
  onTestFinished(() => client.close());
  await client.callTool('close-ears');
  return client;
}

describe('R3: a child that stops reading its stdin', () => {
  it('R3: calls that are abandoned before they begin to leave were not sent, and keep no memory', async () => {
    const client = await deafClient();
    let sent = 0;
    for (let round = 0; round < 10; round += 1) {
      const abort = new AbortController();
      const calls = Array.from({ length: 60 }, () =>
        failure(client.callTool('echo', { text: HALF_MB }, { signal: abort.signal })),
      );
      await new Promise(setImmediate);
      abort.abort();
      for (const error of await Promise.all(calls)) {
        expect(error).toMatchObject({ code: 'CANCELLED' });
        if ((error as { sent?: string }).sent !== 'no') sent += 1;
      }
    }
    // The pipe took the beginning of the first call. 600 calls of 0.5 MB fit only because the others were taken out.
    expect(sent).toBe(1);
  });

  it('R3: a call that times out before it has begun to leave was not sent', async () => {
    const client = await deafClient();
    const first = failure(client.callTool('echo', { text: HALF_MB }, { timeoutMs: 60_000 }));
    await new Promise(setImmediate);
    expect(await failure(client.callTool('echo', { text: 'x' }, { timeoutMs: 50 }))).toMatchObject({
      code: 'TIMED_OUT',
      sent: 'no',
    });
    await client.close();
    expect(await first).toMatchObject({ sent: 'maybe' });
  });
});

/** Moves the clock in steps that the looks at the process keep up with. */
async function letPass(clock: FakeClock, ms: number): Promise<void> {
  for (let passed = 0; passed < ms; passed += 1000) {
    clock.advance(1000);
    // The system is asked about the process in between.
    for (let turns = 0; turns < 20; turns += 1) await new Promise(setImmediate);
  }
}

describe.runIf(onLinux)('R3: a process of a host that stops reading its stdin', () => {
  async function deafHost(more: { maxUnreadMs?: number | false } = {}) {
    const clock = new FakeClock();
    const server = programmed({ eras: 'legacy' }, {});
    const { host, seen } = openHost({ clock, servers: { a: server.definition(more) } });
    const chat = host.conversation('a');
    await chat.callTool('close-ears');
    await seen.nth('receipt');
    const call = failure(chat.callTool('echo', { text: HALF_MB }, { timeoutMs: 600_000 }));
    return { clock, server, host, seen, chat, call };
  }

  it('R3: is not ready after 10 s, is killed after 60 s, and is started again', async () => {
    const { clock, server, host, seen, chat, call } = await deafHost();
    const state = async () => (await host.status()).servers['a']!;
    await expect.poll(async () => (await state()).processes[0]!.unread?.bytes).toBeGreaterThan(400_000);
    expect((await state()).ready).toBe(true);
    await letPass(clock, 16_000);
    expect(await state()).toMatchObject({ state: 'ready', ready: false });
    expect(seen.all('kill')).toEqual([]);
    await letPass(clock, 30_000);
    expect(seen.all('kill')).toEqual([]);
    // The looks at a busy machine come later than the time that is played.
    while (seen.all('kill').length === 0 && clock.now() < 1_000_000 + 250_000) await letPass(clock, 1000);
    expect(await seen.nth('kill')).toMatchObject({
      why: expect.stringMatching(/^it has not read its stdin for \d+ s, and \d{6} bytes wait$/),
    });
    expect(clock.now()).toBeGreaterThanOrEqual(1_000_000 + 60_000);
    expect(await call).toMatchObject({ code: 'CHILD_EXITED' });
    const { delayMs } = await seen.nth('restart');
    clock.advance(delayMs);
    await seen.nth('ready', 2);
    expect(server.starts()).toHaveLength(2);
    await chat.callTool('whoami');
    expect((await state()).processes[0]!.unread).toBeUndefined();
  });

  it('R3: makes /readyz of a gateway answer 503 and name the server, and /status tells why', async () => {
    const clock = new FakeClock();
    const { args } = programmed({ eras: 'legacy' }).definition();
    const unit = commandUnit('a', args!, { maxUnreadMs: false });
    const { get, at, status } = await openGateway([unit], { clock });
    await expect.poll(async () => (await get('/readyz')).status).toBe(200);
    expect((await ask(at('/mcp/a'), modernCall(1, 'close-ears'))).status).toBe(200);
    // Not answered before the gateway ends.
    void ask(at('/mcp/a'), modernCall(2, 'echo', { text: HALF_MB })).catch(() => {});
    while ((await get('/readyz')).status === 200 && clock.now() < 1_250_000) await letPass(clock, 1000);
    expect((await get('/readyz')).json).toEqual({ ready: false, waitingFor: ['a'] });
    expect((await status()).servers['a']).toMatchObject({
      state: 'failed',
      reason: expect.stringMatching(/^it has not read its stdin for \d+ s, and \d{6} bytes wait$/),
    });
  });

  it('R3: lives on with maxUnreadMs false', async () => {
    const { clock, host, seen, call } = await deafHost({ maxUnreadMs: false });
    await letPass(clock, 400_000);
    expect(seen.all('kill')).toEqual([]);
    expect((await host.status()).servers['a']).toMatchObject({ state: 'ready' });
    void call;
  });
});
