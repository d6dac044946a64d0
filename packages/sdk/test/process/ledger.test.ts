import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { ensureBuilt } from '../../../../scripts/setup.js';
import { fixture } from '../../../../test/support/child.js';
import { FakeClock } from '../../../../test/support/fake-clock.js';
import { createLedger, isLeftover } from '../../src/process/ledger/ledger.js';
import {
  defaultLedgerFolder,
  type LedgerRecord,
  ownRecord,
  parseRecord,
  ticksNow,
} from '../../src/process/ledger/ledger-files.js';
import { readStat } from '../../src/process/proc-stat.js';
import { startTimeOf } from '../../src/process/process-facts.js';
import {
  firstLine,
  isAlive,
  killAtTheEnd,
  killGroupAtTheEnd,
  membersOf,
  onLinux,
  start,
  startStubborn,
  temporaryFolder,
  until,
} from '../support/process.js';

beforeAll(() => ensureBuilt()); // The host is a program that uses the built package.

const NOBODY = 2 ** 30; // A number above any that the system gives out.

describe.runIf(onLinux)('the file of a host', () => {
  it('names it and its living children, private to the user, and is removed with the last of them', async () => {
    const folder = join(temporaryFolder(), 'deep', 'down');
    const ledger = createLedger({ folder });
    const [first, second] = [startSleep(ledger), startSleep(ledger)];
    const [name] = readdirSync(folder);
    expect(readdirSync(folder)).toEqual([name]);
    expect([statSync(folder).mode & 0o777, statSync(join(folder, name!)).mode & 0o777]).toEqual([
      0o700, 0o600,
    ]);
    const record = read(folder);
    expect(record).toMatchObject({ host: { pid: process.pid, start: startTimeOf(process.pid) } });
    expect(record.children.map(({ pid, start }) => ({ pid, start }))).toEqual(
      [first, second].map(({ pid }) => ({ pid, start: startTimeOf(pid!) })),
    );
    await first.kill();
    expect(read(folder).children.map(({ pid }) => pid)).toEqual([second.pid]);
    await second.kill();
    expect(readdirSync(folder)).toEqual([]);
    ledger.close();
  });

  it('is not shared by two ledgers of one process, and neither reaps the other', async () => {
    const folder = temporaryFolder();
    const [one, other] = [createLedger({ folder }), createLedger({ folder })];
    const [a, b] = [startSleep(one), startSleep(other)];
    expect(readdirSync(folder).length).toBe(2);
    expect([await one.reap(), await other.reap()]).toEqual([[], []]);
    expect([isAlive(a.pid!), isAlive(b.pid!)]).toEqual([true, true]);
  });

  it('tells when a child was last seen, ever less often', async () => {
    const folder = temporaryFolder();
    const clock = new FakeClock();
    const ledger = createLedger({ folder, clock });
    const child = startSleep(ledger);
    const seen = () => read(folder).children[0]!.seen!;
    const first = seen();
    expect(first).toBeLessThanOrEqual(ticksNow()!);
    expect(first).toBeGreaterThanOrEqual(Number(startTimeOf(child.pid!)) - 1);
    await until('time has passed', () => ticksNow()! > first);
    clock.advance(1000);
    const second = seen();
    expect(second).toBeGreaterThan(first);
    await until('time has passed', () => ticksNow()! > second);
    clock.advance(3999);
    expect(seen()).toBe(second);
    clock.advance(1);
    expect(seen()).toBeGreaterThan(second);
    ledger.close();
    expect(clock.waiting).toBe(0);
  });

  it('costs no child when it cannot be written', async () => {
    const file = join(temporaryFolder(), 'file');
    writeFileSync(file, '');
    const ledger = createLedger({ folder: join(file, 'below') });
    expect(isAlive(startSleep(ledger).pid!)).toBe(true);
    expect(await ledger.reap()).toEqual([]);
  });
});

