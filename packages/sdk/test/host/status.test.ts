import diagnostics from 'node:diagnostics_channel';
import { describe, expect, it, onTestFinished } from 'vitest';
import { FakeClock } from '../../../../test/support/fake-clock.js';
import type { HostEvent } from '../../src/host/host-event.js';
import { failure, settle, textOf } from '../support/client/open-client.js';
import { openHost, programmed, until } from '../support/host-lifetime.js';
import { onLinux } from '../support/process.js';

describe('the status', () => {
  it('of a server that was never used says so', async () => {
    const { host } = openHost({ servers: { a: { command: 'x' } }, maxProcesses: 7 });
    expect(await host.status()).toEqual({
      processes: 0,
      maxProcesses: 7,
      servers: {
        a: {
          name: 'a',
          enabled: true,
          state: 'idle',
          ready: false,
          model: 'shared',
          conversations: 0,
          inFlight: 0,
          parked: 0,
          maxParked: 1000,
          queued: 0,
          restarts: 0,
          processes: [],
          lastExit: undefined,
        },
      },
    });
  });

  it.each(['legacy', 'modern'] as const)('of a %s server that serves tells all there is', async (eras) => {
    const clock = new FakeClock();
    const server = programmed({ eras });
    const { host, seen } = openHost({ clock, servers: { a: server.definition() } });
    const chat = host.conversation('a');
    await chat.callTool('whoami');
    await seen.nth('receipt');
    const began = clock.now();
    clock.advance(5000);
    const held = chat.callTool('hold');
    await until('it runs', () => server.ran().length === 1);
    const { servers, processes } = await host.status();
    expect(processes).toBe(1);
    expect(servers['a']).toMatchObject({
      state: 'ready',
      ready: true,
      conversations: 1,
      inFlight: 1,
      queued: 0,
      restarts: 0,
      lastExit: undefined,
    });
    const [process_] = servers['a']!.processes;
    const [pid] = server.starts();
    const handshake = eras === 'modern' ? 'server/discover' : 'initialize';
    expect(process_).toMatchObject({
      state: 'ready',
      generation: 1,
      pid,
      owner: undefined,
      era: eras,
      verdict: { era: eras, revision: eras === 'modern' ? '2026-07-28' : '2025-11-25', source: 'probe' },
      uptimeMs: 5000,
      receipt: {
        generation: 1,
        pid,
        handshake,
        handshakeAt: began,
        list: { method: 'tools/list', items: 8, at: began },
        listError: undefined,
        complete: true,
      },
    });
    if (onLinux) {
      expect(process_!.facts).toMatchObject({ processes: 1, stopped: false });
      expect(process_!.facts!.rssBytes).toBeGreaterThan(10_000_000);
      expect(process_!.facts!.cpuMs).toBeGreaterThan(0);
    }
    process.kill(pid!, 'SIGUSR2');
    await held;
  });
});

describe('readiness', () => {
  it('is not had by a process that answers the handshake but not its first list', async () => {
    const clock = new FakeClock();
    const server = programmed({ silentOn: 'tools/list' });
    const { host, seen } = openHost({ clock, servers: { a: server.definition({ timeoutMs: 5000 }) } });
    const chat = host.conversation('a');
    await chat.callTool('whoami');
    expect((await host.status()).servers['a']).toMatchObject({ state: 'ready', ready: false });
    clock.advance(5000);
    const { receipt } = await seen.nth('receipt');
    expect(receipt).toMatchObject({ complete: false, list: undefined, generation: 1 });
    expect(receipt.listError).toContain('5000 ms');
    expect((await host.status()).servers['a']).toMatchObject({ state: 'ready', ready: false });
  });

  it('is a receipt of the current process, never of the one before', async () => {
    const clock = new FakeClock();
    const server = programmed({}, { silentOn: 'tools/list' });
    const { host, seen } = openHost({ clock, servers: { a: server.definition() } });
    const chat = host.conversation('a');
    await chat.callTool('whoami');
    await seen.nth('receipt');
    expect((await host.status()).servers['a']).toMatchObject({ ready: true });
    process.kill(server.starts()[0]!, 'SIGKILL');
    const { delayMs } = await seen.nth('restart');
    expect((await host.status()).servers['a']).toMatchObject({ ready: false });
    clock.advance(delayMs);
    expect(textOf(await chat.callTool('whoami'))).toBe(String(server.starts()[1]));
    const { ready, processes } = (await host.status()).servers['a']!;
    expect(ready).toBe(false);
    expect(processes[0]!.receipt).toMatchObject({ generation: 2, pid: server.starts()[1], complete: false });
  });

  it('is lost while the process is started, drained or switched off', async () => {
    const server = programmed();
    const { host, seen } = openHost({ servers: { a: server.definition() } });
    const states: [string, boolean][] = [];
    const look = async () => {
      const { state, ready } = (await host.status()).servers['a']!;
      states.push([state, ready]);
    };
    await look();
    const held = host.conversation('a').callTool('hold');
    await seen.nth('start');
    await look();
    await seen.nth('receipt');
    await look();
    await until('it runs', () => server.ran().length === 1);
    const disabled = host.disable('a');
    await seen.nth('drain');
    await look();
    process.kill(server.starts()[0]!, 'SIGUSR2');
    await held;
    await disabled;
    await look();
    expect(states).toEqual([
      ['idle', false],
      ['starting', false],
      ['ready', true],
      ['stopped', false],
      ['stopped', false],
    ]);
  });
});

