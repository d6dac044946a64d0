import { expect, it } from 'vitest';
import { afterCalls, countCall } from '../../src/exchange/call-count.js';

it('calls back once, at the call with the given number', () => {
  let times = 0;
  afterCalls(3, () => {
    times += 1;
  });
  countCall();
  countCall();
  expect(times).toBe(0);
  countCall();
  expect(times).toBe(1);
  for (let i = 0; i < 10; i++) countCall();
  expect(times).toBe(1);
});