describe.runIf(onLinux)('reap', () => {
  it.each(['stubborn', 'npx'])('ends what a killed host has left behind: %s', async (kind) => {
    const folder = temporaryFolder();
    const { child } = await killedHost(kind, folder);
    expect(membersOf(child).length).toBeGreaterThan(0);
    const hostPid = read(folder).host.pid;
    expect(await createLedger({ folder }).reap()).toEqual([{ pid: child, hostPid, gone: true }]);
    expect([membersOf(child), readdirSync(folder)]).toEqual([[], []]);
  });

  it('ends a grandchild whose shell is gone, when the shell was seen after its birth', async () => {
    const folder = temporaryFolder();
    const { child } = await killedHost('leaderless', folder);
    await until(
      'the shell is gone',
      () => !membersOf(child).includes(child) && readStat(child) === undefined,
    );
    expect(membersOf(child).length).toBe(1);
    expect(await createLedger({ folder }).reap()).toMatchObject([{ pid: child, gone: true }]);
    expect(membersOf(child)).toEqual([]);
  });

  it('leaves a grandchild alone that was born after the last look', async () => {
    const folder = temporaryFolder();
    const { child } = await killedHost('leaderless', folder);
    await until(
      'the shell is gone',
      () => !membersOf(child).includes(child) && readStat(child) === undefined,
    );
    const record = read(folder);
    const [grandchild] = membersOf(child);
    const born = Number(startTimeOf(grandchild!));
    write(folder, 'other.json', { ...record, children: [{ ...record.children[0]!, seen: born }] }, true);
    expect(await createLedger({ folder }).reap()).toEqual([]);
    expect(isAlive(grandchild!)).toBe(true);
  });

  it('never touches a process that has got the number of a child', async () => {
    const folder = temporaryFolder();
    const innocent = await startStubborn();
    write(folder, 'dead.json', recordOf([{ pid: innocent, start: '1', seen: ticksNow()! + 1000 }]));
    expect(await createLedger({ folder }).reap()).toEqual([]);
    expect([membersOf(innocent), readdirSync(folder)]).toEqual([[innocent], []]);
  });

  it('leaves the children of a living host alone', async () => {
    const folder = temporaryFolder();
    const child = await startStubborn();
    const host = { pid: process.pid, start: startTimeOf(process.pid)! };
    write(folder, 'living.json', { ...recordOf([identity(child)]), host });
    expect(await createLedger({ folder }).reap()).toEqual([]);
    expect([membersOf(child), readdirSync(folder)]).toEqual([[child], ['living.json']]);
  });

  it('ends them when the host is dead and another process has its number', async () => {
    const folder = temporaryFolder();
    const child = await startStubborn();
    write(folder, 'dead.json', { ...recordOf([identity(child)]), host: { pid: process.pid, start: '1' } });
    expect(await createLedger({ folder }).reap()).toEqual([{ pid: child, hostPid: process.pid, gone: true }]);
    expect(membersOf(child)).toEqual([]);
  });

  it('ends nothing of an earlier boot, and forgets it', async () => {
    const folder = temporaryFolder();
    const innocent = await startStubborn();
    write(folder, 'past.json', { ...recordOf([identity(innocent)]), boot: 'another' });
    expect(await createLedger({ folder }).reap()).toEqual([]);
    expect([membersOf(innocent), readdirSync(folder)]).toEqual([[innocent], []]);
  });

  it('ends nothing that was written down in another container, where numbers mean other processes', async () => {
    const folder = temporaryFolder();
    const innocent = await startStubborn();
    write(folder, 'far.json', { ...recordOf([identity(innocent)]), place: 'elsewhere pid:[1]' });
    expect(await createLedger({ folder }).reap()).toEqual([]);
    expect([membersOf(innocent), readdirSync(folder)]).toEqual([[innocent], ['far.json']]);
  });

  it('ignores what is broken, foreign or huge, and removes it when it is old', async () => {
    const folder = temporaryFolder();
    const innocent = await startStubborn();
    const files: Record<string, string> = {
      'empty.json': '',
      'half.json': JSON.stringify(recordOf([identity(innocent)])).slice(0, -5),
      'null.json': 'null',
      'huge.json': ' '.repeat(5_000_000) + JSON.stringify(recordOf([identity(innocent)])),
      'notes.txt': 'remember the milk',
    };
    for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
    // A record, but not in this folder, of which we know who may write to it.
    const elsewhere = temporaryFolder();
    write(elsewhere, 'dead.json', recordOf([identity(innocent)]));
    symlinkSync(join(elsewhere, 'dead.json'), join(folder, 'link.json'));
    mkdirSync(join(folder, 'folder'));
    const names = [...Object.keys(files), 'folder', 'link.json'].sort();
    expect(await createLedger({ folder }).reap()).toEqual([]);
    expect(readdirSync(folder)).toEqual(names);
    const longAgo = Date.now() / 1000 - 8 * 24 * 3600;
    for (const name of Object.keys(files)) utimesSync(join(folder, name), longAgo, longAgo);
    expect(await createLedger({ folder }).reap()).toEqual([]);
    expect([readdirSync(folder), membersOf(innocent)]).toEqual([['folder', 'link.json'], [innocent]]);
  });

  it.each([0, 1, -5, 1.5, '100', null])('takes %j for no process', (pid) => {
    expect(parseRecord(JSON.stringify({ ...recordOf([]), children: [{ pid, start: '1' }] }))).toBeUndefined();
    expect(parseRecord(JSON.stringify({ ...recordOf([]), host: { pid, start: '1' } }))).toBeUndefined();
  });

  it('can be done by many hosts at once', async () => {
    const folder = temporaryFolder();
    const children = await Promise.all(Array.from({ length: 4 }, startStubborn));
    for (const child of children) write(folder, `${child}.json`, recordOf([identity(child)]));
    const runs = await Promise.all(Array.from({ length: 5 }, () => createLedger({ folder }).reap()));
    for (const reaped of runs) expect(reaped.every(({ gone }) => gone)).toBe(true);
    expect(runs.flat().length).toBeGreaterThanOrEqual(4);
    expect([children.flatMap(membersOf), readdirSync(folder)]).toEqual([[], []]);
  });

  it('does nothing where there is nothing', async () => {
    const folder = join(temporaryFolder(), 'missing');
    expect(await createLedger({ folder }).reap()).toEqual([]);
  });
});

