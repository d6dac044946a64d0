import type { HostEvent, HostOccurrence } from '@isthmus/sdk/internal/host/host-event.js';
import { describe, expect, it } from 'vitest';
import { logHostEvent } from '../../src/telemetry/host-log.js';
import { createLog } from '../../src/telemetry/log.js';

function hostLog(secrets: string[] = []) {
  const lines: string[] = [];
  const log = createLog({
    level: 'debug',
    format: 'json',
    secrets,
    destination: { write: (line) => void lines.push(line) },
  });
  return {
    happen: (occurrence: HostOccurrence, server = 'weather') =>
      logHostEvent(log, { ...occurrence, server, at: 0 } as HostEvent),
    take: () =>
      lines.splice(0).map((line) => {
        const { time: _, ...rest } = JSON.parse(line);
        return rest;
      }),
  };
}

const PROCESS = { generation: 3, pid: 4711 };
const RECEIPT = {
  ...PROCESS,
  handshake: 'initialize',
  handshakeAt: 0,
  listError: undefined,
  complete: true,
} as const;

describe('what happens to a process', () => {
  it.each<[HostOccurrence, object]>([
    [
      { kind: 'start', generation: 3, why: 'crash' },
      { level: 'debug', generation: 3, why: 'crash', msg: 'is being started: the last process ended' },
    ],
    [
      { kind: 'ready', ...PROCESS, era: 'modern', ms: 212.4 },
      {
        level: 'info',
        ...PROCESS,
        era: 'modern',
        ms: 212.4,
        msg: 'is ready after 212 ms, and speaks the modern era',
      },
    ],
    [
      { kind: 'receipt', receipt: { ...RECEIPT, list: { method: 'tools/list', items: 36, at: 0 } } },
      { level: 'debug', ...PROCESS, msg: 'answered tools/list with 36 items' },
    ],
    [
      { kind: 'receipt', receipt: { ...RECEIPT, list: undefined } },
      { level: 'debug', ...PROCESS, msg: 'has nothing to list' },
    ],
    [
      { kind: 'receipt', receipt: { ...RECEIPT, list: undefined, listError: 'no answer', complete: false } },
      { level: 'warn', ...PROCESS, msg: 'did not answer its first list: no answer' },
    ],
    [
      {
        kind: 'exit',
        ...PROCESS,
        phase: 'run',
        expected: false,
        reason: 'weather stopped with code 1 after 5 ms',
      },
      { level: 'error', ...PROCESS, phase: 'run', msg: 'weather stopped with code 1 after 5 ms' },
    ],
    [
      { kind: 'exit', ...PROCESS, phase: 'run', expected: true, reason: 'the host ended it' },
      { level: 'info', ...PROCESS, phase: 'run', msg: 'exited (requested)' },
    ],
    [
      { kind: 'restart', attempt: 2, delayMs: 1999.6 },
      { level: 'warn', attempt: 2, delayMs: 1999.6, msg: 'will be started again in 2000 ms (attempt 2)' },
    ],
    [
      { kind: 'crash-loop', attempts: 5, reason: 'no key' },
      {
        level: 'error',
        attempts: 5,
        msg: 'ended 6 times in a row and is not restarted automatically: no key',
      },
    ],
    [
      { kind: 'drain', ...PROCESS, why: 'restart', inFlight: 2 },
      { level: 'info', ...PROCESS, inFlight: 2, msg: 'draining: restart' },
    ],
    [
      { kind: 'queue', queued: 3, refused: false },
      { level: 'debug', queued: 3, msg: '3 calls are waiting' },
    ],
    [
      { kind: 'queue', queued: 1024, refused: true },
      { level: 'warn', queued: 1024, msg: 'refused a call: 1024 are waiting already' },
    ],
    [
      { kind: 'kill', ...PROCESS, why: 'it hangs' },
      { level: 'warn', ...PROCESS, msg: 'had to be killed: it hangs' },
    ],
    [
      { kind: 'changed', generation: 3, what: ['tools', 'prompts'] },
      { level: 'info', generation: 3, msg: 'changed its tools, prompts' },
    ],
    [
      {
        kind: 'log',
        ...PROCESS,
        conversation: 'chat',
        entry: { level: 'warning', logger: 'db', data: { a: 1 } },
      },
      { level: 'warn', ...PROCESS, logger: 'db', conversation: 'chat', msg: 'says: {"a":1}' },
    ],
    [
      { kind: 'log', ...PROCESS, conversation: undefined, entry: { level: 'emergency', data: 'fire' } },
      { level: 'error', ...PROCESS, msg: 'says: fire' },
    ],
    [
      { kind: 'reaped', pid: 99, gone: true },
      { level: 'warn', pid: 99, msg: 'process 99 was left over from an earlier run and was ended' },
    ],
  ])('%j has a level and a sentence', (occurrence, expected) => {
    const { happen, take } = hostLog();
    happen(occurrence);
    expect(take()).toEqual([{ server: 'weather', event: occurrence.kind, ...expected }]);
  });

  it('names no server where there is none', () => {
    const { happen, take } = hostLog();
    happen({ kind: 'reaped', pid: 99, gone: false }, '');
    expect(take()).toEqual([
      {
        level: 'warn',
        pid: 99,
        event: 'reaped',
        msg: 'process 99 was left over from an earlier run and could not be ended',
      },
    ]);
  });
});

describe('what a process writes to stderr', () => {
  const stderr = (text: string, pid = 4711) => ({ kind: 'stderr', generation: 3, pid, text }) as const;
  const line = (msg: string, pid = 4711) => ({
    level: 'debug',
    server: 'weather',
    pid,
    generation: 3,
    event: 'stderr',
    msg,
  });

  it('is told line by line, however it comes', () => {
    const { happen, take } = hostLog();
    for (const text of ['one\ntw', 'o\r', '\n\n  \nthree']) happen(stderr(text));
    expect(take()).toEqual([line('one'), line('two')]);
  });

  it('is kept apart for each process', () => {
    const { happen, take } = hostLog();
    happen(stderr('a', 1));
    happen(stderr('b', 2));
    happen(stderr('1\n', 1));
    happen(stderr('2\n', 2));
    expect(take()).toEqual([line('a1', 1), line('b2', 2)]);
  });

  it('is told to the end when the process has ended, before its end is', () => {
    const { happen, take } = hostLog();
    happen(stderr('last words'));
    happen({ kind: 'exit', ...PROCESS, phase: 'run', expected: true, reason: '' });
    expect(take().map(({ msg }) => msg)).toEqual(['last words', 'exited (requested)']);
  });

  it('shows no secret, not even one that came in two pieces', () => {
    const { happen, take } = hostLog(['hunter2000']);
    for (const text of ['the key is hunt', 'er2000\nAuthorization: Bea', 'rer abc\n']) happen(stderr(text));
    expect(take().map(({ msg }) => msg)).toEqual(['the key is [redacted]', 'Authorization: [redacted]']);
  });

  it('is cut between words where a line is too long', () => {
    const { happen, take } = hostLog(['hunter2000']);
    happen(stderr(`${'x'.repeat(8185)} hunter2000 and more\n`));
    expect(take().map(({ msg }) => msg.slice(8180))).toEqual(['xxxxx…']);
  });

  it('is cut where a line has no end', () => {
    const { happen, take } = hostLog();
    happen(stderr('x'.repeat(20_000)));
    happen(stderr('y\n'));
    expect(take().map(({ msg }) => [msg.length, msg.at(-1)])).toEqual([
      [8193, '…'],
      [1, 'y'],
    ]);
  });
});
