import { expect, it } from 'vitest';
import {
  A,
  B,
  enter,
  hasAsked,
  LONG,
  openAttribution,
  pending,
  wait,
} from '../../packages/sdk/test/support/call-attribution.js';

it('R2: a cancelled call of a client does not make others wait longer for another call of that client', async () => {
  const { attribution: it, clock } = openAttribution();
  hasAsked(it, 'ask');
  const cancelled = enter(it, A, 'ask')!;
  enter(it, A, 'ask');
  cancelled.end();
  cancelled.giveUp(1);
  expect(enter(it, B, 'ask')).toBeUndefined();
  const waiting = wait(it, B, 'ask', LONG);
  clock.advance(1999);
  expect(await pending(waiting)).toBe(true);
  clock.advance(1);
  expect((await waiting).owner).toBe(B);
});
