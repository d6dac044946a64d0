import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { parseAuxiliaryVector, parseStat, readStat, systemUnits } from '../../src/process/proc-stat.js';
import { isStillRunning, parsePs, startTimeOf, treeFacts } from '../../src/process/process-facts.js';
import { firstLine, isAlive, killGroupAtTheEnd, onLinux, onPosix, until } from '../support/process.js';

describe.runIf(onLinux)('the facts about a group', () => {
  it('of a busy process: its time on a processor grows', async () => {
    const pid = await startGroup('echo ready; while :; do :; done');
    await untilFacts(pid, ({ cpuMs }) => cpuMs > 100);
    expect(await treeFacts(pid)).toMatchObject({ processes: 1, stopped: false });
  });

  it('of an idle one: hardly any time, and the memory that it holds', async () => {
    const script = 'const held = Buffer.alloc(200e6, 1); console.log("ready"); setInterval(() => held, 1e6)';
    const pid = await startGroup(`exec "${process.execPath}" -e '${script}'`);
    const before = (await treeFacts(pid))!;
    expect(before).toMatchObject({ processes: 1, stopped: false });
    expect(before.rssBytes).toBeGreaterThan(200e6);
    expect(before.rssBytes).toBeLessThan(400e6);
    await delay(200); // Nothing can tell that nothing happens.
    expect((await treeFacts(pid))!.cpuMs - before.cpuMs).toBeLessThan(100);
  });

  it('of a shell with two others are the sum', async () => {
    const pid = await startGroup('sleep 600 & sleep 600 & echo ready; wait');
    expect(await treeFacts(pid)).toMatchObject({ processes: 3, stopped: false });
  });

  it('say that it was stopped, and that it goes on', async () => {
    const pid = await startGroup('echo ready; read line');
    process.kill(pid, 'SIGSTOP');
    await untilFacts(pid, ({ stopped }) => stopped);
    process.kill(pid, 'SIGCONT');
    await untilFacts(pid, ({ stopped }) => !stopped);
  });

  it('say that it has ended when only others are left', async () => {
    const pid = await startGroup('sleep 600 & echo ready; exit');
    await until('the shell is gone', () => !isAlive(pid));
    expect(await treeFacts(pid)).toMatchObject({ processes: 1, stopped: true });
  });

  it('are none when the group is empty', async () => {
    expect(await treeFacts(2 ** 30)).toBeUndefined();
  });
});

describe.runIf(onLinux)('a process', () => {
  it('is distinguished from the next one of its number by its start time', async () => {
    const pid = await startGroup('echo ready; read line');
    const began = startTimeOf(pid)!;
    expect(began).toMatch(/^\d+$/);
    expect(isStillRunning(pid, began)).toBe(true);
    expect(isStillRunning(pid, String(Number(began) + 1))).toBe(false);
    process.kill(pid, 'SIGKILL');
    await until('it is gone', () => !isStillRunning(pid, began));
    expect(startTimeOf(2 ** 30)).toBeUndefined();
  });

  it('that is a zombie does not run, but has its start', async () => {
    const parent = spawn('sh', ['-c', 'sleep 0.2 & echo $!; exec sleep 600'], {
      stdio: ['ignore', 'pipe', 'ignore'],
      detached: true,
    });
    killGroupAtTheEnd(parent.pid!);
    const zombie = Number(await firstLine(parent.stdout));
    await until('it is a zombie', () => readStat(zombie)?.state === 'Z');
    expect(isStillRunning(zombie, startTimeOf(zombie)!)).toBe(false);
  });

  it('can be called anything', () => {
    const rest = '4 7 8 0 -1 0 0 0 0 0 150 50 1 1 20 0 1 0 12345 1000 77 0';
    expect(parseStat(`6 (a) S 1 (b) T ${rest}`)).toEqual({
      pid: 6,
      state: 'T',
      parent: 4,
      group: 7,
      session: 8,
      cpuTicks: 200,
      startTicks: '12345',
      rssPages: 77,
    });
    expect(parseStat('')).toBeUndefined();
    expect(parseStat('6 (cut')).toBeUndefined();
  });
});

describe('the units of the system', () => {
  it.runIf(onLinux)('are those that getconf says', () => {
    const getconf = (name: string) => Number(execFileSync('getconf', [name], { encoding: 'utf8' }));
    expect(systemUnits()).toEqual({ pageBytes: getconf('PAGESIZE'), ticksPerSecond: getconf('CLK_TCK') });
  });

  it('are the usual ones where nothing is said', () => {
    expect(parseAuxiliaryVector(Buffer.alloc(0), 8)).toEqual({ pageBytes: 4096, ticksPerSecond: 100 });
  });

  it.runIf(onLinux)('can be read with words of 32 bits', () => {
    const words = [6, 65_536, 17, 250, 0, 0];
    const bytes = Buffer.from(new Uint32Array(words).buffer);
    expect(parseAuxiliaryVector(bytes, 4)).toEqual({ pageBytes: 65_536, ticksPerSecond: 250 });
  });
});

describe('what ps prints', () => {
  it('is read as macOS writes it', () => {
    const text = '    1     1   9876   3:24.05 Ss  \n  501   500  12345 101:00.50 T+  \n\n';
    expect(parsePs(text)).toEqual([
      { pid: 1, group: 1, rssBytes: 9876 * 1024, cpuMs: 204_050, state: 'Ss' },
      { pid: 501, group: 500, rssBytes: 12345 * 1024, cpuMs: 6_060_500, state: 'T+' },
    ]);
  });

  it('may count in days', () => {
    expect(parsePs('7 7 1 2-03:04:05 S')[0]!.cpuMs).toBe(((2 * 24 + 3) * 60 + 4) * 60_000 + 5000);
  });

  it.runIf(onPosix)('has ourselves in it', () => {
    const text = execFileSync('ps', ['-A', '-o', 'pid=,pgid=,rss=,time=,state='], { encoding: 'utf8' });
    const self = parsePs(text).find(({ pid }) => pid === process.pid);
    expect(self!.rssBytes).toBeGreaterThan(10_000_000);
    expect(self!.state).toMatch(/^[RS]/);
  });
});

async function startGroup(script: string): Promise<number> {
  const child = spawn('sh', ['-c', script], { stdio: ['pipe', 'pipe', 'ignore'], detached: true });
  killGroupAtTheEnd(child.pid!);
  await once(child, 'spawn');
  expect(await firstLine(child.stdout)).toBe('ready');
  return child.pid!;
}

async function untilFacts(
  pid: number,
  check: (facts: NonNullable<Awaited<ReturnType<typeof treeFacts>>>) => boolean,
): Promise<void> {
  await expect.poll(async () => check((await treeFacts(pid))!), { timeout: 10_000, interval: 10 }).toBe(true);
}
