import { spawn } from 'node:child_process';
import { setImmediate } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { FakeClock } from '../../../../test/support/fake-clock.js';
import { IsthmusError } from '../../src/errors.js';
import { describeExit } from '../../src/process/describe-exit.js';
import { childEnvironment } from '../../src/process/environment.js';
import { createTreeEnd, isTreeGone } from '../../src/process/process-tree.js';
import { firstLine, isAlive, killAtTheEnd, onPosix, until } from '../support/process.js';

describe('the environment', () => {
  const ours = {
    PATH: '/bin',
    HOME: '/home/me',
    TERM: '() { :; }; echo shellshock',
    AWS_SECRET: 's3cret',
    HTTP_PROXY: 'http://p',
  };

  it('is by default what a program needs, without secrets and without shell functions', () => {
    expect(childEnvironment({}, ours, 'linux')).toEqual({ PATH: '/bin', HOME: '/home/me' });
  });

  it('can be exactly the named variables', () => {
    expect(childEnvironment({ inheritEnv: ['HTTP_PROXY', 'MISSING', 'TERM'] }, ours, 'linux')).toEqual({
      HTTP_PROXY: 'http://p',
    });
    expect(childEnvironment({ inheritEnv: [] }, ours, 'linux')).toEqual({});
  });

  it('can be all of ours but for shell functions', () => {
    expect(childEnvironment({ inheritEnv: 'all' }, ours, 'darwin')).toEqual({
      PATH: '/bin',
      HOME: '/home/me',
      AWS_SECRET: 's3cret',
      HTTP_PROXY: 'http://p',
    });
  });

  it('takes what is given, and takes away what is given as undefined', () => {
    const env = { HOME: undefined, PATH: '/opt/bin', KEY: 'k', TERM: '() { on purpose; }' };
    expect(childEnvironment({ env }, ours, 'linux')).toEqual({
      PATH: '/opt/bin',
      KEY: 'k',
      TERM: '() { on purpose; }',
    });
  });

  it('knows on Windows that Path and PATH are the same', () => {
    const windows = {
      Path: 'C:\\bin',
      SystemRoot: 'C:\\Windows',
      'ProgramFiles(x86)': 'C:\\x86',
      HOME: 'no',
    };
    expect(childEnvironment({}, windows, 'win32')).toEqual({
      Path: 'C:\\bin',
      SystemRoot: 'C:\\Windows',
      'ProgramFiles(x86)': 'C:\\x86',
    });
    expect(childEnvironment({ inheritEnv: ['path'], env: { PATH: 'D:\\bin' } }, windows, 'win32')).toEqual({
      PATH: 'D:\\bin',
    });
  });
});

describe('the sentence about an exit', () => {
  it.each([
    [
      { code: 1, signal: null, ranMs: 212 },
      'missing API key\n',
      'weather stopped with code 1 after 212 ms; last stderr: "missing API key"',
    ],
    [{ code: 0, signal: null, ranMs: 61_400 }, '', 'weather stopped with code 0 after 61 s'],
    [
      { code: null, signal: 'SIGKILL', ranMs: 7_200_000 },
      ' \n',
      'weather was ended by SIGKILL after 120 min',
    ],
    [
      { code: 1, signal: null, ranMs: 5 },
      'Traceback:\n  File "x.py"\nKeyError: \'KEY\'\n',
      'weather stopped with code 1 after 5 ms; last stderr: "KeyError: \'KEY\'"',
    ],
    [
      { code: 1, signal: null, ranMs: 5 },
      '\u001b[31mred\u001b[0m "quoted"\r\n',
      'weather stopped with code 1 after 5 ms; last stderr: "red \\"quoted\\""',
    ],
    [
      { code: 1, signal: null, ranMs: 5 },
      '  indented only\n',
      'weather stopped with code 1 after 5 ms; last stderr: "indented only"',
    ],
    [
      {
        code: null,
        signal: null,
        ranMs: 1,
        error: Object.assign(new Error('spawn x ENOENT'), { code: 'ENOENT' }),
      },
      '',
      'weather could not be started: command not found (ENOENT)',
    ],
    [
      { code: null, signal: null, ranMs: 1, error: new Error('spawn E2BIG') },
      '',
      'weather could not be started: spawn E2BIG',
    ],
    [
      { code: null, signal: null, ranMs: 9000, error: new IsthmusError('TIMED_OUT', 'did not end') },
      '',
      'weather did not end',
    ],
  ] as const)('tells %j with stderr %j', (exit, tail, sentence) => {
    expect(describeExit('weather', exit, tail)).toBe(sentence);
  });

  it('clips a long line', () => {
    const sentence = describeExit('x', { code: 1, signal: null, ranMs: 1 }, '😀'.repeat(1000));
    expect(sentence).toBe(`x stopped with code 1 after 1 ms; last stderr: "${'😀'.repeat(300)}…"`);
  });
});

describe.runIf(onPosix)('the ladder', () => {
  it('ends after its last step although the process does not', async () => {
    const { clock, end, steps } = startEternal();
    const run = end.begin();
    expect(end.begin()).toBe(run);
    for (const ms of [100, 200, 300]) await pass(clock, ms);
    expect(await run).toBe(false);
    expect(steps).toEqual(['end']);
    expect(clock.waiting).toBe(0);
  });

  it('skips the steps that are left when it has to hurry', async () => {
    const { clock, end } = startEternal();
    const run = end.begin();
    await until('it waits', () => clock.waiting > 0);
    const hurried = end.hurry();
    await setImmediate(); // By now it waits for SIGKILL to work, and not for the end of input.
    await pass(clock, 300);
    expect([await run, await hurried]).toEqual([false, false]);
  });

  /** The end of a process whose exit is never told, as if it hung in the kernel. */
  function startEternal() {
    const clock = new FakeClock();
    const child = spawn('sleep', ['60'], { detached: true, stdio: 'ignore' });
    const pid = killAtTheEnd(child.pid!);
    const steps: string[] = [];
    const tree = { pid, leaderExit: new Promise(() => {}), endInput: () => steps.push('end') };
    return { clock, steps, end: createTreeEnd(tree, { closeMs: 100, termMs: 200, killMs: 300 }, clock) };
  }

  /** Lets a wait of exactly `ms` pass. */
  async function pass(clock: FakeClock, ms: number): Promise<void> {
    await until('it waits', () => clock.waiting > 0);
    clock.advance(ms - 1);
    expect(clock.waiting).toBe(1);
    clock.advance(1);
  }
});

describe.runIf(process.platform === 'linux')('a group of which only a zombie is left', () => {
  it('is gone, although the system still knows it', async () => {
    // `sleep` never asks how its child has ended, as the first process of many a container. The shell might, so the child
    // outlives it.
    const parent = spawn('sh', ['-c', 'setsid sleep 0.3 & echo $!; exec sleep 60'], {
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    killAtTheEnd(parent.pid!);
    const zombie = Number(await firstLine(parent.stdout));
    await until('it is a zombie', () => !isAlive(zombie));
    expect(process.kill(-zombie, 0)).toBe(true);
    expect(await isTreeGone(zombie)).toBe(true);
  });
});
