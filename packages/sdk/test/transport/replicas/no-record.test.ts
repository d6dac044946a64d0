import { describe, expect, it, onTestFinished } from 'vitest';
import { FakeClock } from '../../../../../test/support/fake-clock.js';
import { type ClusterStore, memoryStore } from '../../../src/transport/cluster.js';
import { openWandering, startMember, startMembers, type TestMember } from '../../support/cluster.js';
import {
  ask,
  initialize,
  legacy,
  legacyCall,
  modernCall,
  open,
  pause,
  plainServer,
  until,
} from '../../support/http-server.js';

const urlsOf = (members: readonly TestMember[]) => members.map(({ url }) => url);
const call = (id: number) => legacyCall(id, 'echo', { text: 'hi' });

// In a storm: a process that was stopped for 6.5 seconds opened a session before it had connected to Redis again. The others
// took it for dead, found no record, and said 404.
describe('a session that the store does not know', () => {
  it('is served by the member that has opened it, although that counts as gone', async () => {
    const members = await startMembers(3, plainServer);
    const [first, second, third] = members as [TestMember, TestMember, TestMember];
    const { id } = first;
    first.store.cut = true;
    await third.cluster.members.fence(id);
    await until('the second has heard of it', () => !second.cluster.members.find(id));
    await until('the first knows that it is cut off', () => !first.cluster.members.isConnected);
    const session = await openWandering(urlsOf(members));
    expect(session.id.slice(0, 8)).toBe(id);
    expect((await session.post(call(1), 1)).status).toBe(200);
    expect(second.cluster.counts).toMatchObject({ adopted: 0, handedOn: 2 });
    // One that its client has ended is unknown at once.
    expect((await session.delete(0)).status).toBe(204);
    expect((await session.post(call(2), 1)).status).toBe(404);
  });

  it('is not unknown while the store has forgotten everything and its owner lives', async () => {
    const forgetful = forgetfulStore();
    const members = await startMembers(3, plainServer, { join: { store: forgetful.store } });
    const [first, second, third] = members as [TestMember, TestMember, TestMember];
    const session = await openWandering(urlsOf(members));
    // The third has taken it over, and the first lives on under another name.
    const { id } = first;
    first.store.cut = true;
    await third.cluster.members.fence(id);
    expect((await session.post(call(1), 2)).status).toBe(200);
    first.store.cut = false;
    await until('the second knows the new name', () => (second.cluster.members.find(id)?.id ?? id) !== id);
    await until('the first has given it up', () => first.cluster.sessions.size === 0);
    // The second asks the first, and then the store, before the third has written the record again.
    third.store.cut = true;
    forgetful.forget();
    const answer = session.post(call(2), 1);
    await until('it knows that the store has forgotten', () => second.cluster.members.isUnsure);
    third.store.cut = false;
    expect((await answer).status).toBe(200);
    expect(members.map(({ cluster }) => cluster.counts.adopted)).toEqual([0, 0, 1]);
  });
});

describe('the next round of a call that waits in a member which has just come', () => {
  it('waits at a member that has lost the store before it could hear of that one', async () => {
    const store = memoryStore();
    const asking = () => {
      const server = plainServer();
      server.tool('ask', {}, async (_args, ctx) => {
        const requestedSchema = { type: 'object', properties: {} } as const;
        return `the answer was: ${(await ctx.elicit({ message: 'Who?', requestedSchema })).action}`;
      });
      return server;
    };
    const [b] = (await startMembers(1, asking, { join: { store } })) as [TestMember];
    b.store.cut = true;
    await until('it knows that it is cut off', () => !b.cluster.members.isConnected);
    const a = await startMember(asking(), { join: { store } });
    const capabilities = { elicitation: { form: {} } };
    const first = await ask(a.url, modernCall(1, 'ask', {}, { capabilities }));
    const { requestState } = first.json['result'] as { requestState: string };
    const inputResponses = { 'elicitation-1': { action: 'accept', content: {} } };
    const params = { requestState, inputResponses };
    let isOver = false;
    const second = ask(b.url, modernCall(2, 'ask', {}, { capabilities, params })).finally(() => {
      isOver = true;
    });
    const asked = b.store.refused.length;
    await until('it has asked twice', () => b.store.refused.length > asked + 1);
    expect(isOver).toBe(false);
    expect(b.cluster.members.find(a.id)).toBeUndefined();
    b.store.cut = false;
    expect((await second).json).toMatchObject({
      id: 2,
      result: { content: [{ text: 'the answer was: accept' }] },
    });
  });
});

describe('a message of 2024-11-05 for a member which has just come', () => {
  it('is counted while it waits for the store', async () => {
    const store = memoryStore();
    const options = { join: { store }, http: { sse: true, maxRequests: 1 } };
    const [b] = (await startMembers(1, plainServer, options)) as [TestMember];
    b.store.cut = true;
    await until('it knows that it is cut off', () => !b.cluster.members.isConnected);
    const a = await startMember(plainServer(), options);
    const stream = await open(`${new URL(a.url).origin}/sse`, {
      method: 'GET',
      headers: { accept: 'text/event-stream' },
    });
    await stream.until('the address', () => stream.events.length > 0);
    const address = new URL(stream.events[0]!.data!, b.url).href;
    const say = (id: number) => ask(address, legacy(initialize(id, '2024-11-05')));
    const first = say(1);
    const asked = b.store.refused.length;
    await until('it has asked twice', () => b.store.refused.length > asked + 1);
    expect((await say(2)).status).toBe(503);
    b.store.cut = false;
    expect((await first).status).toBe(202);
    stream.hangUp();
  });
});

describe('a new session of a member that has lost the store a moment ago', () => {
  it('is told to its client when it has a record, so that another member could take it over', async () => {
    const clock = new FakeClock();
    const members = await startMembers(2, plainServer, { join: { clock } });
    const [first] = members as [TestMember];
    first.store.cut = true;
    let isOpen = false;
    const opening = openWandering(urlsOf(members)).finally(() => {
      isOpen = true;
    });
    await until('it has tried to write the record', () => first.store.refused.includes('put'));
    await pause(20);
    expect(isOpen).toBe(false);
    first.store.cut = false;
    const ticking = setInterval(() => clock.advance(50), 5);
    onTestFinished(() => clearInterval(ticking));
    const session = await opening;
    await first.kill();
    expect((await session.post(call(1), 1)).status).toBe(200);
  });

  it('is opened without a record where the store stays away', async () => {
    const members = await startMembers(2, plainServer);
    const [first] = members as [TestMember];
    first.store.cut = true;
    const session = await openWandering(urlsOf(members).slice(0, 1));
    expect((await session.post(call(1))).status).toBe(200);
  });
});

/** A store that can lose all that it has. */
function forgetfulStore(): { readonly store: ClusterStore; forget(): void } {
  let inner = memoryStore();
  const store = new Proxy(inner, {
    get(_, name: keyof ClusterStore) {
      const member: unknown = inner[name];
      return typeof member === 'function' ? member.bind(inner) : member;
    },
  });
  return {
    store,
    forget() {
      inner = memoryStore();
    },
  };
}
