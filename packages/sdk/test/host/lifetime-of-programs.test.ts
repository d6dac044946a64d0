import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { beforeAll, describe, expect, it } from 'vitest';
import { ensureBuilt } from '../../../../scripts/setup.js';
import { fixture } from '../../../../test/support/child.js';
import { childrenOf, until, zombiesOf } from '../support/host-lifetime.js';
import {
  isAlive,
  killAtTheEnd,
  killGroupAtTheEnd,
  membersOf,
  onLinux,
  temporaryFolder,
} from '../support/process.js';

beforeAll(() => ensureBuilt()); // The host is a program that uses the built package.

const HOST = [process.execPath, fixture('host-of-many-servers.mjs')];

/** Limits on processes do not hold for root; but another user may lack the right to read this folder. */
const ANOTHER_USER =
  process.getuid?.() === 0
    ? [
        ...['setpriv', '--reuid=54322', '--clear-groups'],
        ...['--inh-caps=+dac_read_search', '--ambient-caps=+dac_read_search'],
      ]
    : [];
const hasTools = ['/usr/bin/setpriv', '/usr/bin/prlimit'].every((path) => existsSync(path));

interface Program {
  readonly pid: number;
  readonly ended: Promise<unknown>;
  // biome-ignore lint/suspicious/noExplicitAny: tests compare answers with literals
  tell(command: string): Promise<any>;
  say(command: string): void;
  end(): Promise<unknown>;
}

function startProgram(commandLine: readonly string[]): Program {
  const [command, ...args] = commandLine;
  const child = spawn(command!, args, { stdio: ['pipe', 'pipe', 'ignore'] });
  const pid = killAtTheEnd(child.pid!);
  child.stdin.on('error', () => {});
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const ended = once(child, 'exit');
  return {
    pid,
    ended,
    say: (line) => child.stdin.write(`${line}\n`),
    async tell(line) {
      child.stdin.write(`${line}\n`);
      const { value, done } = await lines.next();
      if (done) throw new Error(`the program ended at "${line}"`);
      return JSON.parse(value);
    },
    end() {
      child.stdin.end();
      return ended;
    },
  };
}

/** The groups of three servers, each with the number of its processes. */
async function startThree(program: Program): Promise<number[]> {
  const groups: number[] = [];
  for (const [name, processes] of [
    ['stubborn', 1],
    ['shell', 2],
    ['grandchild', 2],
  ] as const) {
    const { pid } = await program.tell(`start ${name}`);
    groups.push(killGroupAtTheEnd(pid));
    expect(membersOf(pid)).toHaveLength(processes);
  }
  return groups;
}

describe.runIf(onLinux)('a program with a host', () => {
  it('that is killed by SIGKILL leaves nothing of three servers, wrapper and grandchild included (D-25)', async () => {
    const program = startProgram(HOST);
    const groups = await startThree(program);
    const children = childrenOf(program.pid);
    expect(children).toHaveLength(4);
    process.kill(program.pid, 'SIGKILL');
    await program.ended;
    await until('nobody is left', () => groups.flatMap(membersOf).length === 0);
    await until('the watch is gone', () => children.filter(isAlive).length === 0);
    expect(zombiesOf(process.pid)).toEqual([]);
  });

  it.each([
    ['exit', 7],
    ['throw', 1],
  ])('that ends by %s leaves nothing', async (how, code) => {
    const program = startProgram(HOST);
    const groups = await startThree(program);
    program.say(how);
    expect(await program.ended).toEqual([code, null]);
    await until('nobody is left', () => groups.flatMap(membersOf).length === 0);
  });

  it('that closes it exits by itself, with nothing left', async () => {
    const program = startProgram(HOST);
    const { pid } = await program.tell('start good');
    killGroupAtTheEnd(pid);
    expect(await program.end()).toEqual([0, null]);
    expect(membersOf(pid)).toEqual([]);
  });

  it('that is killed together with its watch leaves servers to the next host of its ledger', async () => {
    const folder = temporaryFolder();
    const program = startProgram([...HOST, folder]);
    const { pid } = await program.tell('start stubborn');
    killGroupAtTheEnd(pid);
    const watches = childrenOf(program.pid).filter((child) => child !== pid);
    expect(watches).toHaveLength(1);
    // A stopped program starts no other watch. A stopped watch would go on when its parent ends: the system continues it.
    process.kill(program.pid, 'SIGSTOP');
    process.kill(watches[0]!, 'SIGKILL');
    process.kill(program.pid, 'SIGKILL');
    await program.ended;
    expect(isAlive(pid)).toBe(true);
    const next = startProgram([...HOST, folder]);
    // It waits for that before it starts anything.
    const { pid: fresh } = await next.tell('start stubborn');
    killGroupAtTheEnd(fresh);
    expect(isAlive(pid)).toBe(false);
    expect(await next.tell('reaped')).toEqual([{ pid, gone: true }]);
    process.kill(next.pid, 'SIGKILL');
    await until('nobody is left', () => membersOf(fresh).length === 0);
  });

  it('whose connect times out leaves no process, wrapped ones included (D-25)', async () => {
    const program = startProgram(HOST);
    for (let times = 0; times < 3; times += 1) {
      expect(await program.tell('call silent')).toMatchObject({ code: 'TIMED_OUT' });
      const left = childrenOf(program.pid).filter((pid) => membersOf(pid).length > 0);
      // The death watch.
      expect(left).toHaveLength(1);
      expect(zombiesOf(program.pid)).toEqual([]);
    }
    expect(await program.end()).toEqual([0, null]);
  });
});

describe.runIf(onLinux && hasTools)('a program that may have no more processes', () => {
  it('gets an error for that call only; other servers serve on, and later so does this one (D-8)', async () => {
    const program = startProgram([...ANOTHER_USER, ...HOST]);
    killGroupAtTheEnd((await program.tell('start good')).pid);
    limitProcesses(program.pid, '1');
    for (let times = 0; times < 5; times += 1) {
      const failure = await program.tell('call stubborn');
      expect(failure).toMatchObject({ code: 'CANNOT_START', cause: 'EAGAIN' });
      expect(failure.message).toContain('no more processes are allowed');
      expect(await program.tell('call good')).toEqual({ text: 'hello' });
    }
    expect(zombiesOf(program.pid)).toEqual([]);
    limitProcesses(program.pid, hardLimitOf(program.pid));
    expect(await program.tell('call stubborn')).toEqual({ text: 'hello' });
    for (const pid of childrenOf(program.pid)) killGroupAtTheEnd(pid);
    expect(await program.end()).toEqual([0, null]);
  });

  function hardLimitOf(pid: number): string {
    return /^Max processes +\S+ +(\S+)/m.exec(readFileSync(`/proc/${pid}/limits`, 'utf8'))![1]!;
  }

  function limitProcesses(pid: number, soft: string): void {
    const [command, ...args] = [...ANOTHER_USER, 'prlimit', '--pid', String(pid), `--nproc=${soft}:`];
    execFileSync(command!, args);
  }
});
