import { describe, expect, it, onTestFinished } from 'vitest';
import { FakeClock } from '../../../../../test/support/fake-clock.js';
import { eventually } from '../../../../../test/support/until.js';
import { sessionKey } from '../../../src/cluster/session-id.js';
import { createServer, type Server } from '../../../src/index.js';
import { memoryStore } from '../../../src/transport/cluster.js';
import { openWandering, startMember, startMembers, type TestMember } from '../../support/cluster.js';
import { gate, legacyCall, legacyRequest, pause, plainServer, until } from '../../support/http-server.js';

const urlsOf = (members: readonly TestMember[]) => members.map(({ url }) => url);

describe('a session whose member was killed', () => {
  it('is taken over by the member that is asked next, without an error', async () => {
    const members = await startMembers(3, plainServer);
    const session = await openWandering(urlsOf(members));
    await members[0]!.kill();
    const answer = await session.post(legacyCall(1, 'echo', { text: 'hi' }), 1);
    expect(answer.status).toBe(200);
    expect(answer.headers['mcp-session-id']).toBe(session.id);
    expect(answer.json).toMatchObject({ result: { content: [{ text: 'hi' }] } });
    expect(members[1]!.cluster.counts.adopted).toBe(1);
    // The third member finds the new owner, and does not take it over again.
    expect((await session.post(legacyCall(2, 'echo', { text: 'hi' }), 2)).status).toBe(200);
    expect(members[2]!.cluster.counts.adopted).toBe(0);
  });

  it('is taken over once when many requests come at once', async () => {
    const members = await startMembers(3, plainServer);
    const session = await openWandering(urlsOf(members));
    await members[0]!.kill();
    const calls = Array.from({ length: 20 }, (_, id) =>
      session.post(legacyCall(id, 'echo', { text: `${id}` }), 1 + (id % 2)),
    );
    const answers = await Promise.all(calls);
    expect(answers.map(({ status }) => status)).toEqual(Array(20).fill(200));
    expect(members[1]!.cluster.counts.adopted + members[2]!.cluster.counts.adopted).toBe(1);
  });

  it('keeps its log level and its subscriptions, and is told that something may have changed', async () => {
    const servers: Server[] = [];
    const members = await startMembers(2, () => {
      const server = createServer({ name: 'res', version: '1' });
      server.resource('note://a', { name: 'a' }, () => 'a');
      server.tool('say', {}, (_args, ctx) => {
        ctx.log('debug', 'quiet');
        return 'said';
      });
      servers.push(server);
      return server;
    });
    const session = await openWandering(urlsOf(members));
    await session.post(legacyRequest(1, 'resources/subscribe', { uri: 'note://a' }), 0);
    await session.post(legacyRequest(2, 'logging/setLevel', { level: 'debug' }), 0);
    await members[0]!.kill();
    const stream = await session.get({}, 1);
    const first = [await stream.next(), await stream.next(), await stream.next()];
    expect(first.map(({ method, params }) => [method, params])).toEqual([
      ['notifications/tools/list_changed', undefined],
      ['notifications/resources/list_changed', undefined],
      ['notifications/resources/updated', { uri: 'note://a' }],
    ]);
    servers[1]!.resourceUpdated('note://a');
    expect(await stream.next()).toMatchObject({ params: { uri: 'note://a' } });
    const { messages } = await session.post(legacyCall(3, 'say'), 1);
    expect(messages.map(({ method, id }) => method ?? id)).toEqual(['notifications/message', 3]);
  });

  it('asks its questions with ids that the killed member has not used', async () => {
    const members = await startMembers(2, () => {
      const server = createServer({ name: 'asking', version: '1' });
      server.tool('ask', {}, async (_args, ctx) => {
        const answer = await ctx.elicit({
          message: 'Who?',
          requestedSchema: { type: 'object', properties: {} },
        });
        return answer.action;
      });
      return server;
    });
    const session = await openWandering(urlsOf(members), { capabilities: { elicitation: {} } });
    const before = await session.open(legacyCall(1, 'ask'), 0);
    expect(await before.next()).toMatchObject({ id: 0 });
    await members[0]!.kill();
    const after = await session.open(legacyCall(2, 'ask'), 1);
    const question = await after.next();
    expect(question.id).toBe(2 ** 32);
    // A late answer to the question of the killed member answers nothing.
    const late = { jsonrpc: '2.0', id: 0, result: { action: 'decline' } };
    expect((await session.post(late, 1)).status).toBe(202);
    await session.post({ jsonrpc: '2.0', id: question.id, result: { action: 'accept', content: {} } }, 1);
    expect(await after.next()).toMatchObject({ id: 2, result: { content: [{ text: 'accept' }] } });
  });

  it('ends calls that wait for an answer which the new owner gets', async () => {
    const members = await startMembers(2, () => {
      const server = plainServer();
      server.tool('ask', {}, async (_args, ctx) => {
        const requestedSchema = { type: 'object', properties: {} } as const;
        return (await ctx.elicit({ message: 'Who?', requestedSchema })).action;
      });
      return server;
    });
    const [first, second] = members as [TestMember, TestMember];
    const session = await openWandering(urlsOf(members), { capabilities: { elicitation: {} } });
    const call = await session.open(legacyCall(1, 'ask'), 0);
    const question = await call.next();
    // The first member lives, and does not hear that it is declared dead.
    first.store.cut = true;
    await second.cluster.members.fence(first.id);
    expect((await session.post(legacyCall(2, 'echo', { text: 'hi' }), 1)).status).toBe(200);
    const answer = { jsonrpc: '2.0', id: question.id, result: { action: 'accept', content: {} } };
    expect((await session.post(answer, 1)).status).toBe(202);
    expect(second.cluster.counts.adopted).toBe(1);
    first.store.cut = false;
    await eventually(async () => expect(await first.cluster.members.refresh()).toBe(true));
    expect(await call.next()).toMatchObject({ id: 1, result: { isError: true } });
  });

  it('gives a client that resumes what was sent, and a definite answer for what was not', async () => {
    const members = await startMembers(2, () => {
      const server = createServer({ name: 'slow', version: '1' });
      server.tool('slow', {}, async (_args, ctx) => {
        ctx.progress(1);
        ctx.progress(2);
        await new Promise(() => {});
        return 'never';
      });
      return server;
    });
    const session = await openWandering(urlsOf(members));
    const call = await session.open(legacyCall(1, 'slow', {}, { progressToken: 'p' }), 1);
    await call.next();
    const { id } = call.events.filter(({ data }) => data)[0]!;
    await call.next();
    // What was sent is in the log a turn later.
    await until('the log has it', () => members[0]!.cluster.store.health.latencyMs !== undefined);
    await new Promise((resolve) => setImmediate(resolve));
    await members[0]!.kill();
    await call.end();
    const rest = await session.get({ 'last-event-id': id! }, 1);
    expect(await rest.next()).toMatchObject({ method: 'notifications/progress', params: { progress: 2 } });
    expect(await rest.next()).toMatchObject({
      id: 1,
      error: { code: -32603, data: { reason: 'REPLICA_LOST', sent: 'maybe' } },
    });
    await rest.end();
    expect(rest.complete).toBe(true);
  });

  it('gives a client that resumes a definite answer, even if the store has no events of the stream', async () => {
    const members = await startMembers(
      2,
      () => {
        const server = createServer({ name: 'slow', version: '1' });
        server.tool('slow', {}, async (_args, ctx) => {
          ctx.progress(1);
          await new Promise(() => {});
          return 'never';
        });
        return server;
      },
      { join: { events: 'owner' } },
    );
    const session = await openWandering(urlsOf(members));
    const call = await session.open(legacyCall('seven', 'slow', {}, { progressToken: 'p' }), 1);
    await call.next();
    const { id } = call.events.filter(({ data }) => data)[0]!;
    await members[0]!.kill();
    await call.end();
    const rest = await session.get({ 'last-event-id': id! }, 1);
    expect(await rest.next()).toMatchObject({
      id: 'seven',
      error: { code: -32603, data: { reason: 'REPLICA_LOST', sent: 'maybe' } },
    });
    await rest.end();
    // What a client makes up is refused as before.
    for (const wrong of ['1.9-1', '1.9~-1', '1.9~!!-1', `1.9~${'A'.repeat(400)}-1`]) {
      expect((await session.get({ 'last-event-id': wrong }, 1)).status).toBe(400);
    }
  });

  it('ends the calls of a client that resumes, if the session itself is lost', async () => {
    const store = memoryStore();
    const members = await startMembers(
      2,
      () => {
        const server = createServer({ name: 'slow', version: '1' });
        server.tool('slow', {}, async (_args, ctx) => {
          ctx.progress(1);
          await new Promise(() => {});
          return 'never';
        });
        return server;
      },
      { join: { store } },
    );
    const session = await openWandering(urlsOf(members));
    const call = await session.open(legacyCall(7, 'slow', {}, { progressToken: 'p' }), 1);
    await call.next();
    const { id } = call.events.filter(({ data }) => data)[0]!;
    await store.drop(sessionKey(session.id), { epoch: 1 });
    await members[0]!.kill();
    await call.end();
    const rest = await session.get({ 'last-event-id': id! }, 1);
    expect(await rest.next()).toMatchObject({ id: 7, error: { data: { reason: 'REPLICA_LOST' } } });
    await rest.end();
    expect((await session.get({}, 1)).status).toBe(404);
    expect((await session.post(legacyCall(8, 'slow'), 1)).status).toBe(404);
    // For an id that no member has made there is nothing.
    const forged = { ...session.headers, 'mcp-session-id': `${session.id.slice(0, -1)}!` };
    const headers = { accept: 'text/event-stream', 'last-event-id': id!, ...forged };
    expect((await fetch(members[1]!.url, { headers })).status).toBe(404);
  });

  it('gives a client that cannot resume the error on its stream, if another member has it', async () => {
    const go = gate();
    const members = await startMembers(
      2,
      () => {
        const server = createServer({ name: 'slow', version: '1' });
        server.tool('slow', {}, async (_args, ctx) => {
          ctx.progress(1);
          await go.promise;
          return 'never';
        });
        return server;
      },
      { http: { eventStore: false } },
    );
    const session = await openWandering(urlsOf(members));
    const call = await session.open(legacyCall(1, 'slow', {}, { progressToken: 'p' }), 1);
    await call.next();
    await members[0]!.kill();
    expect(await call.next()).toMatchObject({ id: 1, error: { data: { sent: 'maybe' } } });
    await call.end();
  });

  it('answers a call that another member has handed on with an error that says that it may have run', async () => {
    const began = gate();
    const members = await startMembers(2, () => {
      const server = createServer({ name: 'slow', version: '1' });
      server.tool('slow', {}, async () => {
        began.open();
        await new Promise(() => {});
        return 'never';
      });
      return server;
    });
    const session = await openWandering(urlsOf(members));
    const call = session.post(legacyCall(1, 'slow'), 1);
    await began.promise;
    await members[0]!.kill();
    expect((await call).json).toMatchObject({
      id: 1,
      error: { data: { reason: 'REPLICA_LOST', sent: 'maybe' } },
    });
  });

  it('waits while it is not certain that the member is gone, and then says that it can be tried again', async () => {
    const members = await startMembers(2, plainServer);
    const session = await openWandering(urlsOf(members));
    members[1]!.store.cut = true;
    await until('it knows that the store is away', () => !members[1]!.cluster.members.isConnected);
    await members[0]!.kill();
    const answer = session.post(legacyCall(1, 'echo', { text: 'hi' }), 1);
    members[1]!.store.cut = false;
    // No member is gone before five seconds after the store is back.
    expect((await answer).status).toBe(200);
  });

  it('stays with its member while the store is away', async () => {
    const members = await startMembers(2, plainServer);
    const session = await openWandering(urlsOf(members));
    for (const { store } of members) store.cut = true;
    await until('they know', () => members.every(({ cluster }) => !cluster.members.isConnected));
    for (const at of [0, 1]) {
      expect((await session.post(legacyCall(at, 'echo', { text: 'hi' }), at)).status).toBe(200);
    }
  });
});

