import { describe, expect, it } from 'vitest';
import { fixture } from '../../../../test/support/child.js';
import { FakeClock } from '../../../../test/support/fake-clock.js';
import { describeExit } from '../../src/process/describe-exit.js';
import { firstLine, isAlive, killAtTheEnd, onPosix, start, startFixture, until } from '../support/process.js';

const LONG = { closeMs: 60_000, termMs: 60_000, killMs: 60_000 };

describe('stop', () => {
  it('ends a child that heeds the end of its input without any signal', async () => {
    const child = startFixture('child-that-says-nothing.mjs', [], { shutdown: LONG });
    expect(await child.stop()).toMatchObject({ code: 0, signal: null });
    expect(isAlive(child.pid!)).toBe(false);
  });

  it.runIf(onPosix)('sends SIGTERM to a child that ignores the end of its input', async () => {
    const child = startFixture('child-that-ignores-eof.mjs');
    expect(await firstLine(child.stdout)).toBe('ready');
    expect(await child.stop()).toMatchObject({ code: null, signal: 'SIGTERM' });
    expect(isAlive(child.pid!)).toBe(false);
  });

  it.runIf(onPosix)('sends SIGKILL to a child that ignores SIGTERM as well', async () => {
    const { child, climbDown } = await startStubborn();
    const stopped = child.stop();
    await climbDown();
    expect(await stopped).toEqual({ code: null, signal: 'SIGKILL', ranMs: 4000 });
    expect(isAlive(child.pid!)).toBe(false);
  });

  it.runIf(onPosix)('gives the same end to everybody who asks, and climbs down only once', async () => {
    const { child, climbDown } = await startStubborn();
    const stopped = [child.stop(), child.stop()];
    await climbDown();
    const [first, second] = await Promise.all(stopped);
    expect(second).toEqual(first);
    expect(await child.stop()).toEqual(first);
    expect(await child.exited).toEqual(first);
    expect(child.stderr.tail()).toBe('end of input ignored\nSIGTERM ignored\n');
  });

  it('ends a child that has hardly started', async () => {
    const child = startFixture('child-that-says-nothing.mjs');
    const exit = await child.stop();
    expect(exit.error).toBeUndefined();
    expect(isAlive(child.pid!)).toBe(false);
  });

  it('settles for a child that has long exited', async () => {
    const child = startFixture('child-that-dies-at-start.mjs', [], { shutdown: LONG });
    const exit = await child.exited;
    expect(await child.stop()).toEqual(exit);
    expect(await child.kill()).toEqual(exit);
  });

  it('leaves no pipe open', async () => {
    const child = startFixture('child-that-ignores-eof.mjs');
    await child.life;
    await child.stop();
    expect([child.stdin.destroyed, child.stdout.destroyed]).toEqual([true, true]);
  });

  it('settles when the output of the child is not read', async () => {
    const child = startFixture('child-that-talks-and-exits.mjs', ['1000000']);
    await child.life;
    const exit = await child.stop();
    expect(exit.error).toBeUndefined();
    expect(isAlive(child.pid!)).toBe(false);
  });

  it('settles when the child has not read what it was sent', async () => {
    const child = startFixture('child-that-ignores-eof.mjs');
    expect(await firstLine(child.stdout)).toBe('ready');
    expect(child.stdin.write(Buffer.alloc(4_000_000))).toBe(false);
    await child.stop();
    expect(isAlive(child.pid!)).toBe(false);
  });
});

describe('kill', () => {
  it('does not wait', async () => {
    const child = startFixture('child-that-ignores-sigterm.mjs', [], { shutdown: LONG });
    expect(await firstLine(child.stdout)).toBe('ready');
    await child.kill();
    expect(isAlive(child.pid!)).toBe(false);
    if (onPosix) expect(await child.exited).toMatchObject({ code: null, signal: 'SIGKILL' });
  });

  it('overtakes a stop that is waiting', async () => {
    const child = startFixture('child-that-ignores-sigterm.mjs', [], { shutdown: LONG });
    expect(await firstLine(child.stdout)).toBe('ready');
    const stopped = child.stop();
    await child.kill();
    await stopped;
    expect(isAlive(child.pid!)).toBe(false);
  });

  it.runIf(onPosix)('overtakes a stop that waits for a grandchild', async () => {
    const child = startFixture('child-with-grandchild.mjs', [], { shutdown: { termMs: 60_000 } });
    const grandchild = killAtTheEnd(Number(await firstLine(child.stdout)));
    const stopped = child.stop();
    await child.exited;
    expect(isAlive(grandchild)).toBe(true);
    await child.kill();
    await stopped;
    expect(isAlive(grandchild)).toBe(false);
  });
});

