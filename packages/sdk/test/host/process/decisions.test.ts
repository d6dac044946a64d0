import { describe, expect, it, test } from 'vitest';
import { IsthmusError } from '../../../src/errors.js';
import { resolveDefinition, type ServerDefinition } from '../../../src/host/definition.js';
import { CallSemaphore } from '../../../src/host/process/call-semaphore.js';
import { changedLists } from '../../../src/host/process/first-lists.js';
import { classifyHealth, DEFAULT_HEALTH, type HealthObservation } from '../../../src/host/process/health.js';
import {
  countFailure,
  DEFAULT_RESTART,
  decideRestart,
  nextState,
  type ProcessEvent,
  type ProcessState,
} from '../../../src/host/process/process-state.js';
import { failure, isSettled } from '../../support/client/open-client.js';

describe('the restart policy', () => {
  it('waits 1 s, doubles, and gives up after five attempts', () => {
    expect([1, 2, 3, 4, 5, 6].map((failures) => decideRestart(DEFAULT_RESTART, failures, 0.5))).toEqual([
      { kind: 'after', delayMs: 1000, attempt: 1 },
      { kind: 'after', delayMs: 2000, attempt: 2 },
      { kind: 'after', delayMs: 4000, attempt: 3 },
      { kind: 'after', delayMs: 8000, attempt: 4 },
      { kind: 'after', delayMs: 16_000, attempt: 5 },
      { kind: 'give-up', attempts: 5 },
    ]);
  });

  it('never waits longer than 30 s, jitter included', () => {
    const policy = { ...DEFAULT_RESTART, attempts: 2000 };
    expect(decideRestart(policy, 6, 0.5)).toEqual({ kind: 'after', delayMs: 30_000, attempt: 6 });
    expect(decideRestart(policy, 6, 1)).toEqual({ kind: 'after', delayMs: 30_000, attempt: 6 });
    // 2 ** 1999 is no number any more.
    expect(decideRestart(policy, 2000, 1)).toEqual({ kind: 'after', delayMs: 30_000, attempt: 2000 });
  });

  it.each([
    { random: 0, delayMs: 800 },
    { random: 0.25, delayMs: 900 },
    { random: 1, delayMs: 1200 },
  ])('spreads the delay by a fifth either way: $random → $delayMs ms', ({ random, delayMs }) => {
    expect(decideRestart(DEFAULT_RESTART, 1, random)).toEqual({ kind: 'after', delayMs, attempt: 1 });
  });

  it('follows other numbers when it is given them', () => {
    const policy = { attempts: 2, firstDelayMs: 10, maxDelayMs: 15, jitter: 0, stableMs: 1 };
    expect([1, 2, 3].map((failures) => decideRestart(policy, failures, 0))).toEqual([
      { kind: 'after', delayMs: 10, attempt: 1 },
      { kind: 'after', delayMs: 15, attempt: 2 },
      { kind: 'give-up', attempts: 2 },
    ]);
    expect(decideRestart({ ...policy, attempts: 0 }, 1, 0)).toEqual({ kind: 'give-up', attempts: 0 });
  });

  it('forgets earlier failures after five stable minutes, not a millisecond before', () => {
    expect(countFailure(DEFAULT_RESTART, 4, { ranMs: 299_999, served: 9 })).toBe(5);
    expect(countFailure(DEFAULT_RESTART, 4, { ranMs: 300_000, served: 0 })).toBe(1);
    expect(countFailure(DEFAULT_RESTART, 4, { ranMs: 0, served: 10 })).toBe(1);
    expect(countFailure(DEFAULT_RESTART, 0, { ranMs: 0, served: 0 })).toBe(1);
  });
});

