import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { watchProgram } from '../../src/process/death-watch-program.js';
import {
  firstLine,
  isAlive,
  killAtTheEnd,
  killGroupAtTheEnd,
  membersOf,
  onLinux,
  startStubborn,
  temporaryFolder,
  until,
} from '../support/process.js';

/** What is /bin/sh somewhere, by that name: dash on Debian, bash on macOS. */
const shells = ['/bin/sh', '/bin/bash', '/bin/busybox', '/bin/ksh', '/bin/zsh'].filter((path) =>
  existsSync(path),
);

describe.runIf(onLinux).each(shells)('the program of the watch in %s', (shell) => {
  it('ends what is listed, and never what is no longer listed or was never named in full', async () => {
    const [guilty, gone, half] = [await startStubborn(), await startStubborn(), await startStubborn()];
    const watch = startShell(shell);
    watch.stdin.end(`+ ${guilty} 17\n+ ${gone} 17\n- ${gone}\n+ ${half}`);
    expect(await watch.ended).toEqual([0, null]);
    await until('the listed one is gone', () => !isAlive(guilty));
    expect([isAlive(gone), isAlive(half)]).toEqual([true, true]);
  });

  it('sends SIGTERM first, and exits as soon as no process is left', async () => {
    const script = 'trap "echo bye; exit" TERM; echo ready; while :; do sleep 0.05; done';
    const child = spawn('sh', ['-c', script], { stdio: ['ignore', 'pipe', 'ignore'], detached: true });
    killGroupAtTheEnd(child.pid!);
    expect(await firstLine(child.stdout)).toBe('ready');
    const bye = firstLine(child.stdout);
    const watch = startShell(shell);
    watch.stdin.end(`+ ${child.pid} 17\n`);
    expect(await bye).toBe('bye');
    expect(await watch.ended).toEqual([0, null]);
  });

  it('takes no number that would mean everybody, and no line that is not its own', async () => {
    const guilty = await startStubborn();
    const watch = startShell(shell);
    // Were 0 or 1 taken, everybody would be gone; that is not tried here, but the same rule keeps out the rest.
    const folder = temporaryFolder();
    const lines = ['+ $(touch touched)', '+ `touch touched`', '+ -5', '+', '', '? 5', `- ${2 ** 30}`, '* *'];
    watch.stdin.end(`${lines.join('\n')}\n+ ${guilty};touch ${folder}/touched\n+ ${guilty}\n`);
    expect(await watch.ended).toEqual([0, null]);
    await until('the listed one is gone', () => !isAlive(guilty));
    expect(existsSync(join(folder, 'touched'))).toBe(false);
  });

  it('exits on a full stop and leaves the processes alone', async () => {
    const spared = await startStubborn();
    const watch = startShell(shell);
    watch.stdin.write(`+ ${spared} 17\n.\n`);
    expect(await watch.ended).toEqual([0, null]);
    expect(membersOf(spared)).toEqual([spared]);
  });

  it('is not slowed down by 4,000 starts and ends, nor by 1,000 that live at once', async () => {
    const [guilty, spared] = [await startStubborn(), await startStubborn()];
    const watch = startShell(shell);
    // Numbers above any that the system gives out; first one after the other, then many at once.
    const numbers = Array.from({ length: 4000 }, (_, i) => 5_000_000 + i);
    const pairs = numbers.map((pid) => `+ ${pid}\n- ${pid}\n`);
    const some = numbers.slice(0, 1000);
    const all = [...some.map((pid) => `+ ${pid}\n`), ...some.map((pid) => `- ${pid}\n`)];
    const began = Date.now();
    watch.stdin.end(`+ ${guilty}\n+ ${spared}\n${pairs.join('')}- ${spared}\n${all.join('')}`);
    expect(await watch.ended).toEqual([0, null]);
    expect(Date.now() - began).toBeLessThan(15_000);
    await until('the listed one is gone', () => !isAlive(guilty));
    expect(isAlive(spared)).toBe(true);
  });

  it('kills at once where it cannot even sleep', async () => {
    const guilty = await startStubborn();
    const watch = startShell(shell, { PATH: '/nonexistent' });
    watch.stdin.end(`+ ${guilty}\n`);
    await watch.ended;
    await until('the listed one is gone', () => !isAlive(guilty));
  });

  function startShell(command: string, env: Record<string, string> = {}) {
    const program = watchProgram('linux');
    const child = spawn(command, program.args, {
      // Under its own name bash takes a socket for a login from afar, and reads the user's files first.
      argv0: 'sh',
      cwd: temporaryFolder(),
      env: { ...program.env, ...env },
      stdio: ['pipe', 'ignore', 'ignore'],
      detached: true,
    });
    killAtTheEnd(child.pid!);
    return { stdin: child.stdin, ended: once(child, 'exit') };
  }
});

describe.runIf(onLinux)('the program of the watch for Windows, with its tools played by scripts', () => {
  it('ends what is listed, and what that has started and left behind', async () => {
    const { told, ended, stdin } = startWithFakeTools([
      '5000 4000 2000', // A child of ours that was killed with us.
      '5001 5000 2500', // A child of that.
      '6000 4000 500', // Older than our process: a child of somebody who had the number before.
      '7000 4001 2000', // A child of one that has ended.
    ]);
    stdin.end('+ 4000 1000\n+ 4001 1000\n- 4001\n+ 40');
    expect(await ended).toEqual([0, null]);
    expect(told()).toEqual(['/pid 4000 /T /F', '/pid 5000 /pid 5001 /T /F']);
  });

  it('exits on a full stop and leaves the processes alone', async () => {
    const { told, ended, stdin } = startWithFakeTools([]);
    stdin.write('+ 4000 1000\n.\n');
    expect(await ended).toEqual([0, null]);
    expect(told()).toEqual([]);
  });

  function startWithFakeTools(processes: readonly string[]) {
    const folder = temporaryFolder();
    const log = join(folder, 'log');
    writeFileSync(join(folder, 'processes'), processes.join('\n'));
    tool('taskkill', `echo "$*" >> ${log}`);
    tool('powershell', `cat ${join(folder, 'processes')}`);
    const { command, args, env } = watchProgram('win32');
    const child = spawn(command, args, {
      env: { ...env, PATH: `${folder}${delimiter}${process.env['PATH']}` },
      stdio: ['pipe', 'ignore', 'ignore'],
    });
    killAtTheEnd(child.pid!);
    const told = () => (existsSync(log) ? readFileSync(log, 'utf8').trim().split('\n') : []);
    return { stdin: child.stdin, ended: once(child, 'exit'), told };

    function tool(name: string, script: string) {
      writeFileSync(join(folder, name), `#!/bin/sh\n${script}\n`);
      chmodSync(join(folder, name), 0o755);
    }
  }
});
