import { expect, it } from 'vitest';
import {
  A,
  B,
  hasAsked,
  LONG,
  openAttribution,
  pending,
} from '../../packages/sdk/test/support/call-attribution.js';

it('R2: a cancelled call of a client does not make others wait longer for another call of that client', async () => {
  const { attribution: it, clock } = openAttribution();
  hasAsked(it, 'ask');
  const cancelled = it.enter(A, 'ask')!;
  it.enter(A, 'ask');
  it.leave(cancelled);
  it.linger(1, cancelled);
  expect(it.enter(B, 'ask')).toBeUndefined();
  const waiting = it.wait(B, 'ask', LONG);
  clock.advance(1999);
  expect(await pending(waiting)).toBe(true);
  clock.advance(1);
  expect((await waiting).owner).toBe(B);
});
