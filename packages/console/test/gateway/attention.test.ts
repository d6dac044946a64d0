import { expect, it } from 'vitest';
import { FakeClock } from '../../../../test/support/fake-clock.js';
import { Attention } from '../../src/gateway/attention.js';

it('watches calls while a page is open and five minutes longer, and has no timer while nobody looks', () => {
  const clock = new FakeClock();
  let pages = 0;
  const attention = new Attention(clock, () => pages > 0);
  expect(attention.isGiven).toBe(false);
  attention.drawn();
  expect(attention.isGiven).toBe(true);
  pages = 1;
  clock.advance(30 * 60_000);
  expect(attention.isGiven).toBe(true);
  pages = 0;
  attention.drawn();
  clock.advance(4 * 60_000);
  expect(attention.isGiven).toBe(true);
  clock.advance(6 * 60_000);
  expect(attention.isGiven).toBe(false);
  attention.drawn();
  expect(attention.isGiven).toBe(true);
  attention.close();
  expect(attention.isGiven).toBe(false);
});