describe('a member that was taken for dead', () => {
  it('takes another name, keeps what nobody has taken, and gives up the rest', async () => {
    const members = await startMembers(3, plainServer);
    const urls = urlsOf(members);
    const kept = await openWandering(urls);
    const taken = await openWandering(urls);
    const [a, b] = members as [TestMember, TestMember, TestMember];
    const before = a.id;
    await b.cluster.members.fence(before);
    const owner = await b.cluster.sessions.claim(taken.id, before, 60_000);
    expect(owner.kind).toBe('mine');
    await b.cluster.sessions.giveBack(taken.id, 2);
    expect((await taken.post(legacyCall(1, 'echo', { text: 'hi' }), 1)).status).toBe(200);
    expect(b.cluster.counts.adopted).toBe(1);
    await until('it has another name', () => a.id !== before);
    await until('the others know', () =>
      members.every(({ cluster }) => cluster.members.find(before)?.id === a.id),
    );
    for (const at of [0, 1, 2]) {
      expect((await kept.post(legacyCall(at, 'echo', { text: 'hi' }), at)).status).toBe(200);
      expect((await taken.post(legacyCall(at, 'echo', { text: 'hi' }), at)).status).toBe(200);
    }
    expect(members.map(({ cluster }) => cluster.sessions.size)).toEqual([1, 1, 0]);
  });
});