describe('the states of a process', () => {
  const TABLE: Record<ProcessState, Partial<Record<ProcessEvent, ProcessState>>> = {
    idle: { start: 'starting', stop: 'stopped' },
    starting: {
      answered: 'ready',
      failed: 'backing-off',
      'gave-up': 'crash-loop',
      ended: 'idle',
      stop: 'stopped',
    },
    ready: {
      failed: 'backing-off',
      'gave-up': 'crash-loop',
      ended: 'idle',
      drain: 'draining',
      stop: 'stopped',
    },
    draining: { ended: 'idle', stop: 'stopped' },
    'backing-off': { start: 'starting', ended: 'idle', stop: 'stopped' },
    'crash-loop': { start: 'starting', ended: 'idle', stop: 'stopped' },
    stopped: {},
  };
  const EVENTS: ProcessEvent[] = ['start', 'answered', 'failed', 'gave-up', 'ended', 'drain', 'stop'];

  test.each(Object.entries(TABLE))('%s leads where it should, and nowhere else', (state, row) => {
    const reached = EVENTS.map((event) => [event, nextState(state as ProcessState, event)]);
    expect(reached).toEqual(EVENTS.map((event) => [event, row[event]]));
  });

  it('lets nothing out of stopped', () => {
    expect(EVENTS.flatMap((event) => nextState('stopped', event) ?? [])).toEqual([]);
  });
});

describe('the verdict on a process that does not answer', () => {
  const facts = { processes: 1, rssBytes: 1, cpuMs: 1000, stopped: false };
  const silent: HealthObservation = {
    heard: false,
    before: facts,
    after: facts,
    silentMs: 10_000,
    watchedMs: 10_000,
    maxSilentMs: DEFAULT_HEALTH.maxSilentMs,
  };

  it('is healthy when anything came, whatever the system says', () => {
    expect(classifyHealth({ ...silent, heard: true, after: { ...facts, stopped: true } })).toEqual({
      kind: 'healthy',
    });
  });

  it('is hung when it was stopped, though it may have worked before that', () => {
    expect(classifyHealth({ ...silent, after: { ...facts, cpuMs: 9000, stopped: true } })).toEqual({
      kind: 'hung',
      why: 'it is stopped, and sent no message for 10000 ms',
    });
  });

  it('is hung when it has not worked although there was something to answer', () => {
    expect(classifyHealth(silent)).toEqual({
      kind: 'hung',
      why: 'it sent no message for 10000 ms, and used the processor for 0 of the last 10000 ms',
    });
  });

  it('takes the ticking of timers for no work', () => {
    expect(classifyHealth({ ...silent, after: { ...facts, cpuMs: 2000 } }).kind).toBe('hung');
    expect(classifyHealth({ ...silent, after: { ...facts, cpuMs: 2001 } }).kind).toBe('busy');
  });

  it('is busy while it works, and hung when even that takes too long', () => {
    const working = { ...silent, after: { ...facts, cpuMs: 9000 } };
    expect(classifyHealth(working)).toEqual({
      kind: 'busy',
      why: 'it sent no message for 10000 ms, and used the processor for 8000 of the last 10000 ms',
    });
    expect(classifyHealth({ ...working, silentMs: 299_999 }).kind).toBe('busy');
    expect(classifyHealth({ ...working, silentMs: 300_000 }).kind).toBe('hung');
  });

  test.each(['before', 'after'] as const)('is not held against it when there are no facts: %s', (when) => {
    const look = { ...silent, [when]: undefined, silentMs: 1_000_000 };
    expect(classifyHealth(look)).toEqual({
      kind: 'busy',
      why: 'the operating system has no facts about the process',
    });
  });

  it('does not count a processor time that fell, because a child of the process ended, as work', () => {
    expect(classifyHealth({ ...silent, after: { ...facts, cpuMs: 10 } }).kind).toBe('hung');
  });
});

