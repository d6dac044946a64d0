import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { setImmediate } from 'node:timers/promises';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { ensureBuilt } from '../../../../scripts/setup.js';
import { fixture } from '../../../../test/support/child.js';
import { createDeathWatch, type DeathWatchOptions } from '../../src/process/death-watch.js';
import { watchProgram } from '../../src/process/death-watch-program.js';
import { readAllStats } from '../../src/process/proc-stat.js';
import {
  firstLine,
  isAlive,
  killAtTheEnd,
  killGroupAtTheEnd,
  membersOf,
  onLinux,
  start,
  startFixture,
  startStubborn,
  until,
} from '../support/process.js';

beforeAll(() => ensureBuilt()); // The host is a program that uses the built package.

describe.runIf(onLinux)('a host that is killed by SIGKILL', () => {
  it.each([
    ['a child that ignores the end of input and SIGTERM', 'stubborn', 1],
    ['a shell and its grandchild that ignores SIGTERM', 'shell', 2],
    ['a wrapper as npx or uvx, and the server that it started', 'npx', 2],
  ])('leaves no survivor within 2 s (D-25): %s', async (_title, kind, processes) => {
    const host = await startHost(kind, 'wait');
    expect(membersOf(host.child).length).toBe(processes);
    host.process.kill('SIGKILL');
    expect(await host.ended).toEqual({ code: null, signal: 'SIGKILL' });
    await until('nobody is left', () => membersOf(host.child).length === 0);
    await until('the watch is gone', () => !isAlive(host.watch));
    expect(ourZombies()).toEqual([]);
  });

  it('leaves no survivor when that was in the turn in which it started a child (D-25)', async () => {
    const host = await startHost('stubborn', 'at-once');
    expect(await host.ended).toEqual({ code: null, signal: 'SIGKILL' });
    await until('nobody is left', () => membersOf(host.child).length === 0);
    await until('the watch is gone', () => !isAlive(host.watch));
  });

  it('and whose watch got every signal that asks to exit leaves no survivor', async () => {
    const host = await startHost('stubborn', 'wait');
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT'] as const) {
      process.kill(host.watch, signal);
    }
    host.process.kill('SIGKILL');
    await until('nobody is left', () => membersOf(host.child).length === 0);
  });
});

describe.runIf(onLinux)('a host with a death watch takes it with it', () => {
  it.each([
    ['calls process.exit', 'exit', undefined, { code: 7, signal: null }],
    ['dies of an uncaught exception', 'throw', undefined, { code: 1, signal: null }],
    ['dies of SIGTERM', 'wait', 'SIGTERM', { code: null, signal: 'SIGTERM' }],
    ['dies of SIGINT', 'wait', 'SIGINT', { code: null, signal: 'SIGINT' }],
    ['has stopped its child and has nothing else to do', 'leave', undefined, { code: 0, signal: null }],
    ['has stopped its child and closed the watch', 'close', undefined, { code: 0, signal: null }],
  ] as const)('when it %s', async (_title, how, signal, end) => {
    const host = await startHost('npx', how);
    if (signal) host.process.kill(signal);
    expect(await host.ended).toEqual(end);
    await until('nobody is left', () => membersOf(host.child).length === 0);
    await until('the watch is gone', () => !isAlive(host.watch));
  });
});

