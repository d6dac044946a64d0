import { expect, it } from 'vitest';
import { FakeClock } from '../../../../../../test/support/fake-clock.js';
import { GivenUpCalls } from '../../../../src/era/legacy/attribution/given-up-calls.js';

it('a call that was given up is there until its time is over', () => {
  const clock = new FakeClock();
  const calls = new GivenUpCalls<string>(clock, 0);
  calls.add(1, 'one', 1000);
  clock.advance(400);
  calls.add(2, 'two', 1000);
  expect(calls.all()).toEqual(['one', 'two']);
  expect([calls.msLeft('one'), calls.msLeft('two')]).toEqual([600, 1000]);
  expect(calls.some((call) => call === 'one')).toBe(true);
  clock.advance(599);
  expect(calls.all()).toEqual(['one', 'two']);
  clock.advance(1);
  expect(calls.all()).toEqual(['two']);
  expect([calls.msLeft('one'), calls.msLeft('two')]).toEqual([0, 400]);
  expect(calls.some((call) => call === 'one')).toBe(false);
  clock.advance(400);
  expect(calls.all()).toEqual([]);
});

it('a call that was given up is gone with its late answer, whose id has the type that was sent', () => {
  const calls = new GivenUpCalls<string>(new FakeClock(), 0);
  calls.add(1, 'one', 1000);
  expect(calls.remove('1')).toBeUndefined();
  expect(calls.all()).toEqual(['one']);
  expect(calls.remove(1)).toBe('one');
  expect(calls.remove(1)).toBeUndefined();
  expect(calls.all()).toEqual([]);
});

it('calls that were given up and never answered are forgotten with the next one', () => {
  const clock = new FakeClock();
  const calls = new GivenUpCalls<string>(clock, 0);
  for (let id = 0; id < 100; id += 1) calls.add(id, 'old', 1000);
  clock.advance(1000);
  calls.add(100, 'new', 1000);
  for (let id = 0; id < 100; id += 1) expect(calls.remove(id)).toBeUndefined();
  expect(calls.remove(100)).toBe('new');
});

it('the late answer to a call that is not feared is recognized for a while all the same', () => {
  const clock = new FakeClock();
  const calls = new GivenUpCalls<string>(clock, 2000);
  calls.add(1, 'one', 0);
  calls.add(2, 'two', 0);
  expect(calls.all()).toEqual([]);
  expect([calls.msLeft('one'), calls.msLeft('two')]).toEqual([0, 0]);
  expect(calls.some(() => true)).toBe(false);
  clock.advance(1999);
  calls.add(3, 'three', 0);
  expect(calls.remove(1)).toBe('one');
  clock.advance(1);
  calls.add(4, 'four', 0);
  expect(calls.remove(2)).toBeUndefined();
  expect(calls.remove(3)).toBe('three');
});
