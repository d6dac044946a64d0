import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import { describeExit } from '../../src/process/describe-exit.js';
import { onPosix, readAll, start, startFixture, temporaryFolder } from '../support/process.js';

describe('a command that cannot be started', () => {
  it('is a child that has exited with an error', async () => {
    const child = start({ command: 'no-such-command-anywhere' });
    await child.life;
    const exit = await child.exited;
    expect(exit).toMatchObject({ code: null, signal: null, error: { code: 'ENOENT' } });
    expect(describeExit('weather', exit, child.stderr.tail())).toBe(
      'weather could not be started: command not found: no-such-command-anywhere (ENOENT)',
    );
    expect(await child.stop()).toEqual(exit);
  });

  it('can be stopped, killed, read and written to in the turn in which it failed', async () => {
    const child = start({ command: 'no-such-command-anywhere' });
    child.stdin.write('anybody there?\n');
    const [stopped, killed, text] = await Promise.all([child.stop(), child.kill(), readAll(child.stdout)]);
    expect(stopped.error).toBeDefined();
    expect(killed).toEqual(stopped);
    expect(text).toBe('');
    child.stdin.write('still nobody?\n');
    await setImmediate(); // An error that nobody handles would come now, and fail the run.
  });

  it.runIf(onPosix)('says so when it lacks the permission', async () => {
    const folder = temporaryFolder();
    const program = join(folder, 'program');
    writeFileSync(program, '#!/bin/sh\n');
    chmodSync(program, 0o644);
    const exit = await start({ command: program }).exited;
    expect(describeExit('weather', exit)).toBe(
      `weather could not be started: no permission for the command: ${program} (EACCES)`,
    );
  });

  it('blames the working directory when that is what does not exist', async () => {
    const cwd = join(temporaryFolder(), 'missing');
    const exit = await start({ command: process.execPath, cwd }).exited;
    expect(describeExit('weather', exit)).toBe(
      `weather could not be started: working directory not found: ${cwd} (ENOENT)`,
    );
  });

  it('does not throw what Node throws', async () => {
    const exit = await start({ command: process.execPath, args: ['a\0b'] }).exited;
    expect(exit.error).toMatchObject({ code: 'ERR_INVALID_ARG_VALUE' });
    const tooLong = await start({ command: process.execPath, args: ['x'.repeat(8_000_000)] }).exited;
    expect(tooLong.error).toBeInstanceOf(Error);
  });
});

describe('life', () => {
  it.each(['stdout', 'stderr'])('settles at the first byte on %s', async (which) => {
    const child = startFixture('child-that-says-nothing.mjs');
    let lives = false;
    const life = child.life.then(() => {
      lives = true;
    });
    expect(lives).toBe(false);
    child.stdin.write(which);
    await life;
    expect(await Promise.race([child.exited, 'not exited'])).toBe('not exited');
  });

  it('settles at the exit of a child that never said anything', async () => {
    const child = startFixture('child-that-says-nothing.mjs');
    child.stdin.end();
    await child.life;
    expect(await child.exited).toMatchObject({ code: 0 });
  });

  it('takes nothing from a reader of stdout who comes later', async () => {
    const child = startFixture('child-that-says-nothing.mjs');
    child.stdin.write('stdout');
    await child.life;
    await setImmediate();
    const text = readAll(child.stdout);
    child.stdin.end();
    expect(await text).toBe('.');
  });

  it('leaves a stream that behaves like any other', async () => {
    const child = startFixture('child-that-talks-and-exits.mjs', ['100000']);
    expect(child.stdout.readableFlowing).toBe(null);
    expect(child.stdout.listenerCount('data') + child.stdout.listenerCount('readable')).toBe(0);
    expect((await readAll(child.stdout)).length).toBe(100_000);
    expect(child.stdout.push).toBe(Object.getPrototypeOf(child.stdout).push);
  });
});

describe('the environment of a child', () => {
  it('holds no variable of ours that it was not given', async () => {
    process.env['ISTHMUS_TEST_SECRET'] = 'hush';
    onTestFinished(() => {
      delete process.env['ISTHMUS_TEST_SECRET'];
    });
    const env = await environmentOf({ env: { WEATHER_KEY: 'k', HOME: undefined } });
    expect(env['ISTHMUS_TEST_SECRET']).toBeUndefined();
    expect(env['WEATHER_KEY']).toBe('k');
    expect(env['HOME']).toBeUndefined();
    expect(env['PATH'] ?? env['Path']).toBe(process.env['PATH']);
    expect((await environmentOf({ inheritEnv: 'all' }))['ISTHMUS_TEST_SECRET']).toBe('hush');
    expect((await environmentOf({ inheritEnv: ['ISTHMUS_TEST_SECRET'] }))['ISTHMUS_TEST_SECRET']).toBe(
      'hush',
    );
  });
});

async function environmentOf(options: Parameters<typeof startFixture>[2]) {
  const child = startFixture('child-that-tells-its-environment.mjs', [], options);
  return JSON.parse(await readAll(child.stdout)) as Record<string, string | undefined>;
}
