import { symlinkSync, unlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { FakeClock } from '../../../../../test/support/fake-clock.js';
import { createHost } from '../../../src/host/create-host.js';
import { failure, settle, textOf } from '../../support/client/open-client.js';
import { childrenOf, openHost, programmed, until } from '../../support/host-lifetime.js';
import { isAlive, temporaryFolder } from '../../support/process.js';

/** Unhandled rejections end a program: nothing of the host may cause one. */
function noteUnhandled(): unknown[] {
  const noted: unknown[] = [];
  const note = (reason: unknown) => noted.push(reason);
  const others = process.listeners('unhandledRejection');
  process.removeAllListeners('unhandledRejection');
  process.on('unhandledRejection', note);
  onTestFinished(() => {
    process.off('unhandledRejection', note);
    for (const other of others) process.on('unhandledRejection', other);
  });
  return noted;
}

describe('closing the host', () => {
  it('waits for the process of a definition that is being replaced', async () => {
    const server = programmed({ stubborn: true });
    const { host, seen } = openHost({ servers: { a: server.definition() } });
    const chat = host.conversation('a');
    const held = failure(chat.callTool('hold'));
    await until('it is held', () => server.ran().length === 1);
    const [pid] = server.starts();
    const configured = host.configure({ a: server.definition({ timeoutMs: 5000 }) });
    await seen.nth('drain');
    await host.close();
    expect(isAlive(pid!)).toBe(false);
    await configured.catch(() => {});
    expect(await held).toMatchObject({ sent: 'maybe' });
  });

  it('waits for the process of a server that is no longer configured', async () => {
    const server = programmed();
    const { host, seen } = openHost({ servers: { a: server.definition() } });
    const held = failure(host.conversation('a').callTool('hold'));
    await until('it is held', () => server.ran().length === 1);
    const [pid] = server.starts();
    const configured = host.configure({});
    await seen.nth('drain');
    await host.close();
    expect(isAlive(pid!)).toBe(false);
    await configured;
    expect(await held).toMatchObject({ sent: 'maybe' });
  });

  it('gives calls no longer than it says, though a restart would wait longer', async () => {
    const clock = new FakeClock();
    const server = programmed();
    const { host, seen } = openHost({ clock, servers: { a: server.definition() } });
    const held = failure(host.conversation('a').callTool('hold'));
    await until('it is held', () => server.ran().length === 1);
    const restarted = host.restart('a').catch(() => {});
    await seen.nth('drain');
    let closed = false;
    const closing = host.close({ drainMs: 100 }).then(() => {
      closed = true;
    });
    await settle();
    clock.advance(100);
    await until('it is closed', () => closed);
    await Promise.all([closing, restarted]);
    expect(await held).toMatchObject({ sent: 'maybe' });
    expect(server.starts().filter(isAlive)).toEqual([]);
  });
});

describe('a host whose servers are not all sound', () => {
  it('starts none of them when one definition is invalid', async () => {
    const server = programmed();
    const before = childrenOf(process.pid);
    expect(() =>
      createHost({
        ledger: false,
        cache: false,
        servers: { good: server.definition({ start: 'eager' }), bad: { command: '' } },
      }),
    ).toThrow('Server bad: command must be the name or path of a program');
    // The turns in which it would have been spawned.
    await settle();
    // A child of an earlier test may end meanwhile.
    expect(childrenOf(process.pid).filter((pid) => !before.includes(pid))).toEqual([]);
    expect(server.starts()).toEqual([]);
  });

  it('has no use for a process in a crash loop while another one of the pool is ready', async () => {
    const unhandled = noteUnhandled();
    const server = programmed();
    const { host, seen } = openHost({
      servers: { a: server.definition({ processes: { pool: 2 }, restart: { attempts: 0 } }) },
    });
    await host.start('a');
    await seen.nth('receipt', 2);
    process.kill(server.starts()[0]!, 'SIGKILL');
    await seen.nth('crash-loop');
    const chat = host.conversation('a');
    expect(textOf(await chat.callTool('whoami'))).toBe(String(server.starts()[1]));
    await settle();
    expect(unhandled).toEqual([]);
  });
});

describe('a process of its own for each conversation', () => {
  it('is its own also when two conversations have the same name', async () => {
    const server = programmed();
    const { host } = openHost({ servers: { a: server.definition({ processes: 'per-conversation' }) } });
    const one = host.conversation('a', { name: 'chat' });
    const two = host.conversation('a', { name: 'chat' });
    const first = textOf(await one.callTool('whoami'));
    const second = textOf(await two.callTool('whoami'));
    expect(first).not.toBe(second);
    await one.close();
    expect(textOf(await two.callTool('whoami'))).toBe(second);
  });

  it('is not started for a conversation that was closed while it waited', async () => {
    const server = programmed();
    const { host, seen } = openHost({ servers: { a: server.definition({ processes: 'per-conversation' }) } });
    const one = host.conversation('a');
    const held = one.callTool('hold');
    await until('it is held', () => server.ran().length === 1);
    const restarted = host.restart('a');
    await seen.nth('drain');
    const two = host.conversation('a');
    const late = failure(two.callTool('whoami'));
    await settle();
    await two.close();
    expect(await late).toMatchObject({ sent: 'no' });
    process.kill(server.starts()[0]!, 'SIGUSR2');
    await held;
    await restarted;
    await settle();
    await seen.nth('ready', 2);
    const { processes } = (await host.status()).servers['a']!;
    expect(processes.map(({ owner }) => owner)).toEqual(['a#1']);
    expect(seen.all('start')).toHaveLength(2);
  });

  it('is not started for a conversation that is closed in the turn of its first call', async () => {
    const server = programmed();
    const { host, seen } = openHost({ servers: { a: server.definition({ processes: 'per-conversation' }) } });
    const chat = host.conversation('a');
    const call = failure(chat.callTool('whoami'));
    await chat.close();
    expect(await call).toMatchObject({ code: 'CONNECTION_CLOSED', sent: 'no' });
    const other = host.conversation('a');
    await other.callTool('whoami');
    expect((await host.status()).servers['a']!.processes.map(({ owner }) => owner)).toEqual(['a#2']);
    expect((await host.status()).processes).toBe(1);
    expect(seen.all('ready')).toHaveLength(1);
  });
});

describe('switching a server on and off', () => {
  it('ends as the last word says: enabled, then disabled', async () => {
    const server = programmed();
    const { host } = openHost({ servers: { a: server.definition() } });
    const chat = host.conversation('a');
    await chat.callTool('whoami');
    await host.disable('a');
    await Promise.all([host.enable('a'), host.disable('a')]);
    expect((await host.status()).servers['a']).toMatchObject({ enabled: false, state: 'stopped' });
    expect(await failure(chat.callTool('whoami'))).toMatchObject({ code: 'DISABLED', sent: 'no' });
    await host.enable('a');
    expect(textOf(await chat.callTool('whoami'))).toBe(String(server.starts().at(-1)));
  });

  it('ends as the last word says: configured anew, then disabled', async () => {
    const server = programmed();
    const { host } = openHost({ servers: { a: server.definition() } });
    const chat = host.conversation('a');
    await chat.callTool('whoami');
    await Promise.all([host.configure({ a: server.definition({ timeoutMs: 5000 }) }), host.disable('a')]);
    expect((await host.status()).servers['a']).toMatchObject({ enabled: false, state: 'stopped' });
    expect(await failure(chat.callTool('whoami'))).toMatchObject({ code: 'DISABLED', sent: 'no' });
    await host.enable('a');
    expect(textOf(await chat.callTool('whoami'))).toBe(String(server.starts().at(-1)));
  });
});

describe('two reasons to replace a process at the same time', () => {
  it('leave one process and no leftovers: its age during a restart that overlaps', async () => {
    const clock = new FakeClock();
    const server = programmed();
    const { host, seen } = openHost({
      clock,
      servers: { a: server.definition({ overlap: true, maxAgeMs: 500 }) },
    });
    const chat = host.conversation('a');
    await chat.callTool('whoami');
    const restarted = host.restart('a');
    await seen.nth('start', 2);
    clock.advance(500);
    await restarted;
    await seen.nth('exit');
    await settle();
    await until('one is left', () => server.starts().filter(isAlive).length === 1);
    await host.close();
    expect(server.starts().filter(isAlive)).toEqual([]);
  });
});

describe('a subscription whose process cannot be had', () => {
  it('ends with the exit where a server is started only by its use', async () => {
    const server = programmed({ resources: true }, { die: 3 });
    const { host, seen } = openHost({ servers: { a: server.definition({ restart: false }) } });
    const changes = await host.conversation('a').listen({ tools: true });
    const end = failure(changes[Symbol.asyncIterator]().next());
    process.kill(server.starts()[0]!, 'SIGKILL');
    expect(await end).toMatchObject({ code: 'CHILD_EXITED' });
    await settle();
    expect(seen.all('start')).toHaveLength(1);
  });

  it('ends, and asks no more, where the program is no longer there', async () => {
    const clock = new FakeClock();
    const folder = temporaryFolder();
    const server = programmed({ resources: true });
    const command = join(folder, 'node');
    symlinkSync(process.execPath, command);
    const { host, seen } = openHost({
      clock,
      servers: { a: server.definition({ command, restart: { attempts: 1 } }) },
    });
    const changes = await host.conversation('a').listen({ tools: true });
    const end = failure(changes[Symbol.asyncIterator]().next());
    unlinkSync(command);
    process.kill(server.starts()[0]!, 'SIGKILL');
    clock.advance((await seen.nth('restart')).delayMs);
    expect(['CANNOT_START', 'CRASH_LOOP']).toContain((await end).code);
    await settle();
    expect(seen.all('start')).toHaveLength(2);
  });
});
