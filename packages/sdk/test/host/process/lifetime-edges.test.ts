import { describe, expect, it, test } from 'vitest';
import { FakeClock } from '../../../../../test/support/fake-clock.js';
import type { HostEvent } from '../../../src/host/host-event.js';
import { failure, isSettled, settle, textOf } from '../../support/client/open-client.js';
import { openHost, programmed, until } from '../../support/host-lifetime.js';
import { isAlive } from '../../support/process.js';

describe('somebody who watches and acts at once', () => {
  test.each(['start', 'ready', 'receipt', 'exit', 'restart'] as const)(
    'may close the host on %s',
    async (kind) => {
      const server = programmed();
      const { host, seen } = openHost({ servers: { a: server.definition() } });
      let closed: Promise<void> | undefined;
      host.watch((event) => {
        if (event.kind === kind) closed ??= host.close();
      });
      const call = host
        .conversation('a')
        .callTool('whoami')
        .catch(() => {});
      if (kind === 'exit' || kind === 'restart') {
        await seen.nth('receipt');
        process.kill(server.starts()[0]!, 'SIGKILL');
      }
      await seen.nth(kind);
      await closed;
      await call;
      expect(server.starts().filter(isAlive)).toEqual([]);
      expect(seen.all('start')).toHaveLength(1);
    },
  );

  test.each(['ready', 'receipt'] as const)('may kill the process on %s', async (kind) => {
    const clock = new FakeClock();
    const server = programmed();
    const { host, seen } = openHost({ clock, servers: { a: server.definition() } });
    const kill = (event: HostEvent) => {
      if (event.kind !== kind) return;
      stop();
      process.kill(server.starts()[0]!, 'SIGKILL');
    };
    const stop = host.watch(kill);
    const chat = host.conversation('a');
    await chat.callTool('whoami').catch(() => {});
    clock.advance((await seen.nth('restart')).delayMs);
    expect(textOf(await chat.callTool('whoami'))).toBe(String(server.starts()[1]));
    await until('the second receipt is there', () => seen.all('receipt').at(-1)?.receipt.generation === 2);
  });

  test.each(['exit', 'restart'] as const)('may restart on %s', async (kind) => {
    const clock = new FakeClock();
    const server = programmed();
    const { host, seen } = openHost({ clock, servers: { a: server.definition() } });
    const chat = host.conversation('a');
    await chat.callTool('whoami');
    await seen.nth('receipt');
    let restarted: Promise<void> | undefined;
    host.watch((event) => {
      if (event.kind === kind) restarted ??= host.restart('a');
    });
    process.kill(server.starts()[0]!, 'SIGKILL');
    await seen.nth('restart');
    await restarted;
    expect(textOf(await chat.callTool('whoami'))).toBe(String(server.starts()[1]));
    clock.advance(5000);
    await settle();
    expect(server.starts()).toHaveLength(2);
    expect(server.starts().filter(isAlive)).toHaveLength(1);
  });
});

describe('a subscription to a server that is switched off', () => {
  it('ends with that as its reason, and another one works when it is switched on', async () => {
    const server = programmed({ resources: true });
    const { host } = openHost({ servers: { a: server.definition() } });
    const chat = host.conversation('a');
    const changes = await chat.listen({ uris: ['memo://1'] });
    const end = failure(changes[Symbol.asyncIterator]().next());
    await host.disable('a');
    expect(await end).toMatchObject({ code: 'DISABLED' });
    await host.enable('a');
    const again = await chat.listen({ uris: ['memo://1'] });
    const news = again[Symbol.asyncIterator]().next();
    await chat.callTool('tell', { uri: 'memo://1' });
    expect((await news).value).toEqual({ kind: 'resource', uri: 'memo://1' });
    again.close();
  });
});

describe('a subscription to a server with another configuration', () => {
  it.each([false, true])('goes on with the new process (overlap: %s)', async (overlap) => {
    const old = programmed({ resources: true });
    const fresh = programmed({ resources: true, eras: 'legacy' });
    const { host } = openHost({ servers: { a: old.definition({ overlap }) } });
    const chat = host.conversation('a');
    const changes = await chat.listen({ uris: ['memo://1'] });
    const news = changes[Symbol.asyncIterator]().next();
    await host.configure({ a: fresh.definition({ overlap }) });
    await until('it is subscribed', () =>
      fresh.journal().some(({ method }) => method === 'resources/subscribe'),
    );
    await chat.callTool('tell', { uri: 'memo://1' });
    expect((await news).value).toEqual({ kind: 'resource', uri: 'memo://1' });
    await until('the old one is gone', () => old.starts().filter(isAlive).length === 0);
    changes.close();
  });
});

describe('another model of processes', () => {
  it('holds for the conversations that are open', async () => {
    const server = programmed();
    const { host } = openHost({ servers: { a: server.definition() } });
    const chats = [host.conversation('a'), host.conversation('a')];
    const whoami = () => Promise.all(chats.map(async (chat) => textOf(await chat.callTool('whoami'))));
    expect(new Set(await whoami()).size).toBe(1);
    await host.configure({ a: server.definition({ processes: 'per-conversation' }) });
    expect(new Set(await whoami()).size).toBe(2);
    await host.configure({ a: server.definition({ processes: { pool: 2 } }) });
    await whoami();
    expect(server.starts().filter(isAlive).length).toBeLessThanOrEqual(2);
    // These have no principal, and say so from now on.
    await host.configure({ a: server.definition({ processes: 'per-principal' }) });
    expect(await failure(chats[0]!.callTool('whoami'))).toMatchObject({ code: 'INVALID_OPTION', sent: 'no' });
    await host.configure({ a: server.definition() });
    expect(new Set(await whoami()).size).toBe(1);
    expect(server.starts().filter(isAlive)).toHaveLength(1);
  });
});

