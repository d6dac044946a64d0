import { describe, expect, it } from 'vitest';
import {
  command,
  gone,
  serverPids,
  shim,
  useDaemonHome,
} from '../../packages/gateway/test/support/daemon-home.js';
import { type Child, fixture, ISTHMUS, startChild, startDemo } from '../support/child.js';
import { call } from '../support/messages.js';
import { eventually } from '../support/until.js';
import { notesFile, staying, stopwatch } from './support-ends.js';

const STOPPED = { code: -32603, message: 'The server stopped before this request was finished' };

/** How long it takes from the signal to the exit. */
async function ends(child: Child, signal: NodeJS.Signals = 'SIGTERM'): Promise<number> {
  const ms = stopwatch();
  child.kill(signal);
  const { code, signal: killedBy } = await child.exit();
  // 143, 130: the machine was so busy that the last moment came.
  expect([killedBy, [0, 130, 143].includes(code!)]).toEqual([null, true]);
  return ms();
}

async function busyLibraryServer(): Promise<Child> {
  const child = startChild(fixture('server-with-busy-handlers.mjs'));
  child.send(call(1, 'quick'), call(2, 'heeds'), call(3, 'throws'), call(4, 'ignores'));
  await child.until('all calls', () => (child.stderr.match(/began/g) ?? []).length === 4);
  return child;
}

describe('R6: a library server on stdio', () => {
  it.each([
    ['SIGTERM alone', false],
    ['SIGTERM after the end of input', true],
  ])(
    'R6: %s: handlers are aborted, all requests are answered, and it is gone within 1.5 s',
    async (_, atEnd) => {
      const child = await busyLibraryServer();
      if (atEnd) child.end();
      expect(await ends(child)).toBeLessThan(1500);
      expect((await child.answer(1)).result?.['content']).toEqual([{ type: 'text', text: 'done' }]);
      expect((await child.answer(2)).result?.['content']).toEqual([{ type: 'text', text: 'half of it' }]);
      expect([(await child.answer(3)).error, (await child.answer(4)).error]).toEqual([STOPPED, STOPPED]);
      expect(child.messages).toHaveLength(4);
      expect(child.stderr.match(/\w+ aborted/g)!.sort()).toEqual([
        'heeds aborted',
        'ignores aborted',
        'throws aborted',
      ]);
    },
  );

  it('R6: the end of input alone leaves calls the whole grace', async () => {
    const child = startChild(fixture('server-with-slow-tool.mjs'));
    child.send(call(1, 'slow', { ms: 1000 }));
    child.end();
    expect((await child.answer(1)).result?.['content']).toEqual([{ type: 'text', text: 'took 1000 ms' }]);
    expect(await child.exit()).toEqual({ code: 0, signal: null });
  });

  it('R6: a second signal does not wait', async () => {
    const child = await busyLibraryServer();
    child.kill('SIGTERM');
    await child.until(
      'the first signal',
      () => child.messages.length > 0 || child.stderr.includes('aborted'),
    );
    child.kill('SIGTERM');
    expect((await child.exit()).code).toBeOneOf([0, 143]);
  });

  it('R6: a host that does not read does not keep it', async () => {
    const child = startDemo({ read: false });
    child.send(call(1, 'big', { bytes: 8_000_000 }), call(2, 'sleep', { ms: 60_000 }));
    await eventually(() => expect(child.stdout.readableLength).toBeGreaterThan(0));
    const ms = stopwatch();
    child.kill('SIGTERM');
    expect((await child.exit()).code).toBe(143);
    expect(ms()).toBeLessThan(1500);
  });
});

it('R6: isthmus demo, busy, is gone within 1.5 s of SIGTERM', async () => {
  const child = startDemo();
  child.send(call(1, 'sleep', { ms: 60_000 }), call(2, 'echo', { text: 'here' }));
  await child.answer(2);
  expect(await ends(child)).toBeLessThan(1500);
  expect((await child.answer(1)).error).toEqual(STOPPED);
});

describe('R6: isthmus serve --listen stdio', () => {
  it.each([
    [[], 'SIGTERM'],
    [['--grace', '60000', '--processes', 'shared'], 'SIGTERM'],
    [[], 'SIGINT'],
  ] as const)(
    'R6: with %j and a child that ignores everything, %s: gone within 1.5 s',
    async (options, signal) => {
      const notes = notesFile();
      const child = startChild(ISTHMUS, {
        args: ['serve', '--quiet', '--listen', 'stdio', ...options, '--', ...staying(notes.file)],
      });
      child.send(call(1, 'wait'));
      await eventually(() => expect(notes.read()).toEqual(['call']));
      child.end();
      expect(await ends(child, signal)).toBeLessThan(1500);
      expect((await child.answer(1)).error).toEqual(STOPPED);
      expect(notes.read()).toEqual(['call', 'cancelled', 'end', 'SIGTERM']);
    },
  );
});

describe('R6: isthmus attach', () => {
  const home = useDaemonHome();

  it.each([
    ['SIGTERM alone', false],
    ['SIGTERM after the end of input', true],
  ])('R6: %s: it answers, the server is told, and it is gone within 1.5 s', async (_, atEnd) => {
    const notes = notesFile();
    const child = shim(home, '--grace', '0', ...command(home, ...staying(notes.file, 'heeds').slice(1)));
    child.send(call(1, 'wait'));
    await eventually(() => expect(notes.read()).toEqual(['call']));
    const [pid] = serverPids(home);
    if (atEnd) child.end();
    expect(await ends(child)).toBeLessThan(1500);
    expect((await child.answer(1)).error).toEqual({
      code: -32603,
      message: 'isthmus attach stopped before this request was finished',
      data: { reason: 'CONNECTION_CLOSED', sent: 'maybe' },
    });
    await gone(pid!);
    expect(notes.read()).toEqual(['call', 'cancelled', 'end']);
  });
});
