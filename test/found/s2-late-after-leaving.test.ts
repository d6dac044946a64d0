import { Scopes } from '@isthmus/sdk/internal/era/legacy/scopes.js';
import { expect, it } from 'vitest';
import { begin, Person, session, settle, toolCall } from '../../packages/sdk/test/support/legacy-session.js';
import { FakeClock } from '../support/fake-clock.js';

/** Alice has called and left. Bob is the only one who is there, and has called nothing for a while. */
async function afterAlice() {
  const it = session();
  const bob = new Person();
  const logs: unknown[] = [];
  it.join(bob.answers, { principal: 'bob', onLog: (entry: unknown) => logs.push(entry) });
  const alice = it.join({}, { principal: 'alice' });
  const call = begin(alice, toolCall('ask'));
  it.done(it.request());
  await call.settled;
  alice.leave('Alice has left');
  const log = () =>
    it.dialect.notification({
      kind: 'notification',
      method: 'notifications/message',
      params: { level: 'error', data: 'well' },
    });
  return { it, bob, logs, log };
}

it('S2: a late question of Alice, who has left, does not reach Bob, who is the only one there', async () => {
  const { it, bob } = await afterAlice();
  it.clock.advance(9_999);
  it.elicit(['late']);
  await settle();
  expect(bob.asked).toEqual([]);
  expect(it.said()).toMatchObject([{ id: 'late', error: { code: -32603 } }]);
});

it('S2: a late log line of Alice, who has left, does not reach Bob, who is the only one there', async () => {
  const { it, logs, log } = await afterAlice();
  it.clock.advance(9_999);
  log();
  expect(logs).toEqual([]);
});

it('S2: ten seconds after the last call of Alice the only one there is asked and gets the logs again', async () => {
  const { it, bob, logs, log } = await afterAlice();
  it.clock.advance(10_000);
  it.elicit(['his']);
  log();
  await settle();
  expect(bob.asked).toEqual(['question his']);
  expect(logs).toMatchObject([{ data: 'well' }]);
});

it('S2: Bob is asked by his call when the last call of Alice was long ago', () => {
  const clock = new FakeClock();
  const scopes = new Scopes(clock);
  scopes.leave(scopes.enter('alice'));
  clock.advance(60_000);
  scopes.enter('bob');
  expect(scopes.areSeveral).toBe(false);
});

it('S2: Bob is not asked by his call when the last call of Alice has just ended', () => {
  const clock = new FakeClock();
  const scopes = new Scopes(clock);
  scopes.leave(scopes.enter('alice'));
  clock.advance(9_999);
  scopes.enter('bob');
  expect(scopes.areSeveral).toBe(true);
  clock.advance(1);
  expect(scopes.areSeveral).toBe(false);
});
