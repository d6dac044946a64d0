import type { ServerResponse } from 'node:http';
import { expect, it } from 'vitest';
import { FakeClock } from '../../../../../../test/support/fake-clock.js';
import { UnreadAnswers } from '../../../../src/transport/http-server/exchange/unread-answers.js';

/** An answer to this address, of which so much is left to be read. */
function answer(remoteAddress: string, left: number) {
  const made = { left, isDropped: false };
  const response = {
    writableFinished: false,
    destroyed: false,
    socket: { remoteAddress },
    once() {},
    destroy() {
      made.isDropped = true;
    },
  } as unknown as ServerResponse;
  return Object.assign(made, { response, leftOf: () => made.left });
}

it('S7: beyond the bound the client that leaves most unread loses its connections, another one nothing', () => {
  const clock = new FakeClock();
  const unread = new UnreadAnswers({ answerTimeoutMs: 60_000, maxUnreadBytes: 100, clock });
  const bob = answer('10.0.0.2', 40);
  const mallory = [answer('10.0.0.66', 30), answer('10.0.0.66', 30), answer('10.0.0.66', 30)];
  for (const each of [bob, ...mallory]) unread.watch(each.response, each.leftOf);
  clock.advance(2000);
  expect([bob.isDropped, ...mallory.map(({ isDropped }) => isDropped)]).toEqual([false, true, false, false]);
  clock.advance(60_000);
  expect(bob.isDropped).toBe(true);
});
