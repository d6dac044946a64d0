import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { beforeAll, describe, expect, it } from 'vitest';
import { ensureBuilt } from '../../../../scripts/setup.js';
import { fixture } from '../../../../test/support/child.js';
import { guardAgainstOrphaning } from '../../src/process/orphan-guard.js';
import { firstLine, isAlive, killAtTheEnd, onPosix, startFixture, until } from '../support/process.js';

beforeAll(() => ensureBuilt()); // The host is a program that uses the built package.

describe.runIf(onPosix)('children do not outlive a host', () => {
  it.each([
    ['that calls process.exit', 'exit', { code: 7, signal: null }],
    ['that dies of an uncaught exception', 'throw', { code: 1, signal: null }],
  ])('%s', async (_title, how, end) => {
    const host = await startHost(how);
    expect(await host.ended).toEqual(end);
    await until('child and grandchild are gone', () => !host.pids.some(isAlive));
  });

  it.each(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)('that dies of %s', async (signal) => {
    const host = await startHost('wait');
    host.process.kill(signal);
    expect(await host.ended).toEqual({ code: null, signal });
    await until('child and grandchild are gone', () => !host.pids.some(isAlive));
  });

  it('nor do they die of a signal that the host handles', async () => {
    const host = await startHost('handle');
    const handled = firstLine(host.process.stdout);
    host.process.kill('SIGTERM');
    expect(await handled).toBe('handled');
    expect(host.pids.map(isAlive)).toEqual([true, true]);
    // Nor did handling it once take the guard away.
    host.process.kill('SIGTERM');
    expect(await host.ended).toEqual({ code: null, signal: 'SIGTERM' });
    await until('child and grandchild are gone', () => !host.pids.some(isAlive));
  });

  it('that is killed, for as far as they heed the end of their input', async () => {
    const host = await startHost('wait');
    host.process.kill('SIGKILL');
    const [child] = host.pids;
    await until('the child is gone', () => !isAlive(child!));
  });
});

describe('the guard', () => {
  const events = ['exit', 'SIGINT', ...(onPosix ? ['SIGTERM', 'SIGHUP'] : [])];
  const listeners = () => events.map((event) => process.listenerCount(event));

  it('listens once for any number of children, and not at all when none is left', () => {
    const before = listeners();
    // Numbers that are never used: they are released before anything could be killed.
    const release = [2 ** 30, 2 ** 30, 2 ** 30 + 1].map(guardAgainstOrphaning);
    expect(listeners()).toEqual(before.map((count) => count + 1));
    release[0]!();
    release[0]!();
    release[1]!();
    expect(listeners()).toEqual(before.map((count) => count + 1));
    release[2]!();
    expect(listeners()).toEqual(before);
  });

  it('lets go of a child that has exited by itself, or was never there', async () => {
    const before = listeners();
    const child = startFixture('child-that-dies-at-start.mjs');
    await child.stop();
    expect(listeners()).toEqual(before);
  });
});

async function startHost(how: string) {
  const host = spawn(process.execPath, [fixture('host-that-exits.mjs'), how], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  killAtTheEnd(host.pid!);
  const ended = once(host, 'exit').then(([code, signal]) => ({ code, signal }));
  const pids = (await firstLine(host.stdout)).split(' ').map(Number);
  expect(pids.length).toBe(2);
  for (const pid of pids) killAtTheEnd(pid);
  return { process: host, ended, pids };
}