describe.runIf(onPosix)('what a child has started', () => {
  it('is ended with it', async () => {
    const child = startFixture('child-with-grandchild.mjs');
    const grandchild = killAtTheEnd(Number(await firstLine(child.stdout)));
    expect(isAlive(grandchild)).toBe(true);
    expect(await child.stop()).toMatchObject({ code: 0, signal: null });
    expect(isAlive(grandchild)).toBe(false);
  });

  it('is ended when the child has exited by itself, without being asked', async () => {
    const child = startFixture('child-with-grandchild.mjs', ['leave']);
    const grandchild = killAtTheEnd(Number(await firstLine(child.stdout)));
    expect(await child.exited).toMatchObject({ code: 3, signal: null });
    await until('the grandchild is gone', () => !isAlive(grandchild));
  });

  it('does not keep the exit from being told by holding the pipes', async () => {
    const child = startFixture('child-with-grandchild.mjs', ['leave'], { shutdown: LONG });
    const grandchild = killAtTheEnd(Number(await firstLine(child.stdout)));
    expect(await child.exited).toMatchObject({ code: 3, signal: null });
    expect(isAlive(grandchild)).toBe(true);
  });

  it('does not keep a stop from settling when it has left the group and holds the pipes', async () => {
    const child = startFixture('child-with-grandchild.mjs', ['detach'], { shutdown: LONG });
    const grandchild = killAtTheEnd(Number(await firstLine(child.stdout)));
    expect(await child.stop()).toMatchObject({ code: 3, signal: null });
    expect(child.stdout.destroyed).toBe(true);
    expect(isAlive(grandchild)).toBe(true);
  });

  it('is ended when a shell stands between', async () => {
    // The `; true` keeps the shell from replacing itself by the program.
    const script = `"${process.execPath}" "${fixture('child-that-ignores-sigterm.mjs')}" & echo $!; wait; true`;
    const child = start({ command: 'sh', args: ['-c', script] });
    const pid = killAtTheEnd(Number(await firstLine(child.stdout)));
    expect(pid).not.toBe(child.pid);
    expect(isAlive(pid)).toBe(true);
    await child.stop();
    expect([isAlive(child.pid!), isAlive(pid)]).toEqual([false, false]);
  });
});

describe('exited', () => {
  it('comes after everything that the child said', async () => {
    const child = startFixture('child-that-talks-and-exits.mjs', ['3000000']);
    let length = 0;
    child.stdout.on('data', (chunk: Buffer) => {
      length += chunk.length;
    });
    expect(await child.exited).toMatchObject({ code: 5, signal: null });
    expect(length).toBe(3_000_000);
  });

  it.runIf(process.platform === 'linux')('waits for what is still in the pipe', async () => {
    const child = startFixture('child-that-talks-and-exits.mjs', ['150000']);
    let length = 0;
    child.stdout.on('data', (chunk: Buffer) => {
      length += chunk.length;
    });
    child.stdout.pause(); // Node itself ends the pause when the child has exited.
    expect(await child.exited).toMatchObject({ code: 5, signal: null });
    expect(length).toBe(150_000);
  });

  it('has the code, and stderr has the reason', async () => {
    const child = startFixture('child-that-dies-at-start.mjs');
    const exit = await child.exited;
    expect(exit).toEqual({ code: 1, signal: null, ranMs: exit.ranMs });
    expect(describeExit('weather', { ...exit, ranMs: 212 }, child.stderr.tail())).toBe(
      'weather stopped with code 1 after 212 ms; last stderr: "Error: missing API key"',
    );
  });

  it.runIf(onPosix)('has the signal when another process killed it', async () => {
    const child = startFixture('child-that-ignores-eof.mjs');
    expect(await firstLine(child.stdout)).toBe('ready');
    process.kill(child.pid!, 'SIGQUIT');
    expect(await child.exited).toMatchObject({ code: null, signal: 'SIGQUIT' });
  });
});

/** A child that only SIGKILL ends, and time that passes only when it has shown that it ignored the step before. */
async function startStubborn() {
  const clock = new FakeClock();
  const child = startFixture('child-that-ignores-sigterm.mjs', [], { clock, shutdown: {} });
  expect(await firstLine(child.stdout)).toBe('ready');
  const climbDown = async () => {
    await until('it ignores the end of input', () => child.stderr.tail() === 'end of input ignored\n');
    clock.advance(1999);
    expect(isAlive(child.pid!)).toBe(true);
    clock.advance(1);
    await until('it ignores SIGTERM', () => child.stderr.tail().endsWith('SIGTERM ignored\n'));
    clock.advance(1999);
    expect(isAlive(child.pid!)).toBe(true);
    clock.advance(1);
  };
  return { child, climbDown };
}