describe.runIf(onLinux)('the death watch', () => {
  it('starts with the first child, and does not stand in the way of the others', async () => {
    const watch = openWatch();
    expect(watch.pid).toBeUndefined();
    const child = start({ command: 'sleep', args: ['600'], watchers: [watch] });
    const [pid, childPid] = [watch.pid!, child.pid!];
    expect(isAlive(pid)).toBe(true);
    const next = start({ command: 'sleep', args: ['600'], watchers: [watch] });
    expect(watch.pid).toBe(pid);
    // Nothing of our end of its pipe is in the children, or it would never hear of our death.
    await until('they are started', () => sockets(childPid).length === 3 && sockets(next.pid!).length === 3);
    expect([sockets(childPid), sockets(next.pid!)]).toEqual([
      ['0', '1', '2'],
      ['0', '1', '2'],
    ]);
    await watch.close();
    expect([isAlive(pid), isAlive(childPid)]).toEqual([false, true]);
  });

  it('has its own session, the root folder, and nothing of our environment', async () => {
    const watch = openWatch();
    start({ command: 'sleep', args: ['600'], watchers: [watch] });
    const stat = readAllStats().find(({ pid }) => pid === watch.pid);
    expect(stat).toMatchObject({ group: watch.pid, session: watch.pid });
    expect(readlinkSync(`/proc/${watch.pid}/cwd`)).toBe('/');
    await until('it is a shell', () => environmentOf(watch.pid!).length === 1);
    expect(environmentOf(watch.pid!)).toEqual([`PATH=/usr/bin:/bin:${process.env['PATH']}`]);
    const fds = ['1', '2'].map((fd) => readlinkSync(`/proc/${watch.pid}/fd/${fd}`));
    expect(fds).toEqual(['/dev/null', '/dev/null']);
  });

  it('is started anew when it dies, and knows the children of its predecessor', async () => {
    const host = await startHost('stubborn', 'wait');
    // Told when the next one knows the children: a host that is killed before that has had two misfortunes at once.
    const told = firstLine(host.process.stdout);
    process.kill(host.watch, 'SIGKILL');
    const { watch: next } = JSON.parse(await told) as { watch: number };
    expect(next).not.toBe(host.watch);
    killAtTheEnd(next);
    host.process.kill('SIGKILL');
    await until('nobody is left', () => membersOf(host.child).length === 0);
    await until('the watch is gone', () => !isAlive(next));
  });

  it('is not started for ever', async () => {
    const troubles: string[] = [];
    const watch = openWatch({ onTrouble: ({ message }) => troubles.push(message) });
    start({ command: 'sleep', args: ['600'], watchers: [watch] });
    for (let deaths = 1; deaths <= 4; deaths += 1) {
      await until('it runs', () => watch.pid !== undefined);
      process.kill(watch.pid!, 'SIGKILL');
      await until('its death is known', () => troubles.length >= deaths);
    }
    expect(troubles.at(-1)).toBe('the death watch has died 4 times within a minute; it is not started again');
    expect(watch.pid).toBeUndefined();
    const child = start({ command: 'sleep', args: ['600'], watchers: [watch] });
    expect(isAlive(child.pid!)).toBe(true);
  });

  it.each([
    ['does not exist', { command: '/no/such/shell' }, /^the death watch could not be started: .*ENOENT/],
    ['cannot even be tried', { command: 'a\0b' }, /^the death watch could not be started: .*null bytes/],
    [
      'does not fit',
      { env: { BIG: 'x'.repeat(8_000_000) } },
      /^the death watch could not be started: .*E2BIG/,
    ],
  ])('costs no child when its program %s', async (_title, wrong, reason) => {
    const troubles: string[] = [];
    const program = { ...watchProgram(), ...wrong };
    const watch = openWatch({ program, onTrouble: ({ message }) => troubles.push(message) });
    const child = start({ command: 'sleep', args: ['600'], watchers: [watch] });
    await until('the trouble is told', () => troubles.length > 0);
    expect(troubles[0]).toMatch(reason);
    expect([watch.pid, isAlive(child.pid!)]).toEqual([undefined, true]);
    await watch.close();
  });

  it('is replaced when it does not read, before what it knows grows too old', async () => {
    const troubles: string[] = [];
    const program = { ...watchProgram(), command: '/bin/sleep', args: ['600'] };
    const watch = openWatch({ program, onTrouble: ({ message }) => troubles.push(message) });
    watch.started(2 ** 30);
    for (let pid = 2 ** 30 + 1; troubles.length === 0 && pid < 2 ** 30 + 200_000; pid += 1) {
      watch.started(pid);
      watch.ended(pid);
      if (pid % 1000 === 0) await setImmediate();
    }
    expect(troubles[0]).toBe('the death watch has exited unexpectedly (SIGKILL)');
  });

  it('settles its close always, and twice', async () => {
    const never = openWatch();
    await never.close();
    never.started(2 ** 30);
    expect(never.pid).toBeUndefined();

    const watch = openWatch();
    const child = await startStubborn();
    watch.started(child);
    const pid = killAtTheEnd(watch.pid!);
    process.kill(pid, 'SIGSTOP'); // It hears nothing any more.
    const closing = watch.close();
    expect(watch.close()).toBe(closing);
    await closing;
    await until('it is gone', () => !isAlive(pid));
    expect(membersOf(child)).toEqual([child]);
  });

  it('counts no zombies after many children (D-19)', async () => {
    const watch = openWatch();
    const children = Array.from({ length: 20 }, () =>
      start({ command: 'sh', args: ['-c', 'sleep 600 & wait'], watchers: [watch] }),
    );
    await Promise.all(children.map((child) => child.kill()));
    await watch.close();
    expect(ourZombies()).toEqual([]);
  });
});

describe.runIf(onLinux)('watchers', () => {
  it('are told in the turn of the start, and once of the end', async () => {
    const told: string[] = [];
    const watcher = {
      started: (pid: number) => told.push(`started ${pid}`),
      ended: (pid: number) => told.push(`ended ${pid} ${isAlive(pid) ? 'alive' : 'gone'}`),
    };
    const hostile = {
      started() {
        throw new Error('started');
      },
      ended() {
        throw new Error('ended');
      },
    };
    const child = startFixture('child-with-grandchild.mjs', [], { watchers: [hostile, watcher] });
    expect(told).toEqual([`started ${child.pid}`]);
    const grandchild = killAtTheEnd(Number(await firstLine(child.stdout)));
    await Promise.all([child.stop(), child.stop()]);
    expect(isAlive(grandchild)).toBe(false);
    expect(told).toEqual([`started ${child.pid}`, `ended ${child.pid} gone`]);
  });

  it('hear nothing of what could not be started', async () => {
    const told: number[] = [];
    const watcher = { started: (pid: number) => told.push(pid), ended: (pid: number) => told.push(pid) };
    await start({ command: 'no-such-command-anywhere', watchers: [watcher] }).stop();
    expect(told).toEqual([]);
  });
});

async function startHost(kind: string, how: string) {
  const host = spawn(process.execPath, [fixture('host-with-death-watch.mjs'), kind, how], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  killAtTheEnd(host.pid!);
  const ended = once(host, 'exit').then(([code, signal]) => ({ code, signal }));
  const { child, watch } = JSON.parse(await firstLine(host.stdout)) as { child: number; watch: number };
  killGroupAtTheEnd(child);
  killAtTheEnd(watch);
  return { process: host, ended, child, watch };
}

function openWatch(options?: DeathWatchOptions) {
  const watch = createDeathWatch(options);
  onTestFinished(() => watch.close());
  return watch;
}

function sockets(pid: number): readonly string[] {
  return readdirSync(`/proc/${pid}/fd`).filter((fd) => Number(fd) < 100);
}

function environmentOf(pid: number): readonly string[] {
  return readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0').filter(Boolean);
}

function ourZombies(): readonly number[] {
  return readAllStats()
    .filter((stat) => stat.state === 'Z' && stat.parent === process.pid)
    .map(({ pid }) => pid);
}
