import { expect, it } from 'vitest';
import { compareAnswers } from '../../src/replay/compare-answers.js';

const result = (value: unknown) => ({ result: value });

it('finds values, members and items that differ, with their place', () => {
  const recorded = result({ content: [{ type: 'text', text: 'rain' }], old: 1, list: [1, 2] });
  const now = result({ content: [{ type: 'text', text: 'snow' }], fresh: true, list: [1] });
  expect(compareAnswers(recorded, now)).toEqual([
    { path: 'result.content[0].text', what: 'changed', recorded: 'rain', now: 'snow' },
    { path: 'result.old', what: 'missing', recorded: 1 },
    { path: 'result.list[1]', what: 'missing', recorded: 2 },
    { path: 'result.fresh', what: 'added', now: true },
  ]);
});

it('compares members and types only, when only the shape counts', () => {
  const recorded = result({ text: 'rain', list: [1, 2], n: 1 });
  expect(compareAnswers(recorded, result({ text: 'snow', list: [9], n: 2 }), true)).toEqual([]);
  expect(compareAnswers(recorded, result({ text: 7, list: [9], n: 2 }), true)).toEqual([
    { path: 'result.text', what: 'changed', recorded: 'rain', now: 7 },
  ]);
});

it('does not count times, ids, cursors, and what was removed from the file', () => {
  const recorded = result({
    ...{ at: '2026-11-18T10:00:00.000Z', ms: 1_790_000_000_000, nextCursor: 'a', requestState: 'b' },
    text: 'run 6f9619ff-8b86-4d01-b42d-00cf4fc964ff at 2026-11-18 10:00:00 with [redacted] and more',
    inputRequests: { 'name-1': { method: 'elicitation/create' } },
  });
  const now = result({
    ...{ at: '2027-01-01T00:00:00Z', ms: 1_800_000_000_000, nextCursor: 'c', requestState: 'd' },
    text: 'run 123e4567-e89b-42d3-a456-426614174000 at 2027-01-01 00:00:00 with a key and more',
    inputRequests: { other: { method: 'elicitation/create' } },
  });
  expect(compareAnswers(recorded, now)).toEqual([]);
  expect(compareAnswers('a [redacted] b', 'a secret c')).toHaveLength(1);
  expect(compareAnswers(5, 1_800_000_000_000)).toHaveLength(1);
});

it('stops at 100 differences', () => {
  const list = (value: number) => Array.from({ length: 1000 }, () => value);
  expect(compareAnswers(list(1), list(2))).toHaveLength(100);
  expect(compareAnswers(list(1), [])).toHaveLength(100);
});