describe('slots', () => {
  it('are given in the order in which they were asked for', async () => {
    const semaphore = new CallSemaphore('a', 1, 10);
    const order: string[] = [];
    await semaphore.take();
    const two = semaphore.take().then(() => order.push('two'));
    const three = semaphore.take().then(() => order.push('three'));
    expect(semaphore).toMatchObject({ taken: 1, queued: 2, hasRoom: false });
    // tryTake() does not pass the queue.
    expect(semaphore.tryTake()).toBe(false);
    semaphore.release();
    await two;
    expect(semaphore.tryTake()).toBe(false);
    semaphore.release();
    await three;
    expect(order).toEqual(['two', 'three']);
    semaphore.release();
    expect(semaphore).toMatchObject({ taken: 0, queued: 0 });
    expect(semaphore.tryTake()).toBe(true);
  });

  it('are refused as busy, with a sentence, when too many wait', async () => {
    const reports: [number, boolean][] = [];
    const semaphore = new CallSemaphore('weather', 1, 1, (queued, refused) =>
      reports.push([queued, refused]),
    );
    await semaphore.take();
    const waiting = semaphore.take();
    const error = await failure(semaphore.take());
    expect(error).toMatchObject({ name: 'IsthmusError', code: 'BUSY', sent: 'no' });
    expect(error.message).toBe('weather is busy: all 1 slots are taken and 1 wait; try again later');
    expect(reports).toEqual([
      [1, false],
      [1, true],
    ]);
    semaphore.release();
    await waiting;
  });

  it('are not waited for at all where the queue has no room', async () => {
    const semaphore = new CallSemaphore('a', 1, 0);
    await semaphore.take();
    expect(await failure(semaphore.take())).toMatchObject({ code: 'BUSY' });
    semaphore.release();
    await semaphore.take();
  });

  it('go to the next one when somebody stops waiting', async () => {
    const semaphore = new CallSemaphore('a', 1, 10);
    await semaphore.take();
    const abort = new AbortController();
    const gone = failure(semaphore.take(abort.signal));
    const patient = semaphore.take();
    abort.abort(new Error('changed my mind'));
    expect((await gone).message).toBe('changed my mind');
    expect(semaphore.queued).toBe(1);
    semaphore.release();
    await patient;
    expect(semaphore).toMatchObject({ taken: 1, queued: 0 });
  });

  it('are not given to somebody who had left before asking, nor kept by somebody who leaves after', async () => {
    const semaphore = new CallSemaphore('a', 1, 10);
    await semaphore.take();
    const abort = new AbortController();
    abort.abort(new Error('gone'));
    expect((await failure(semaphore.take(abort.signal))).message).toBe('gone');
    const late = new AbortController();
    const taking = semaphore.take(late.signal);
    semaphore.release();
    late.abort();
    await taking;
    expect(semaphore).toMatchObject({ taken: 1, queued: 0 });
  });

  it('are given at once when there are more of them', async () => {
    const semaphore = new CallSemaphore('a', 1, 10);
    await semaphore.take();
    const waiting = Promise.all([semaphore.take(), semaphore.take()]);
    semaphore.resize(2, 10);
    expect(await isSettled(waiting)).toBe(false);
    semaphore.resize(3, 10);
    await waiting;
    expect(semaphore.taken).toBe(3);
  });

  it('come back only when enough were given back, when there are fewer of them', async () => {
    const semaphore = new CallSemaphore('a', 3, 10);
    for (let i = 0; i < 3; i += 1) await semaphore.take();
    semaphore.resize(1, 10);
    const waiting = semaphore.take();
    semaphore.release();
    semaphore.release();
    expect(await isSettled(waiting)).toBe(false);
    semaphore.release();
    await waiting;
    expect(semaphore.taken).toBe(1);
  });

  it('are refused to all who wait, with the reason', async () => {
    const semaphore = new CallSemaphore('a', 1, 10);
    await semaphore.take();
    const waiting = [failure(semaphore.take()), failure(semaphore.take())];
    semaphore.refuseAll(new IsthmusError('CONNECTION_CLOSED', 'it ended', { sent: 'no' }));
    expect(await Promise.all(waiting)).toMatchObject([{ message: 'it ended' }, { message: 'it ended' }]);
    expect(semaphore.queued).toBe(0);
  });
});

