import { describe, expect, it } from 'vitest';
import { systemClock } from '../../../src/async/clock.js';
import { createServer, jsonSchema, type Server } from '../../../src/index.js';
import { memoryStore } from '../../../src/transport/cluster.js';
import {
  openWandering,
  startMember,
  startMembers,
  type TestMember,
  type WanderingSession,
} from '../../support/cluster.js';
import {
  ask,
  gate,
  legacy,
  legacyCall,
  legacyRequest,
  plainServer,
  until,
} from '../../support/http-server.js';

const urlsOf = (members: readonly TestMember[]) => members.map(({ url }) => url);

describe('a legacy session in a cluster', () => {
  it('is served by all members, and its id names the one that opened it', async () => {
    const members = await startMembers(3, plainServer);
    const session = await openWandering(urlsOf(members));
    expect(session.id).toHaveLength(54);
    expect(session.id.split('.')[0]).toBe(members[0]!.id);
    for (const at of [0, 1, 2]) {
      const answer = await session.post(legacyCall(at, 'echo', { text: `hi ${at}` }), at);
      expect(answer.status).toBe(200);
      expect(answer.headers['mcp-session-id']).toBe(session.id);
      expect(answer.json).toMatchObject({ id: at, result: { content: [{ text: `hi ${at}` }] } });
    }
  });

  it('is handed on between machines whose clocks differ by an hour', async () => {
    const store = memoryStore();
    const late = { ...systemClock, now: () => Date.now() - 3_600_000 };
    const members = [
      await startMember(plainServer(), { join: { store } }),
      await startMember(plainServer(), { join: { store, clock: late } }),
    ];
    const session = await openWandering(urlsOf(members));
    for (const at of [1, 0]) {
      const answer = await session.post(legacyCall(at, 'echo', { text: `hi ${at}` }), at);
      expect(answer.json).toMatchObject({ id: at, result: { content: [{ text: `hi ${at}` }] } });
    }
  });

  it('streams progress and the answer of a call through another member', async () => {
    const members = await startMembers(2, plainServer);
    const session = await openWandering(urlsOf(members));
    const call = legacyCall(7, 'steps', {}, { progressToken: 'p' });
    const answer = await session.post(call, 1);
    expect(answer.messages.map(({ method, id }) => method ?? id)).toEqual([
      'notifications/progress',
      'notifications/progress',
      7,
    ]);
  });

  it('gets the answer to its question from another member than the one that asks', async () => {
    const members = await startMembers(3, askingServer);
    const session = await openWandering(urlsOf(members), { capabilities: { elicitation: {} } });
    const call = await session.open(legacyCall(1, 'ask'), 1);
    const question = await call.next();
    expect(question).toMatchObject({ method: 'elicitation/create', id: 0 });
    const content = { name: 'Ada' };
    const said = await session.post(
      { jsonrpc: '2.0', id: question.id, result: { action: 'accept', content } },
      2,
    );
    expect(said.status).toBe(202);
    expect(await call.next()).toMatchObject({ id: 1, result: { content: [{ text: 'Hello Ada' }] } });
  });

  it('cancels a call by way of another member', async () => {
    const cancelled = gate<string>();
    const members = await startMembers(3, () => waitingServer(cancelled.open));
    const session = await openWandering(urlsOf(members));
    const call = session.open(legacyCall(1, 'wait'), 1);
    await until('the call runs', () => running > 0);
    await session.post(cancellation(1), 2);
    expect(await cancelled.promise).toContain('enough');
    await (await call).end();
  });

  it('heeds a cancellation that overtakes its request', async () => {
    const cancelled = gate<string>();
    const members = await startMembers(2, () => waitingServer(cancelled.open));
    const session = await openWandering(urlsOf(members));
    await session.post(cancellation(1), 1);
    const call = session.open(legacyCall(1, 'wait'), 0);
    expect(await cancelled.promise).toContain('enough');
    await (await call).end();
  });

  it('hangs up at the owner when the client hangs up', async () => {
    const members = await startMembers(2, plainServer);
    const session = await openWandering(urlsOf(members));
    const stream = await session.get({}, 1);
    expect(stream.status).toBe(200);
    const second = await session.get({}, 1);
    // The owner replaces the first standing stream by the second.
    await stream.end();
    second.hangUp();
    const third = await session.get({}, 0);
    expect(third.status).toBe(200);
  });

  it('hears of changes on a standing stream at another member', async () => {
    const servers: Server[] = [];
    const members = await startMembers(3, () => {
      const server = plainServer();
      servers.push(server);
      return server;
    });
    const session = await openWandering(urlsOf(members));
    const stream = await session.get({}, 1);
    servers[2]!.tool('another', {}, () => 'x');
    expect(await stream.next()).toMatchObject({ method: 'notifications/tools/list_changed' });
  });

  it('resumes a stream by way of another member', async () => {
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
    const call = await session.open(legacyCall(1, 'slow', {}, { progressToken: 1 }), 0);
    await call.next();
    const { id } = call.events.at(-1)!;
    // The first process, its second stream, the request [1].
    expect(id).toMatch(/^1\.2~WzFd-\d+$/);
    call.hangUp();
    go.open();
    const rest = await session.get({ 'last-event-id': id! }, 1);
    expect(await rest.next()).toMatchObject({ id: 1, result: { content: [{ text: 'late' }] } });
  });

  it('has at most maxRequests requests under way through one member, and answers still pass', async () => {
    const members = await startMembers(2, askingServer, { http: { maxRequests: 2 } });
    const sessions = await Promise.all(
      [0, 1].map(() => openWandering(urlsOf(members), { capabilities: { elicitation: {} } })),
    );
    const [ada, eve] = sessions as [WanderingSession, WanderingSession];
    const calls = [await ada.open(legacyCall(1, 'ask'), 1), await eve.open(legacyCall(1, 'ask'), 1)];
    const questions = [await calls[0]!.next(), await calls[1]!.next()];
    const refused = await ada.post(legacyRequest(2, 'ping'), 1);
    expect([refused.status, refused.headers['retry-after']]).toEqual([503, '1']);
    expect(refused.json).toMatchObject({
      id: 2,
      error: { message: '2 requests are running; try again later' },
    });
    for (const [at, session] of sessions.entries()) {
      const answer = { jsonrpc: '2.0', id: questions[at]!.id, result: { action: 'decline' } };
      expect((await session.post(answer, 1)).status).toBe(202);
      expect(await calls[at]!.next()).toMatchObject({ id: 1 });
    }
    expect((await ada.post(legacyRequest(3, 'ping'), 1)).status).toBe(200);
  });

  it('of one client leaves room for those of others, at the member that hands on and at the owner', async () => {
    const authenticate = (request: { header(name: string): string | undefined }) => request.header('x-user');
    const members = await startMembers(2, askingServer, { http: { maxRequests: 8, authenticate } });
    const [ada, eve] = (await Promise.all(
      ['ada', 'eve'].map((user) =>
        openWandering(urlsOf(members), {
          capabilities: { elicitation: {} },
          headers: { 'x-user': user },
        }),
      ),
    )) as [WanderingSession, WanderingSession];
    // Each waits for its client. A session gets at most five of eight.
    for (let id = 1; id <= 5; id += 1) await (await eve.open(legacyCall(id, 'ask'), 1)).next();
    for (const at of [0, 1]) {
      const refused = await eve.post(legacyRequest(10 + at, 'ping'), at);
      expect([refused.status, refused.json.error?.message]).toEqual([
        429,
        '5 requests of this client are running, its share of 8; try again later',
      ]);
      expect((await ada.post(legacyRequest(1, 'ping'), at)).status).toBe(200);
    }
  });

  it('ends everywhere with DELETE', async () => {
    const members = await startMembers(2, plainServer);
    const session = await openWandering(urlsOf(members));
    expect((await session.delete(1)).status).toBe(204);
    for (const at of [0, 1]) {
      const answer = await session.post(legacyRequest(1, 'tools/list'), at);
      expect(answer.status).toBe(404);
    }
  });

  it('is served by a member that drains, which keeps no connection of a balancer', async () => {
    const members = await startMembers(2, plainServer);
    const session = await openWandering(urlsOf(members), { headers: { connection: 'keep-alive' } });
    const connections = async () => {
      const answers = await Promise.all([0, 1].map((at) => session.post(legacyRequest(at, 'ping'), at)));
      expect(answers.map(({ status }) => status)).toEqual([200, 200]);
      return answers.map(({ headers }) => headers.connection);
    };
    expect(await connections()).toEqual(['keep-alive', 'keep-alive']);
    // The second hands its requests on to the first.
    await members[0]!.cluster.drain();
    expect(await connections()).toEqual(['close', 'keep-alive']);
  });

  it('belongs to its principal at every member', async () => {
    const authenticate = (request: { header(name: string): string | undefined }) => request.header('x-user');
    const members = await startMembers(2, plainServer, { http: { authenticate } });
    const session = await openWandering(urlsOf(members), { headers: { 'x-user': 'ada' } });
    const own = await session.post(legacyCall(1, 'echo', { text: 'hi' }), 1);
    expect(own.status).toBe(200);
    const foreign = legacy(legacyCall(2, 'echo', { text: 'hi' }), { ...session.headers, 'x-user': 'eve' });
    for (const { url } of members) expect((await ask(url, foreign)).status).toBe(404);
  });

  it('carries answers of any size', async () => {
    const members = await startMembers(2, () => {
      const server = createServer({ name: 'big', version: '1' });
      const input = jsonSchema<{ size: number }>({
        type: 'object',
        properties: { size: { type: 'integer' } },
      });
      server.tool('big', { input }, ({ size }) => 'ü'.repeat(size));
      return server;
    });
    const session = await openWandering(urlsOf(members));
    for (const size of [10, 40_000, 3_000_000]) {
      const answer = await session.post(legacyCall(size, 'big', { size }), 1);
      const { result } = answer.json as { result: { content: [{ text: string }] } };
      expect(result.content[0].text).toBe('ü'.repeat(size));
    }
  });
});

let running = 0;

function waitingServer(onCancelled: (reason: string) => void): Server {
  const server = createServer({ name: 'waiting', version: '1' });
  server.tool('wait', {}, async (_args, ctx) => {
    running += 1;
    await new Promise<void>((resolve) => ctx.signal.addEventListener('abort', () => resolve()));
    onCancelled(String(ctx.signal.reason));
    return 'cancelled';
  });
  return server;
}

function askingServer(): Server {
  const server = createServer({ name: 'asking', version: '1' });
  server.tool('ask', {}, async (_args, ctx) => {
    const requestedSchema = { type: 'object', properties: { name: { type: 'string' } } } as const;
    const answer = await ctx.elicit({ message: 'Who?', requestedSchema });
    return `Hello ${answer.action === 'accept' ? answer.content?.['name'] : 'nobody'}`;
  });
  return server;
}

function cancellation(requestId: number): object {
  return { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId, reason: 'enough' } };
}
