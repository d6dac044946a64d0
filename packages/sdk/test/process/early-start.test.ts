import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { FakeClock } from '../../../../test/support/fake-clock.js';
import type { ChildOptions } from '../../src/process/child.js';
import { startEarly } from '../../src/process/start-process.js';
import { firstLine, start, temporaryFolder, until } from '../support/process.js';

/** A command that runs `before`, writes its number to a file, and then runs `code`. */
function recorded(
  code: string,
  before = '',
): { readonly options: ChildOptions; starts(): readonly string[] } {
  const file = join(temporaryFolder(), 'starts');
  const script = `const fs = require('node:fs');${before}fs.appendFileSync(process.argv[1], process.pid + '\\n');${code}`;
  return {
    options: { command: process.execPath, args: ['-e', script, file] },
    starts() {
      try {
        return readFileSync(file, 'utf8').split('\n').slice(0, -1);
      } catch {
        return [];
      }
    },
  };
}

describe('a process that was started early', () => {
  it('is taken by the first child with the same options', async () => {
    const { options, starts } = recorded('console.log(process.pid); process.stdin.resume();');
    startEarly(options);
    const [pid] = await until('it has started', () => starts().length === 1 && starts());
    const child = start({ ...options });
    expect(String(child.pid)).toBe(pid);
    expect(await firstLine(child.stdout)).toBe(pid);
    const second = start({ ...options });
    await firstLine(second.stdout);
    expect(starts()).toEqual([pid, String(second.pid)]);
  });

  it('has shown its life when it has written before it was taken', async () => {
    const { options, starts } = recorded('process.stdin.resume();', "fs.writeSync(2, 'ready');");
    startEarly(options);
    const [pid] = await until('it has started', () => starts().length === 1 && starts());
    // What it had written by then is read in the next turns.
    for (let turn = 0; turn < 3; turn += 1) await setImmediate();
    const child = start(options);
    expect(String(child.pid)).toBe(pid);
    await child.life;
    await until('it is kept', () => child.stderr.tail() === 'ready');
  });

  it('is told to its watchers after its first answers, or never when it has ended by then', async () => {
    const clock = new FakeClock();
    const told: string[] = [];
    const watchers = [
      { started: (pid: number) => told.push(`+${pid}`), ended: (pid: number) => told.push(`-${pid}`) },
    ];
    const { options } = recorded('console.log(process.pid); process.stdin.resume();');
    startEarly(options);
    const child = start({ ...options, watchers, clock });
    await firstLine(child.stdout);
    clock.advance(49);
    expect(told).toEqual([]);
    clock.advance(1);
    expect(told).toEqual([`+${child.pid}`]);
    await child.kill();
    expect(told).toEqual([`+${child.pid}`, `-${child.pid}`]);

    const { options: short } = recorded('process.stdin.resume();');
    startEarly(short);
    await start({ ...short, watchers, clock }).kill();
    clock.advance(60_000);
    expect(told).toEqual([`+${child.pid}`, `-${child.pid}`]);
  });

  it('is not taken with other options', async () => {
    const { options, starts } = recorded('console.log(process.env.ROOM); process.stdin.resume();');
    startEarly(options);
    const [pid] = await until('it has started', () => starts().length === 1 && starts());
    const child = start({ ...options, env: { ROOM: 'blue' } });
    expect(await firstLine(child.stdout)).toBe('blue');
    expect(String(child.pid)).not.toBe(pid);
    expect(String(start(options).pid)).toBe(pid);
  });

  it('is started once, however often it is asked for', async () => {
    const { options, starts } = recorded('console.log(process.pid); process.stdin.resume();');
    startEarly(options);
    startEarly({ ...options });
    const child = start(options);
    expect(await firstLine(child.stdout)).toBe(String(child.pid));
    expect(starts()).toEqual([String(child.pid)]);
  });

  it('is forgotten when it ends before it is taken, so that the caller sees how the command fails', async () => {
    const { options, starts } = recorded("console.error('no key'); process.exitCode = 3;");
    startEarly(options);
    const [pid] = await until('it has started', () => starts().length === 1 && starts());
    // A process that has ended exists until Node has read its exit code. The event of that follows in the same turn.
    await until('its end is known', () => !exists(Number(pid)));
    await setImmediate();
    const child = start(options);
    expect(await child.exited).toMatchObject({ code: 3 });
    expect(child.stderr.tail()).toBe('no key\n');
    expect(starts()).toEqual([pid, String(child.pid)]);
  });
});

function exists(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