describe('a member that was stopped for so long that another one has its session', () => {
  it('asks the store before it serves a request of that session', async () => {
    const held = gate();
    let isHolding = false;
    const store = memoryStore();
    const put = store.put.bind(store);
    store.put = async (...args) => {
      if (isHolding) await held.promise;
      return put(...args);
    };
    const ran: number[] = [];
    let count = 0;
    const members = await startMembers(
      2,
      () => {
        count += 1;
        const mine = count;
        const server = createServer({ name: 'who', version: '1' });
        server.tool('who', {}, () => {
          ran.push(mine);
          return 'me';
        });
        return server;
      },
      { join: { store } },
    );
    const [first, second] = members as [TestMember, TestMember];
    const session = await openWandering(urlsOf(members));
    first.store.cut = true;
    await second.cluster.members.fence(first.id);
    expect((await session.post(legacyCall(1, 'who'), 1)).status).toBe(200);
    isHolding = true;
    first.store.cut = false;
    const before = first.id;
    await until('it has heard that it was fenced', () => first.id !== before);
    // It does not know yet what has become of its sessions.
    const late = session.post(legacyCall(2, 'who'), 0);
    setImmediate(held.open);
    expect((await late).json).toMatchObject({ id: 2, result: { content: [{ text: 'me' }] } });
    expect(ran).toEqual([2, 2]);
  });
});

