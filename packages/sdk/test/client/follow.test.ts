import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { ChangeQueue } from '../../src/client/subscriptions.js';

function followed(onChange?: () => void) {
  const closed: string[] = [];
  const queue = new ChangeQueue(() => closed.push('closed'));
  const heard: string[] = [];
  queue.follow({
    changed(change) {
      heard.push(change.kind);
      onChange?.();
    },
    ended: ({ error }) => heard.push(`end: ${String(error)}`),
  });
  return { queue, heard, closed };
}

describe('a reader that follows a queue of changes', () => {
  it('gets each change in a turn of its own, and one that came twice once', async () => {
    const { queue, heard } = followed();
    queue.push({ kind: 'tools' });
    queue.push({ kind: 'prompts' });
    queue.push({ kind: 'prompts' });
    expect(heard).toEqual([]);
    await turn();
    await turn();
    expect(heard).toEqual(['tools', 'prompts']);
  });

  it('gets what was queued before it came', async () => {
    const queue = new ChangeQueue(() => {});
    queue.push({ kind: 'resources' });
    const heard: string[] = [];
    queue.follow({ changed: ({ kind }) => heard.push(kind), ended() {} });
    await turn();
    expect(heard).toEqual(['resources']);
  });

  it('is told of the end once, after the changes that were queued', async () => {
    const { queue, heard } = followed();
    queue.push({ kind: 'tools' });
    queue.end('lost');
    queue.end('again');
    queue.push({ kind: 'prompts' });
    await turn();
    await turn();
    expect(heard).toEqual(['tools', 'end: lost']);
  });

  it('is not called while the queue is being ended', async () => {
    const { queue, heard } = followed();
    queue.end();
    expect(heard).toEqual([]);
    await turn();
    expect(heard).toEqual(['end: undefined']);
  });

  it('ends the subscription when it fails', async () => {
    const { queue, heard, closed } = followed(() => {
      throw new Error('broken');
    });
    queue.push({ kind: 'tools' });
    await turn();
    await turn();
    expect(heard).toEqual(['tools', 'end: Error: broken']);
    expect(closed).toEqual(['closed']);
  });
});
