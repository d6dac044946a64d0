/** What a real process costs, with all that it started. Linux only. */
import { describe, expect, it } from 'vitest';
import { startChild } from '../../../../test/support/child.js';
import { cpuMsBetween, readTreeCost, type TreeCost } from '../../src/bench/cost.js';

describe.skipIf(process.platform !== 'linux')('the cost of a process', () => {
  it('is its time on a processor, and the most memory that it ever held', async () => {
    const child = startChild('-e', { args: [WORKER] });
    await child.answer('ready');
    const before = (await readTreeCost(child.pid))!;
    child.send({ id: 'work', spinMs: 150, bytes: 96 * MB });
    const { cpuMs } = (await child.answer('work')) as unknown as { cpuMs: number };
    const after = (await readTreeCost(child.pid))!;
    expect(after.processes).toBe(1);
    expect(cpuMs).toBeGreaterThanOrEqual(150);
    const seen = cpuMsBetween(before, after);
    expect(seen).toBeGreaterThan(cpuMs * 0.8);
    expect(seen).toBeLessThan(cpuMs * 1.5 + 100);
    // It was let go before the second look.
    expect(after.peakRssBytes - before.peakRssBytes).toBeGreaterThan(64 * MB);
    expect(after.peakRssBytes / MB).toBeCloseTo(child.peakMemory(), 0);
  });

  it('includes that of its children', async () => {
    const child = startChild('-e', { args: [WRAPPER] });
    await child.answer('ready');
    const before = (await readTreeCost(child.pid))!;
    child.send({ id: 'work', spinMs: 150, bytes: 16 * MB });
    await child.answer('work');
    const after = (await readTreeCost(child.pid))!;
    expect(after.processes).toBeGreaterThanOrEqual(2);
    expect(cpuMsBetween(before, after)).toBeGreaterThan(120);
  });

  it('is not known of nobody, or of a process that has ended', async () => {
    expect(await readTreeCost(undefined)).toBeUndefined();
    const child = startChild('-e', { args: ['0'] });
    await child.exit();
    expect(await readTreeCost(child.pid)).toBeUndefined();
  });
});

describe('the time between two looks', () => {
  const at = (fineCpuMs: number | undefined, coarseCpuMs: number): TreeCost => {
    return { fineCpuMs, coarseCpuMs, peakRssBytes: 0, processes: 1 };
  };

  it('is the fine number, which has no steps', () => {
    expect(cpuMsBetween(at(100, 100), at(103.5, 110))).toBe(3.5);
  });

  it('is the coarse one where a part of the tree has ended, or there is no other', () => {
    expect(cpuMsBetween(at(100, 100), at(20, 600))).toBe(480);
    expect(cpuMsBetween(at(undefined, 100), at(undefined, 150))).toBe(50);
    expect(cpuMsBetween(at(100, 100), at(20, 20))).toBe(0);
  });
});

const MB = 1024 * 1024;

/** Works and holds memory when told to, and answers when it has let go of it. */
const WORKER = `
require('node:v8').setFlagsFromString('--expose-gc');
const gc = require('node:vm').runInNewContext('gc');
const say = (message) => console.log(JSON.stringify(message));
require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, spinMs, bytes } = JSON.parse(line);
  const began = process.cpuUsage();
  let held = Buffer.alloc(bytes, 1);
  const spent = () => { const { user, system } = process.cpuUsage(began); return (user + system) / 1000; };
  while (spent() < spinMs);
  held = undefined;
  const cpuMs = spent();
  const high = process.memoryUsage.rss();
  gc();
  const sayWhenFree = () => {
    if (process.memoryUsage.rss() < high - 0.7 * bytes) say({ id, cpuMs });
    else setTimeout(sayWhenFree, 5);
  };
  sayWhenFree();
});
say({ id: 'ready' });`;

/** As npx does. Its child ends when the pipe that both read from does. */
const WRAPPER = `
require('node:child_process').spawn(process.execPath, ['-e', ${JSON.stringify(WORKER)}], { stdio: 'inherit' });`;
