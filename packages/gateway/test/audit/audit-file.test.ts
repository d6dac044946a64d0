import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, readdirSync, readFileSync, renameSync, symlinkSync, unlinkSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { systemClock } from '@isthmus/sdk/internal/async/clock.js';
import { describe, expect, it, onTestFinished } from 'vitest';
import { FakeClock } from '../../../../test/support/fake-clock.js';
import { until } from '../../../../test/support/until.js';
import { openAuditFile } from '../../src/audit/audit-file.js';
import type { AuditRecord } from '../../src/audit/audit-record.js';
import { freshFolder } from '../support/open-gateway.js';

const PROGRAM = fileURLToPath(new URL('../../../../test/programs/audit-process.mjs', import.meta.url));
const record = (correlationId: string, more: object = {}) =>
  ({ correlationId, outcome: 'ok', ...more }) as AuditRecord;

/** Whole lines, and those that are not JSON. */
function linesIn(file: string) {
  const lines = readFileSync(file, 'utf8').split('\n');
  const last = lines.pop();
  const ids: string[] = [];
  const torn: string[] = [];
  for (const line of lines) {
    try {
      ids.push((JSON.parse(line) as AuditRecord).correlationId);
    } catch {
      torn.push(line);
    }
  }
  return { ids, torn, last };
}

async function writer(
  ...args: (string | number)[]
): Promise<{ child: ChildProcess; exit: Promise<unknown> }> {
  const child = spawn(process.execPath, [PROGRAM, ...args.map(String)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exit = once(child, 'exit');
  onTestFinished(() => void child.kill('SIGKILL'));
  await once(child.stdout!, 'data');
  return { child, exit };
}

describe('an audit log that several processes write to', () => {
  it('has each record once and whole, also while it is renamed again and again', async () => {
    const file = join(freshFolder(), 'a.jsonl');
    const names = ['one', 'two', 'three'];
    const children = await Promise.all(names.map((name) => writer(file, name, 2000, 200_000, 30)));
    await Promise.all(children.map(({ exit }) => exit));
    const files = readdirSync(join(file, '..')).filter((name) => /^a\.jsonl(\.\d+)?$/.test(name));
    const all = files.map((name) => linesIn(join(file, '..', name)));
    expect(all.flatMap(({ torn }) => torn)).toEqual([]);
    const ids = all.flatMap((each) => each.ids);
    expect(new Set(ids).size).toBe(6000);
    expect(ids.length).toBe(6000);
    // 1.9 MB in files of 200 kB at most.
    expect(files.length).toBeGreaterThan(8);
    expect(files.length).toBeLessThan(20);
  });

  it('goes on after a line that was cut by kill -9', async () => {
    const file = join(freshFolder(), 'a.jsonl');
    const { child, exit } = await writer(file, 'killed', 0, 1_000_000_000, 1);
    await until('some lines', () => readFileSync(file).length > 200_000);
    child.kill('SIGKILL');
    await exit;
    const before = linesIn(file);
    expect(before.torn).toEqual([]);
    expect(before.ids).toEqual(before.ids.map((_, at) => `killed-${at}`));
    // A line that was cut does not spoil the next one.
    appendFileSync(file, '{"correlationId":"cut-in-the-mid');
    const sink = await openAuditFile({ file, clock: systemClock, warn: () => {} });
    sink.write(record('after'));
    await sink.close();
    const after = linesIn(file);
    expect(after.ids).toEqual([...before.ids, 'after']);
    expect(after.torn.length).toBe(1);
  });
});

it('a file that another program has renamed (logrotate) is not written to any more', async () => {
  const file = join(freshFolder(), 'a.jsonl');
  const sink = await openAuditFile({ file, clock: systemClock, warn: () => {} });
  sink.write(record('one'));
  await until('the first', () => linesIn(file).ids.length === 1);
  renameSync(file, `${file}.old`);
  sink.write(record('two'));
  await sink.close();
  expect([linesIn(`${file}.old`).ids, linesIn(file).ids]).toEqual([['one'], ['two']]);
});

it.runIf(process.platform === 'linux')(
  'a full disk: records wait, some are counted, and are written when there is room',
  async () => {
    const folder = freshFolder();
    const file = join(folder, 'a.jsonl');
    symlinkSync('/dev/full', file);
    const clock = new FakeClock();
    const warnings: string[] = [];
    const sink = await openAuditFile({ file, clock, warn: (line) => warnings.push(line) });
    // 4 MiB of records of some 10 kB wait. The others are counted.
    for (let at = 0; at < 600; at += 1) sink.write(record(`r-${at}`, { tool: 'ä'.repeat(5000) }));
    await until('a warning', () => warnings.length > 0);
    unlinkSync(file);
    clock.advance(1000);
    await until('the end', () => warnings.length === 2);
    await sink.close();
    const lines = readFileSync(file, 'utf8').trimEnd().split('\n');
    const { dropped } = JSON.parse(lines.pop()!) as { dropped: number };
    expect(lines.length + dropped).toBe(600);
    expect(lines.length).toBe(417);
    expect(warnings).toEqual([
      expect.stringMatching(/^the audit log cannot be written: ENOSPC.*; records wait$/),
      `${file} can be written again`,
    ]);
  },
);
