import { setImmediate } from 'node:timers/promises';
import type { HostEvent } from '@isthmus/sdk/internal/host/host-event.js';
import { describe, expect, it } from 'vitest';
import { createLogTail, type LogLine } from '../src/log-tail.js';
import { line } from './support/control.js';

const never = new AbortController().signal;

async function texts(lines: AsyncIterable<LogLine>): Promise<string[]> {
  const seen: string[] = [];
  for await (const each of lines) seen.push(each.text);
  return seen;
}

describe('the tail of the logs', () => {
  it('has the last lines of one server, or of all in the order in which they came', async () => {
    const tail = createLogTail();
    tail.add(line('a1', 'a'));
    tail.add(line('b1', 'b'));
    tail.add(line('a2', 'a'));
    const read = (name: string | undefined, lines: number) =>
      texts(tail.read(name, { lines, follow: false }, never));
    expect(await read('a', 10)).toEqual(['a1', 'a2']);
    expect(await read(undefined, 10)).toEqual(['a1', 'b1', 'a2']);
    expect(await read(undefined, 2)).toEqual(['b1', 'a2']);
    expect(await read('a', 0)).toEqual([]);
    expect(await read('nobody', 5)).toEqual([]);
    tail.forget('a');
    expect(await read(undefined, 10)).toEqual(['b1']);
  });

  it('keeps a bounded number of lines of each server, cut to a bounded length, without secrets', async () => {
    const tail = createLogTail({
      maxLines: 3,
      maxLineLength: 5,
      clean: (text) => text.replace('hunter2', '***'),
    });
    for (let at = 0; at < 100; at += 1) tail.add(line(`a${at}`, 'a'));
    tail.add(line('hunter2 and more', 'b'));
    expect(await texts(tail.read(undefined, { lines: 1000, follow: false }, never))).toEqual([
      'a97',
      'a98',
      'a99',
      '*** a…',
    ]);
  });

  it('follows one server: first its existing lines, then new lines, until the signal', async () => {
    const tail = createLogTail();
    tail.add(line('before', 'a'));
    const over = new AbortController();
    const following = texts(tail.read('a', { lines: 5, follow: true }, over.signal));
    await setImmediate();
    tail.add(line('elsewhere', 'b'));
    tail.add(line('now', 'a'));
    await setImmediate();
    over.abort();
    expect(await following).toEqual(['before', 'now']);
    tail.add(line('later', 'a'));
  });

  it('tells a follower that does not keep up how much it missed', async () => {
    const tail = createLogTail();
    const lines = tail.read('a', { lines: 0, follow: true }, never)[Symbol.asyncIterator]();
    const first = lines.next();
    tail.add(line('first', 'a'));
    await first;
    for (let at = 0; at < 5000; at += 1) tail.add(line(`a${at}`, 'a'));
    const { text, missed } = (await lines.next()).value as LogLine;
    expect({ text, missed }).toEqual({ text: 'a4000', missed: 4000 });
    expect((await lines.next()).value).toEqual(line('a4001', 'a'));
    await lines.return?.();
  });

  it('makes lines of the output of a process, and of the events of its life', async () => {
    const tail = createLogTail();
    const about = { server: 'a', at: 5, generation: 2, pid: 77 };
    const events: HostEvent[] = [
      { ...about, kind: 'start', why: 'use' },
      { ...about, kind: 'stderr', text: 'rea' },
      { ...about, kind: 'stderr', text: 'dy\r\nand th' },
      { ...about, kind: 'ready', era: 'legacy', ms: 12.4 },
      {
        ...about,
        kind: 'log',
        conversation: undefined,
        entry: { level: 'warning', logger: 'db', data: { slow: 1 } },
      },
      { ...about, kind: 'exit', phase: 'run', expected: false, reason: 'a stopped with code 1 after 9 ms' },
      { ...about, kind: 'restart', attempt: 1, delayMs: 250 },
      { ...about, kind: 'queue', queued: 3, refused: false },
    ];
    for (const event of events) tail.onHostEvent(event);
    const seen: LogLine[] = [];
    for await (const each of tail.read('a', { lines: 50, follow: false }, never)) seen.push(each);
    expect(seen.map(({ source, level, text }) => [source, level, text])).toEqual([
      ['gateway', 'info', 'process 2 is being started'],
      ['stderr', undefined, 'ready'],
      ['gateway', 'info', 'ready after 12 ms; it speaks the legacy era'],
      ['log', 'warning', 'db: {"slow":1}'],
      ['stderr', undefined, 'and th'],
      ['gateway', 'error', 'a stopped with code 1 after 9 ms'],
      ['gateway', 'warning', 'will be started again in 250 ms (attempt 1)'],
    ]);
    expect(seen[1]).toEqual({ server: 'a', at: 5, source: 'stderr', text: 'ready', pid: 77, generation: 2 });
  });
});