describe('the time of a call', () => {
  it('includes the wait for its process', async () => {
    const clock = new FakeClock();
    const server = programmed();
    const { host, seen } = openHost({ clock, servers: { a: server.definition() } });
    const chat = host.conversation('a');
    await chat.callTool('whoami');
    await seen.nth('receipt');
    process.kill(server.starts()[0]!, 'SIGKILL');
    const { delayMs } = await seen.nth('restart');
    const call = failure(chat.callTool('hold', {}, { timeoutMs: delayMs + 500 }));
    await settle();
    clock.advance(delayMs);
    await until('it runs', () => server.ran().length === 1);
    clock.advance(499);
    expect(await isSettled(call)).toBe(false);
    clock.advance(1);
    await settle();
    expect(await isSettled(call)).toBe(true);
    expect(await call).toMatchObject({ code: 'TIMED_OUT', sent: 'maybe', generation: 2 });
  });
});

describe('a place that nobody needs any more', () => {
  it('is given up when the conversation that waits for it is closed', async () => {
    const server = programmed();
    const { host, seen } = openHost({
      servers: { a: server.definition({ processes: 'per-conversation', maxProcesses: 1 }) },
    });
    const [one, two, three] = [host.conversation('a'), host.conversation('a'), host.conversation('a')];
    await one.callTool('whoami');
    const unwanted = failure(two.callTool('whoami'));
    await seen.nth('queue');
    const wanted = three.callTool('whoami');
    await seen.nth('queue', 2);
    await two.close();
    expect(await unwanted).toMatchObject({ sent: 'no' });
    await one.close();
    expect(textOf(await wanted)).toBe(String(server.starts()[1]));
    expect(server.starts()).toHaveLength(2);
  });

  it('is given back when a start fails', async () => {
    const bad = programmed({ die: 3 });
    const good = programmed();
    const { host } = openHost({
      maxProcesses: 1,
      servers: {
        bad: bad.definition({ restart: false }),
        absent: { command: '/no/such/program' },
        good: good.definition(),
      },
    });
    await failure(host.start('bad'));
    await failure(host.start('absent'));
    expect((await host.status()).processes).toBe(0);
    expect(textOf(await host.conversation('good').callTool('whoami'))).toBe(String(good.starts()[0]));
  });

  it('is given back when a process crashes, also to somebody else', async () => {
    const clock = new FakeClock();
    const one = programmed();
    const two = programmed();
    const { host, seen } = openHost({
      clock,
      maxProcesses: 1,
      servers: { one: one.definition(), two: two.definition({ idleMs: 60_000 }) },
    });
    const chat = host.conversation('one');
    await chat.callTool('whoami');
    await seen.nth('receipt');
    const call = host.conversation('two').callTool('whoami');
    expect(await isSettled(call)).toBe(false);
    process.kill(one.starts()[0]!, 'SIGKILL');
    expect(textOf(await call)).toBe(String(two.starts()[0]));
    await seen.nth('receipt', 2);
    // The first one waits its turn, and gets it.
    clock.advance((await seen.nth('restart')).delayMs);
    const again = chat.callTool('whoami');
    expect(await isSettled(again)).toBe(false);
    clock.advance(59_000);
    expect(textOf(await again)).toBe(String(one.starts()[1]));
  });
});

describe('everything at once', () => {
  it('restart, disable, enable, configure and close in one turn end with nothing left', async () => {
    const server = programmed();
    const { host } = openHost({ servers: { a: server.definition() } });
    const chat = host.conversation('a');
    await chat.callTool('whoami');
    const work = [
      host.restart('a'),
      host.disable('a'),
      host.enable('a'),
      host.configure({ a: server.definition({ timeoutMs: 9000 }) }),
      host.restart('a'),
      chat.callTool('whoami'),
    ].map((each) => each.catch((error: Error) => error));
    await settle();
    await host.close();
    await Promise.all(work);
    expect(server.starts().filter(isAlive)).toEqual([]);
    expect((await host.status()).processes).toBe(0);
    const starts = server.starts().length;
    await settle();
    expect(server.starts()).toHaveLength(starts);
  });

  it('and without the close it serves', async () => {
    const server = programmed();
    const { host } = openHost({ servers: { a: server.definition() } });
    const chat = host.conversation('a');
    await chat.callTool('whoami');
    await Promise.all(
      [
        host.restart('a'),
        host.disable('a'),
        host.enable('a'),
        host.restart('a'),
        host.configure({ a: server.definition({ timeoutMs: 9000 }) }),
      ].map((each) => each.catch((error: Error) => error)),
    );
    expect(textOf(await chat.callTool('whoami'))).toBe(String(server.starts().at(-1)));
    expect(server.starts().filter(isAlive)).toHaveLength(1);
    expect(server.mostAlive()).toBe(1);
  });
});
