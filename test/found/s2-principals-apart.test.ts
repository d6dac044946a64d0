import { expect, it } from 'vitest';
import { bridgeToHost } from '../../packages/sdk/test/support/bridge/between-host.js';
import { LOG_LEVEL } from '../../packages/sdk/test/support/bridge/frames.js';

/** One stateless process for several principals: what could be of either is of neither. */

const ABLE = { elicitation: {} };
const DONE = { content: [] };
const FORM = (message: string) => ({ message, requestedSchema: { type: 'object', properties: {} } });
const OPTIONS = { bridge: { stateless: true }, capabilities: { tools: {}, logging: {} } };
const as = (principal: string) => ({ principal, capabilities: ABLE });

it('S2: a second question that the call of Alice asks late does not reach Bob', async () => {
  const { near, far } = await bridgeToHost('legacy', OPTIONS);
  const [alice, bob] = [near.modern(as('alice')), near.modern(as('bob'))];
  alice.call(1, 'ask');
  const call = await far.next();
  call.on.ask('q1', 'elicitation/create', FORM('Alice, your account?'));
  expect((await alice.next()).result.resultType).toBe('input_required');
  bob.call(2, 'slow');
  const other = await far.next();
  call.on.ask('q2', 'elicitation/create', FORM('Alice, your password?'));
  expect(await far.next()).toMatchObject({
    id: 'q2',
    error: {
      code: -32603,
      message:
        'several principals share this process, and the question does not say whose call it belongs to; give each principal its own process',
    },
  });
  other.on.answer(other, DONE);
  expect((await bob.next()).result.content).toEqual([]);
  expect([await bob.rest(), await alice.rest()]).toEqual([[], []]);
});

it('S2: a question that comes after the call of Alice has ended does not reach Bob', async () => {
  const { near, far } = await bridgeToHost('legacy', OPTIONS);
  const [alice, bob] = [near.modern(as('alice')), near.modern(as('bob'))];
  alice.call(1, 'ask');
  const call = await far.next();
  call.on.answer(call, DONE);
  await alice.next();
  bob.call(2, 'slow');
  const other = await far.next();
  call.on.ask('late', 'elicitation/create', FORM('Alice, your account?'));
  expect(await far.next()).toMatchObject({ id: 'late', error: { code: -32603 } });
  other.on.answer(other, DONE);
  expect((await bob.next()).id).toBe(2);
  expect(await bob.rest()).toEqual([]);
});

it('S2: a log line of Alice, also a late one, does not reach Bob', async () => {
  const { near, far } = await bridgeToHost('legacy', OPTIONS);
  const [alice, bob] = [near.modern(as('alice')), near.modern(as('bob'))];
  const setLevel = async () => {
    const set = await far.next();
    if (set.method !== 'logging/setLevel') return set;
    set.on.answer(set, {});
    return far.next();
  };
  alice.call(1, 'a', {}, { [LOG_LEVEL]: 'debug' });
  const call = await setLevel();
  call.on.notify('notifications/message', { level: 'error', data: 'of Alice, alone' });
  call.on.answer(call, DONE);
  expect((await alice.next()).params.data).toBe('of Alice, alone');
  await alice.next();
  bob.call(2, 'b', {}, { [LOG_LEVEL]: 'debug' });
  const other = await setLevel();
  call.on.notify('notifications/message', { level: 'error', data: 'of Alice, late' });
  other.on.answer(other, DONE);
  expect((await bob.next()).id).toBe(2);
  expect(await bob.rest()).toEqual([]);
});

it('S2: a principal that has the process to itself is asked', async () => {
  const { near, far } = await bridgeToHost('legacy', OPTIONS);
  const alice = near.modern(as('alice'));
  for (const id of [1, 2]) {
    alice.call(id, 'ask');
    const call = await far.next();
    call.on.ask(id, 'elicitation/create', FORM('Well?'));
    const { requestState } = (await alice.next()).result;
    alice.call(10 + id, 'ask', { requestState, inputResponses: { 'elicitation-1': { action: 'decline' } } });
    expect(await far.next()).toMatchObject({ id, result: { action: 'decline' } });
    call.on.answer(call, DONE);
    expect((await alice.next()).id).toBe(10 + id);
  }
});
