import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { beforeAll, describe, expect, it } from 'vitest';
import { ensureBuilt } from '../../../../scripts/setup.js';
import { fixture } from '../../../../test/support/child.js';
import { describeExit } from '../../src/process/describe-exit.js';
import { readAllStats } from '../../src/process/proc-stat.js';
import { killAtTheEnd, killGroupAtTheEnd, onLinux, start } from '../support/process.js';

beforeAll(() => ensureBuilt()); // The host is a program that uses the built package.

const HOST = [process.execPath, fixture('host-at-its-limits.mjs')];

/** Limits on processes do not hold for root; but another user may lack the right to read this folder. */
const ANOTHER_USER =
  process.getuid?.() === 0
    ? [
        ...['setpriv', '--reuid=54321', '--clear-groups'],
        ...['--inh-caps=+dac_read_search', '--ambient-caps=+dac_read_search'],
      ]
    : [];
const hasTools = ['/usr/bin/setpriv', '/usr/bin/prlimit'].every((path) => existsSync(path));

describe.runIf(onLinux)('a host without a descriptor left', () => {
  it('cannot start a child, and that is an error for that caller only (D-8, EMFILE)', async () => {
    const host = startHost(['sh', '-c', 'ulimit -n 64 && exec "$@"', 'sh', ...HOST]);
    killGroupAtTheEnd((await host.tell('start')).pid);
    const before = await host.tell('files');
    expect(await host.tell('fill')).toBe('EMFILE');
    for (let times = 0; times < 20; times += 1) {
      expect(await host.tell('start')).toEqual({
        code: 'EMFILE',
        sentence:
          'cat could not be started: too many files are open in this process; raise its limit (ulimit -n) (EMFILE)',
      });
    }
    expect(await host.tell('ask')).toEqual(['hello\n']);
    expect(await host.tell('free')).toBe('freed');
    expect(await host.tell('files')).toBe(before);
    killGroupAtTheEnd((await host.tell('start')).pid);
    expect(await host.tell('ask')).toEqual(['hello\n', 'hello\n']);
    expect(await host.end()).toEqual([0, null]);
  });
});

describe.runIf(onLinux && hasTools)('a host that may have no more processes', () => {
  it('cannot start a child, and that is an error for that caller only (D-8, EAGAIN)', async () => {
    const host = startHost([...ANOTHER_USER, ...HOST]);
    killGroupAtTheEnd((await host.tell('start')).pid);
    const before = await host.tell('files');
    limitProcesses(host.pid, '1');
    for (let times = 0; times < 20; times += 1) {
      expect(await host.tell('start')).toEqual({
        code: 'EAGAIN',
        sentence:
          'cat could not be started: no more processes are allowed; end some of this user, or raise the limit (ulimit -u) (EAGAIN)',
      });
    }
    expect(await host.tell('ask')).toEqual(['hello\n']);
    expect(await host.tell('files')).toBe(before);
    limitProcesses(host.pid, hardLimitOf(host.pid));
    killGroupAtTheEnd((await host.tell('start')).pid);
    expect(await host.tell('ask')).toEqual(['hello\n', 'hello\n']);
    expect(readAllStats().filter((stat) => stat.parent === host.pid && stat.state === 'Z')).toEqual([]);
    expect(await host.end()).toEqual([0, null]);
  });

  function hardLimitOf(pid: number): string {
    return /^Max processes +\S+ +(\S+)/m.exec(readFileSync(`/proc/${pid}/limits`, 'utf8'))![1]!;
  }

  function limitProcesses(pid: number, soft: string): void {
    const [command, ...args] = [...ANOTHER_USER, 'prlimit', '--pid', String(pid), `--nproc=${soft}:`];
    execFileSync(command!, args);
  }
});

describe('a start that fails', () => {
  it.runIf(onLinux)('leaves no descriptor open, whatever the reason (D-8)', async () => {
    const tooLong = { command: 'true', args: ['x'.repeat(8_000_000)] };
    const open = () =>
      execFileSync('ls', [`/proc/${process.pid}/fd`], { encoding: 'utf8' }).split('\n').length;
    const atFirst = open();
    for (let times = 0; times < 50; times += 1) {
      for (const options of [{ command: 'no-such-command-anywhere' }, { command: '/etc/passwd' }, tooLong]) {
        const exit = await start(options).stop();
        expect(exit.error).toBeDefined();
      }
    }
    // Whoever else opens files in this process has few.
    expect(open()).toBeLessThan(atFirst + 10);
  });

  it.each([
    ['EAGAIN', 'no more processes are allowed; end some of this user, or raise the limit (ulimit -u)'],
    ['EMFILE', 'too many files are open in this process; raise its limit (ulimit -n)'],
    [
      'ENFILE',
      'too many files are open on this machine; end some programs, or raise the limit of the system',
    ],
    ['ENOMEM', 'there is not enough memory; end some programs'],
    ['E2BIG', 'its arguments and environment are too long; pass large values in a file'],
  ])('with %s says what to do', (code, remedy) => {
    const error = Object.assign(new Error(`spawn x ${code}`), { code });
    expect(describeExit('weather', { code: null, signal: null, error, ranMs: 1 })).toBe(
      `weather could not be started: ${remedy} (${code})`,
    );
  });
});

function startHost([command, ...args]: readonly string[]) {
  const host = spawn(command!, args, { stdio: ['pipe', 'pipe', 'inherit'] });
  killAtTheEnd(host.pid!);
  const ended = once(host, 'exit');
  const lines = createInterface({ input: host.stdout })[Symbol.asyncIterator]();
  return {
    pid: host.pid!,
    async tell(what: string) {
      host.stdin.write(`${what}\n`);
      const { value, done } = await lines.next();
      if (done) throw new Error(`the host has ended instead of: ${what}`);
      return JSON.parse(value);
    },
    end() {
      host.stdin.end();
      return ended;
    },
  };
}