describe('whose group it is', () => {
  const stat = { state: 'S', parent: 1, cpuTicks: 0, rssPages: 1 };
  const leader = { ...stat, pid: 100, group: 100, session: 100, startTicks: '500' };
  const member = { ...stat, pid: 101, group: 100, session: 100, startTicks: '510' };
  const child = { pid: 100, start: '500', seen: 600 };

  it.each([
    ['the leader runs', child, [leader], true],
    ['the leader is a zombie, a member runs', child, [{ ...leader, state: 'Z' }, member], true],
    ['the leader is a zombie, nobody runs', child, [{ ...leader, state: 'Z' }], false],
    ['another process has its number', child, [{ ...leader, startTicks: '501' }, member], false],
    ['another one has its number in another group', child, [{ ...leader, group: 7 }, member], false],
    ['a member is older than the last look', child, [member], true],
    ['a member is as old as the last look', child, [{ ...member, startTicks: '600' }], false],
    ['no look is known', { pid: 100, start: '500' }, [member], false],
    ['a member came from another session', child, [{ ...member, session: 7 }], false],
    ['we are in it ourselves', child, [leader, { ...member, pid: 42 }], false],
    ['nobody is in it', child, [], false],
  ])('is decided: %s', (_title, identity, everybody, ours) => {
    expect(isLeftover(identity, everybody, 42)).toBe(ours);
  });
});

describe('the folder', () => {
  const home = () => '/home/me';
  it.each([
    ['linux', {}, '/home/me/.local/state/isthmus/processes'],
    ['linux', { XDG_STATE_HOME: '/state' }, '/state/isthmus/processes'],
    ['linux', { XDG_STATE_HOME: 'relative' }, '/home/me/.local/state/isthmus/processes'],
    ['darwin', {}, '/home/me/Library/Application Support/isthmus/processes'],
    ['win32', { LOCALAPPDATA: '/Local' }, '/Local/isthmus/processes'],
  ] as const)('is on %s with %j %s', (platform, env, path) => {
    expect(defaultLedgerFolder(platform, env, home)?.replaceAll('\\', '/')).toBe(path);
  });

  it('is nowhere for a user without a home', () => {
    const noHome = () => {
      throw new Error('ENOENT');
    };
    expect(defaultLedgerFolder('linux', {}, noHome)).toBeUndefined();
    expect(defaultLedgerFolder('linux', {}, () => '')).toBeUndefined();
  });
});

function startSleep(ledger: ReturnType<typeof createLedger>) {
  return start({ command: 'sleep', args: ['600'], watchers: [ledger] });
}

/** A host that has a ledger but no death watch, and was killed when the ledger had seen its child at work. */
async function killedHost(kind: string, folder: string) {
  const host = spawn(process.execPath, [fixture('host-with-death-watch.mjs'), kind, 'wait', folder], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  killAtTheEnd(host.pid!);
  const { child } = JSON.parse(await firstLine(host.stdout)) as { child: number };
  killGroupAtTheEnd(child);
  const born = () => Math.max(...membersOf(child).map((pid) => Number(startTimeOf(pid))));
  await until('the ledger has seen it', () => read(folder).children[0]!.seen! > born());
  host.kill('SIGKILL');
  await once(host, 'exit');
  return { child };
}

function identity(pid: number) {
  return { pid, start: startTimeOf(pid)!, seen: ticksNow()! };
}

function recordOf(children: LedgerRecord['children']): LedgerRecord {
  return { ...ownRecord()!, host: { pid: NOBODY, start: '1' }, children };
}

/** The one file of a folder; a file is replaced by renaming, so that there is a moment with a draft. */
function read(folder: string): LedgerRecord {
  const name = readdirSync(folder).find((each) => each.endsWith('.json'));
  return JSON.parse(readFileSync(join(folder, name!), 'utf8')) as LedgerRecord;
}

function write(folder: string, name: string, record: LedgerRecord, alone = false): void {
  if (alone) for (const each of readdirSync(folder)) writeFileSync(join(folder, each), '');
  writeFileSync(join(folder, name), JSON.stringify(record));
}
