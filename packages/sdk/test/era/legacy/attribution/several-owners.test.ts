import { expect, it } from 'vitest';
import type { AttributableCall } from '../../../../src/era/legacy/attribution/attributable-call.js';
import { SeveralOwners } from '../../../../src/era/legacy/attribution/several-owners.js';

const A = { name: 'a' };
const B = { name: 'b' };

const callOf = (owner: object) => ({ owner }) as AttributableCall;

it('several owners are left while two calls of different owners may have asked', () => {
  const calls = [A, A, B, A, B, B].map(callOf);
  const over = new Set<AttributableCall>();
  const owners = new SeveralOwners(calls, (call) => !over.has(call));
  const seen: boolean[] = [owners.areLeft()];
  for (const at of [5, 3, 4, 0, 2]) {
    over.add(calls[at]!);
    seen.push(owners.areLeft());
  }
  expect(seen).toEqual([true, true, true, true, true, false]);
  over.add(calls[1]!);
  expect(owners.areLeft()).toBe(false);
});

it('one owner of many calls, and no call at all, are not several', () => {
  expect(new SeveralOwners([A, A, A].map(callOf), () => true).areLeft()).toBe(false);
  expect(new SeveralOwners([], () => true).areLeft()).toBe(false);
});

it('names the two calls that it goes by, the latest first', () => {
  const calls = [A, B, A, A].map(callOf);
  const owners = new SeveralOwners(calls, () => true);
  expect(owners.areLeft()).toBe(true);
  expect(owners.witnesses).toEqual([calls[3], calls[1]]);
});

it.each([
  ['the oldest first', (calls: AttributableCall[]) => calls],
  ['the latest first', (calls: AttributableCall[]) => calls.reverse()],
])('looks at 1,000 calls that end one after the other, %s, at most four times each', (_, inOrder) => {
  const calls = Array.from({ length: 1000 }, (_, at) => callOf(at % 2 === 0 ? A : B));
  const over = new Set<AttributableCall>();
  let looked = 0;
  const owners = new SeveralOwners(calls, (call) => {
    looked += 1;
    return !over.has(call);
  });
  for (const call of inOrder([...calls])) {
    owners.areLeft();
    over.add(call);
  }
  expect(owners.areLeft()).toBe(false);
  expect(looked).toBeLessThan(4001);
});