describe('the definition of a server', () => {
  it('has a default for everything', () => {
    expect(resolveDefinition('a', { command: 'x' })).toEqual({
      command: { command: 'x' },
      start: 'lazy',
      logStderr: true,
      processes: 'shared',
      maxProcesses: 1,
      maxInFlight: 256,
      maxParked: 1000,
      maxQueue: 1024,
      idleMs: undefined,
      maxAgeMs: undefined,
      overlap: false,
      drainMs: 30_000,
      restart: { attempts: 5, firstDelayMs: 1000, maxDelayMs: 30_000, jitter: 0.2, stableMs: 300_000 },
      health: undefined,
      maxUnreadMs: 60_000,
      trustHints: false,
      disabled: false,
      mode: 'auto',
      timeoutMs: 60_000,
      connectTimeoutMs: 30_000,
      silenceMs: 1000,
      bootMs: 5000,
      maxRounds: 16,
      answers: {},
      capabilities: {},
      questions: 'adaptive',
    });
  });

  test.each<[Partial<ServerDefinition>, object]>([
    [{ processes: { pool: 3 } }, { maxProcesses: 3 }],
    [{ processes: { pool: 3 }, overlap: true }, { maxProcesses: 4 }],
    [{ overlap: true }, { maxProcesses: 2 }],
    [{ processes: 'per-conversation' }, { maxProcesses: 16, idleMs: undefined }],
    [{ processes: 'per-principal' }, { maxProcesses: 16, idleMs: 300_000 }],
    [{ processes: 'per-principal', idleMs: false }, { idleMs: undefined }],
    [{ restart: false }, { restart: undefined }],
    [
      { restart: { attempts: 1 } },
      { restart: { attempts: 1, firstDelayMs: 1000, maxDelayMs: 30_000, jitter: 0.2, stableMs: 300_000 } },
    ],
    [{ health: {} }, { health: { everyMs: 30_000, timeoutMs: 10_000, maxSilentMs: 300_000 } }],
    [{ health: false }, { health: undefined }],
    [{ maxQueue: 0 }, { maxQueue: 0 }],
  ])('%j gives %j', (more, expected) => {
    expect(resolveDefinition('a', { command: 'x', ...more })).toMatchObject(expected);
  });

  test.each<[object, string]>([
    [{ command: '' }, 'command'],
    [{ command: 7 }, 'command'],
    [{ processes: 'many' }, 'processes'],
    [{ processes: { pool: 0 } }, 'processes'],
    [{ processes: { pool: 1.5 } }, 'processes'],
    [{ processes: null }, 'processes'],
    [{ mode: 'ancient' }, 'mode'],
    [{ mode: '1999-01-01' }, 'mode'],
    [{ maxProcesses: 0 }, 'maxProcesses'],
    [{ maxInFlight: -1 }, 'maxInFlight'],
    [{ maxQueue: -1 }, 'maxQueue'],
    [{ maxQueue: Number.NaN }, 'maxQueue'],
    [{ maxAgeMs: 0 }, 'maxAgeMs'],
    [{ drainMs: Number.POSITIVE_INFINITY }, 'drainMs'],
    [{ timeoutMs: '5' }, 'timeoutMs'],
    [{ idleMs: 0 }, 'idleMs'],
    [{ idleMs: true }, 'idleMs'],
    [{ start: 'soon' }, 'start'],
    [{ restart: { attempts: -1 } }, 'got -1'],
    [{ restart: { firstDelayMs: Number.NaN } }, 'got NaN'],
    [{ restart: { jitter: 2 } }, 'jitter'],
    [{ health: { everyMs: -5 } }, 'got -5'],
  ])('%j is refused, with the name of the server and of the option', (more, what) => {
    let thrown: unknown;
    try {
      resolveDefinition('weather', { command: 'x', ...more } as ServerDefinition);
    } catch (error) {
      thrown = error;
    }
    expect(thrown).toMatchObject({ name: 'IsthmusError', code: 'INVALID_OPTION' });
    expect((thrown as Error).message).toContain('Server weather: ');
    expect((thrown as Error).message).toContain(what);
  });
});

describe('lists before and after a restart', () => {
  it('differ when both are known and not the same', () => {
    const before = { tools: 'a', prompts: 'b', resources: 'c' };
    expect(changedLists(before, before)).toEqual([]);
    expect(changedLists(before, { tools: 'x', prompts: 'b', resources: 'y' })).toEqual([
      'tools',
      'resources',
    ]);
  });

  it('are not known to differ when one of them did not come', () => {
    expect(changedLists({ tools: 'a' }, { prompts: 'b' })).toEqual([]);
    expect(changedLists({}, { tools: 'a' })).toEqual([]);
  });
});