describe('the events of a host', () => {
  it('tell the life of a process in order, here and on the channel isthmus:host', async () => {
    const clock = new FakeClock();
    const server = programmed({ say: 'hello from stderr' });
    const published: HostEvent[] = [];
    const listener = (message: unknown) => published.push(message as HostEvent);
    diagnostics.subscribe('isthmus:host', listener);
    onTestFinished(() => {
      diagnostics.unsubscribe('isthmus:host', listener);
    });
    const { host, seen } = openHost({ clock, servers: { a: server.definition() } });
    const chat = host.conversation('a');
    await chat.callTool('whoami');
    await seen.nth('receipt');
    process.kill(server.starts()[0]!, 'SIGKILL');
    clock.advance((await seen.nth('restart')).delayMs);
    await seen.nth('receipt', 2);
    await host.restart('a');
    await seen.nth('receipt', 3);
    await host.close();
    const told = seen.events.filter(({ kind }) => kind !== 'stderr');
    expect(told.map(({ kind }) => kind)).toEqual([
      ...['start', 'ready', 'receipt', 'exit', 'restart'],
      ...['start', 'ready', 'receipt', 'drain', 'exit'],
      ...['start', 'ready', 'receipt', 'drain', 'exit'],
    ]);
    expect(seen.all('ready').map(({ generation, pid }) => [generation, pid])).toEqual(
      server.starts().map((pid, at) => [at + 1, pid]),
    );
    expect(seen.all('exit').map(({ generation, expected }) => [generation, expected])).toEqual([
      [1, false],
      [2, true],
      [3, true],
    ]);
    expect(new Set(told.map((event) => event.server))).toEqual(new Set(['a']));
    expect(told[0]!.at).toBe(1_000_000);
    expect(seen.all('stderr')[0]).toMatchObject({
      generation: 1,
      pid: server.starts()[0],
      text: 'hello from stderr\n',
    });
    expect(published).toEqual(seen.events);
  });

  it('leave out stderr with logStderr: false, and errors quote the end of it all the same', async () => {
    const server = programmed({ die: 3, say: 'missing API key' });
    const { host, seen } = openHost({ servers: { a: server.definition({ logStderr: false }) } });
    const error = await failure(host.conversation('a').callTool('whoami'));
    expect(error).toMatchObject({ code: 'CHILD_EXITED', stderrTail: 'missing API key\n' });
    expect(seen.all('stderr')).toEqual([]);
  });

  it('say why a process is started', async () => {
    const clock = new FakeClock();
    const server = programmed();
    const { host, seen } = openHost({
      clock,
      servers: { a: server.definition({ start: 'eager', maxAgeMs: 100_000 }) },
    });
    await seen.nth('receipt');
    process.kill(server.starts()[0]!, 'SIGKILL');
    clock.advance((await seen.nth('restart')).delayMs);
    await seen.nth('receipt', 2);
    await host.restart('a');
    await seen.nth('receipt', 3);
    clock.advance(100_000);
    await seen.nth('receipt', 4);
    await host.configure({ a: server.definition() });
    await host.conversation('a').callTool('whoami');
    expect(seen.all('start').map(({ why }) => why)).toEqual(['eager', 'crash', 'restart', 'age', 'use']);
  });

  it('are not told to somebody who has stopped watching, nor hurt by somebody who throws', async () => {
    const server = programmed();
    const { host, seen } = openHost({ servers: { a: server.definition() } });
    let told = 0;
    const stop = host.watch(() => {
      told += 1;
    });
    host.watch(() => {
      throw new Error('I do not like this');
    });
    await host.start('a');
    await seen.nth('receipt');
    const before = told;
    expect(before).toBeGreaterThan(0);
    stop();
    stop();
    await host.restart('a');
    expect(told).toBe(before);
  });

  it('of one server do not name another', async () => {
    const one = programmed();
    const { host, seen } = openHost({
      servers: { one: one.definition(), two: { command: '/no/such/program' } },
    });
    await host.start('one');
    await seen.nth('receipt');
    await failure(host.start('two'));
    await settle();
    expect(seen.kinds('one')).toEqual(['start', 'ready', 'receipt']);
    expect(seen.kinds('two')).toEqual(['start', 'exit']);
  });
});