describe('an answer to a question of the member that has taken the session over', () => {
  it('reaches it by way of the first member, which does not know of that yet', async () => {
    const members = await startMembers(2, asking);
    const [first, second] = members as [TestMember, TestMember];
    const session = await openWandering(urlsOf(members), { capabilities: { elicitation: {} } });
    first.store.cut = true;
    await second.cluster.members.fence(first.id);
    const call = await session.open(legacyCall(1, 'ask'), 1);
    const question = await call.next();
    expect(question.id).toBe(2 ** 32);
    first.store.cut = false;
    const answer = { jsonrpc: '2.0', id: question.id, result: { action: 'decline' } };
    expect((await session.post(answer, 0)).status).toBe(202);
    expect(await call.next()).toMatchObject({ id: 1, result: { content: [{ text: 'decline' }] } });
  });

  // In a storm: a process that was stopped for 6.5 seconds woke up without a connection to Redis, accepted the answer with
  // 202, and the call waited in vain.
  it('waits at the first member until that has reached the store, and is never accepted in vain', async () => {
    const members = await startMembers(2, asking);
    const [first, second] = members as [TestMember, TestMember];
    const session = await openWandering(urlsOf(members), { capabilities: { elicitation: {} } });
    first.store.cut = true;
    await second.cluster.members.fence(first.id);
    const call = await session.open(legacyCall(1, 'ask'), 1);
    const question = await call.next();
    expect(question.id).toBe(2 ** 32);
    let isAnswered = false;
    const sent = { jsonrpc: '2.0', id: question.id, result: { action: 'decline' } };
    const answered = session.post(sent, 0).finally(() => {
      isAnswered = true;
    });
    await until('the first member has asked the store', () => first.store.refused.includes('put'));
    await pause(50);
    expect(isAnswered).toBe(false);
    first.store.cut = false;
    expect((await answered).status).toBe(202);
    expect(await call.next()).toMatchObject({ id: 1, result: { content: [{ text: 'decline' }] } });
    expect(first.cluster.sessions.size).toBe(0);
  });

  it('is refused with a time to come back, if the first member cannot reach the store for long', async () => {
    const clock = new FakeClock();
    const members = await startMembers(2, asking, { http: { clock } });
    const [first, second] = members as [TestMember, TestMember];
    const session = await openWandering(urlsOf(members), { capabilities: { elicitation: {} } });
    first.store.cut = true;
    await second.cluster.members.fence(first.id);
    const call = await session.open(legacyCall(1, 'ask'), 1);
    const { id } = await call.next();
    const refused = session.post({ jsonrpc: '2.0', id, result: { action: 'decline' } }, 0);
    await until('the first member has asked the store', () => first.store.refused.includes('put'));
    const stop = setInterval(() => clock.advance(250), 5);
    onTestFinished(() => clearInterval(stop));
    const { status, headers } = await refused;
    expect([status, headers['retry-after']]).toEqual([503, '1']);
    // A member that has no doubt hands it on at once.
    expect(
      (await session.post({ jsonrpc: '2.0', id, result: { action: 'accept', content: {} } }, 1)).status,
    ).toBe(202);
    expect(await call.next()).toMatchObject({ id: 1, result: { content: [{ text: 'accept' }] } });
  });
});

