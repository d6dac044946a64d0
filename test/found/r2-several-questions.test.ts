import { describe, expect, it } from 'vitest';
import { bridgeToHost } from '../../packages/sdk/test/support/bridge/between-host.js';
import type { FarServer, Heard } from '../../packages/sdk/test/support/bridge/far.js';
import type { NearClient } from '../../packages/sdk/test/support/bridge/near.js';

/** A tool of a shared legacy process that asks several things at once keeps no other caller waiting. */

const ABLE = { elicitation: {} };
const DONE = { content: [] };
const FORM = { message: 'm', requestedSchema: { type: 'object', properties: {} } };

/** Calls `form`, which asks two things at once. The client has its round, and leaves it unanswered. */
async function asksTwo(client: NearClient, far: FarServer, id: number): Promise<[Heard, string]> {
  client.call(id, 'form');
  const call = await far.next();
  for (const which of ['one', 'two']) call.on.ask(`${id} ${which}`, 'elicitation/create', FORM);
  const { result } = await client.next();
  expect(result.resultType).toBe('input_required');
  return [call, result.requestState];
}

async function echoes(client: NearClient, far: FarServer, id: string): Promise<void> {
  client.call(id, 'echo');
  const call = await far.next();
  expect(call.params.name).toBe('echo');
  call.on.answer(call, DONE);
  expect((await client.next()).id).toBe(id);
}

describe('R2: while a client thinks about two questions at once', () => {
  it('every call of another client is made at once, the first time and when the tool is known to ask so', async () => {
    const { near, far } = await bridgeToHost('legacy');
    const [one, two] = [near.modern({ capabilities: ABLE }), near.modern({ capabilities: ABLE })];
    for (const id of [1, 2, 3]) {
      const [call, requestState] = await asksTwo(one, far, id);
      for (const each of ['a', 'b', 'c']) await echoes(two, far, `${id} ${each}`);
      // The server goes on without the answers.
      for (const which of ['one', 'two']) {
        call.on.notify('notifications/cancelled', { requestId: `${id} ${which}` });
      }
      call.on.answer(call, DONE);
      await echoes(two, far, `${id} d`);
      one.call(10 + id, 'form', { requestState });
      expect(await one.next()).toMatchObject({ id: 10 + id, result: DONE });
    }
  });

  it('ten such rounds of one client, never answered, keep no call of another waiting', async () => {
    const { near, far } = await bridgeToHost('legacy');
    const [one, two] = [near.modern({ capabilities: ABLE }), near.modern({ capabilities: ABLE })];
    await asksTwo(one, far, 1);
    // All of these wait for each other, since their questions could be confused; nobody else does.
    for (let id = 2; id <= 10; id += 1) one.call(id, 'form');
    for (const each of ['a', 'b', 'c']) await echoes(two, far, each);
    one.end();
    await far.rest();
  });
});
