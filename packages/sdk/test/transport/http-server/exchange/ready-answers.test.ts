import type { ServerResponse } from 'node:http';
import { setImmediate as turn } from 'node:timers/promises';
import { beforeEach, describe, expect, it } from 'vitest';
import { ReadyAnswers } from '../../../../src/transport/http-server/exchange/ready-answers.js';

describe('answers that are ready', () => {
  let sent: string[];
  let ready: ReadyAnswers;
  const response = (destroyed = false) =>
    ({ destroyed, end: (body: string) => sent.push(body) }) as unknown as ServerResponse;

  beforeEach(() => {
    sent = [];
    ready = new ReadyAnswers();
  });

  it('leave together at the end of the turn, in their order', async () => {
    ready.send(response(), 'first');
    ready.send(response(), 'second');
    expect(sent).toEqual([]);
    await turn();
    expect(sent).toEqual(['first', 'second']);
  });

  it('are not written to a client that has gone in the meantime', async () => {
    ready.send(response(true), 'gone');
    ready.send(response(), 'there');
    await turn();
    expect(sent).toEqual(['there']);
  });

  it('wait for at most 31 others', () => {
    for (let count = 1; count < 32; count += 1) ready.send(response(), String(count));
    expect(sent).toEqual([]);
    ready.send(response(), '32');
    expect(sent).toHaveLength(32);
  });

  it('leave at once after four turns with a single answer, for 60 answers', async () => {
    for (const body of ['1', '2', '3', '4']) {
      ready.send(response(), body);
      expect(sent).not.toContain(body);
      await turn();
    }
    for (let count = 1; count <= 60; count += 1) ready.send(response(), 'direct');
    expect(sent).toHaveLength(64);
    ready.send(response(), 'late');
    expect(sent).toHaveLength(64);
    await turn();
    expect(sent.at(-1)).toBe('late');
  });
});