/** A server whose tool waits for the answer of the client. */
function asking(): Server {
  const server = createServer({ name: 'ask', version: '1' });
  server.tool('ask', {}, async (_args, ctx) => {
    const requestedSchema = { type: 'object', properties: {} } as const;
    return (await ctx.elicit({ message: 'Who?', requestedSchema })).action;
  });
  return server;
}

describe('a member that ends in order', () => {
  it('waits for the answers that it has handed on to others', async () => {
    const [began, go] = [gate(), gate()];
    const members = await startMembers(2, () => {
      const server = createServer({ name: 'slow', version: '1' });
      server.tool('slow', {}, async () => {
        began.open();
        await go.promise;
        return 'late';
      });
      return server;
    });
    const session = await openWandering(urlsOf(members));
    const standing = await session.get({}, 1);
    const call = session.post(legacyCall(1, 'slow'), 1);
    await began.promise;
    let isClosed = false;
    const closing = members[1]!.served.close({ graceMs: 20_000 }).then(() => {
      isClosed = true;
    });
    // A gateway asks twice: to close, and when its listeners have ended.
    const again = members[1]!.served.close({ graceMs: 20_000 });
    // The stream would last as long as the session. Its client opens it again elsewhere.
    await standing.end();
    // Longer than the last bytes of answers may take.
    await pause(1200);
    expect(isClosed).toBe(false);
    go.open();
    expect((await call).json).toMatchObject({ id: 1, result: { content: [{ text: 'late' }] } });
    const answered = performance.now();
    await Promise.all([closing, again]);
    // They do not wait for the end of the grace.
    expect(performance.now() - answered).toBeLessThan(10_000);
  });

  it('lets a client resume the answer to a call that still runs', async () => {
    const go = gate();
    const members = await startMembers(2, () => {
      const server = createServer({ name: 'slow', version: '1' });
      server.tool('slow', {}, async (_args, ctx) => {
        ctx.progress(1);
        await go.promise;
        return 'late';
      });
      return server;
    });
    const session = await openWandering(urlsOf(members));
    const call = await session.open(legacyCall(1, 'slow', {}, { progressToken: 'p' }), 1);
    await call.next();
    const { id } = call.events.filter(({ data }) => data)[0]!;
    const closing = members[0]!.served.close({ graceMs: 20_000 });
    call.hangUp();
    const rest = await session.get({ 'last-event-id': id! }, 1);
    go.open();
    expect(await rest.next()).toMatchObject({ id: 1, result: { content: [{ text: 'late' }] } });
    await closing;
  });

  it('releases its sessions, and the others go on with them', async () => {
    const members = await startMembers(3, plainServer);
    const session = await openWandering(urlsOf(members));
    const stream = await session.get({}, 1);
    await members[0]!.cluster.drain();
    await members[0]!.served.close();
    await members[0]!.cluster.leave();
    await stream.end();
    const { json } = await session.post(legacyCall(1, 'echo', { text: 'hi' }), 2);
    expect(json).toMatchObject({ result: { content: [{ text: 'hi' }] } });
    expect((await session.get({}, 1)).status).toBe(200);
  });

  it('opens no new sessions while it drains', async () => {
    const members = await startMembers(2, plainServer);
    await members[0]!.cluster.drain();
    const session = await openWandering(urlsOf(members));
    expect(session.id.split('.')[0]).toBe(members[1]!.id);
  });

  it('finishes its calls, takes answers for them, and hands everything else to the others', async () => {
    const members = await startMembers(2, () => {
      const server = plainServer();
      server.tool('ask', {}, async (_args, ctx) => {
        const answer = await ctx.elicit({
          message: 'Go?',
          requestedSchema: { type: 'object', properties: {} },
        });
        return answer.action;
      });
      return server;
    });
    const session = await openWandering(urlsOf(members), { capabilities: { elicitation: {} } });
    const call = await session.open(legacyCall(1, 'ask'), 1);
    const question = await call.next();
    const closing = members[0]!.served.close({ graceMs: 20_000 });
    const next = session.post(legacyCall(2, 'echo', { text: 'later' }), 1);
    const said = await session.post({ jsonrpc: '2.0', id: question.id, result: { action: 'decline' } }, 1);
    expect(said.status).toBe(202);
    expect(await call.next()).toMatchObject({ id: 1, result: { content: [{ text: 'decline' }] } });
    expect((await next).json).toMatchObject({ id: 2, result: { content: [{ text: 'later' }] } });
    await closing;
    expect(members[1]!.cluster.counts.adopted).toBe(1);
  });

  it('does not let a session wait for a call that takes long', async () => {
    const clock = new FakeClock();
    const members = await startMembers(
      2,
      () => {
        const server = asking();
        server.tool('echo', {}, () => 'later');
        return server;
      },
      { http: { clock } },
    );
    const session = await openWandering(urlsOf(members), { capabilities: { elicitation: {} } });
    const call = await session.open(legacyCall(1, 'ask'), 1);
    const question = await call.next();
    const closing = members[0]!.served.close({ graceMs: 60_000 });
    const [second, third] = [legacyCall(2, 'echo'), legacyCall(3, 'echo')];
    const waiting = Promise.all([session.post(second, 1), session.get({}, 1)]);
    const stop = setInterval(() => clock.advance(250), 5);
    onTestFinished(() => clearInterval(stop));
    const [answer, standing] = await waiting;
    expect([answer.status, standing.status]).toEqual([200, 200]);
    expect(answer.json).toMatchObject({ id: 2, result: { content: [{ text: 'later' }] } });
    expect(members[1]!.cluster.counts.adopted).toBe(0);
    await session.post({ jsonrpc: '2.0', id: question.id, result: { action: 'decline' } }, 1);
    expect(await call.next()).toMatchObject({ id: 1, result: { content: [{ text: 'decline' }] } });
    await closing;
    // Its client opens the stream again, and the other member has the session.
    await standing.end();
    expect((await session.post(third, 1)).json).toMatchObject({ id: 3 });
    expect(members[1]!.cluster.counts.adopted).toBe(1);
  });

  it('is followed by a new member that can serve its sessions', async () => {
    const [first] = await startMembers(1, plainServer);
    const session = await openWandering([first!.url]);
    const store = first!.store;
    const second = await startMember(plainServer(), { join: { store } });
    await first!.served.close();
    await first!.cluster.leave();
    const again = await openWandering([second.url]);
    expect((await again.post(legacyCall(1, 'echo', { text: 'hi' }))).status).toBe(200);
    const answer = await fetch(second.url, {
      method: 'POST',
      headers: {
        ...session.headers,
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
      },
      body: JSON.stringify(legacyCall(1, 'echo', { text: 'old' })),
    });
    expect(answer.status).toBe(200);
  });
});
