import { describe, expect, it } from 'vitest';
import { FakeClock } from '../../../../test/support/fake-clock.js';
import {
  collect,
  failure,
  hostOf,
  program,
  puppet,
  type Stage,
  settle,
  tool,
} from '../support/host-sharing.js';

const MEMO = { uris: ['memo://1'] };
const NEWS = { kind: 'resource', uri: 'memo://1' };

describe('a legacy session', () => {
  it('is subscribed once for all who listen, and unsubscribed with the last (SUB-018)', async () => {
    const { definition, stage } = await puppet('legacy');
    const host = hostOf(definition);
    const [a, b, c] = [host.conversation('it'), host.conversation('it'), host.conversation('it')];
    const opening = [a.listen(MEMO), b.listen(MEMO)];
    const server = await stage;
    const request = await server.expect('resources/subscribe');
    expect(request.params).toEqual({ uri: 'memo://1' });
    expect(await server.roundTrip(c)).toEqual([]);
    server.answer(request, {});
    const [first, second] = (await Promise.all(opening)).map(collect);
    server.send(updated('memo://1'));
    await server.roundTrip(c);
    expect([first!.heard, second!.heard]).toEqual([[NEWS], [NEWS]]);

    await a.close();
    await first!.ended;
    expect(await server.roundTrip(c)).toEqual([]);
    server.send(updated('memo://1'));
    await server.roundTrip(c);
    expect([first!.heard, second!.heard]).toEqual([[NEWS], [NEWS, NEWS]]);

    await b.close();
    expect(await server.expect('resources/unsubscribe')).toMatchObject({ params: { uri: 'memo://1' } });
    expect(await server.roundTrip(c)).toEqual([]);
  });

  it('counts two listens of one conversation as two', async () => {
    const { definition, stage } = await puppet('legacy');
    const host = hostOf(definition);
    const a = host.conversation('it');
    const opening = [a.listen(MEMO), a.listen(MEMO)];
    const server = await stage;
    server.answer(await server.expect('resources/subscribe'), {});
    const [first, second] = await Promise.all(opening);
    first!.close();
    first!.close();
    expect(await server.roundTrip(a)).toEqual([]);
    second!.close();
    await server.expect('resources/unsubscribe');
  });

  it('tells each what it listens for, and nothing else (SUB-016, SUB-019)', async () => {
    const { definition, stage } = await puppet('legacy');
    const host = hostOf(definition);
    const [a, b, c] = [host.conversation('it'), host.conversation('it'), host.conversation('it')];
    const opening = [a.listen(MEMO), b.listen({ uris: ['memo://2'] }), c.listen({ tools: true })];
    const server = await stage;
    for (const _ of [1, 2]) server.answer(await server.expect('resources/subscribe'), {});
    const [ofA, ofB, ofC] = (await Promise.all(opening)).map(collect);
    server.send(
      updated('memo://1/part'),
      updated('memo://2'),
      updated('memo://3'),
      { method: 'notifications/tools/list_changed' },
      { method: 'notifications/resources/list_changed' },
    );
    await server.roundTrip(a);
    expect([ofA!.heard, ofB!.heard, ofC!.heard]).toEqual([
      [{ kind: 'resource', uri: 'memo://1/part' }],
      [{ kind: 'resource', uri: 'memo://2' }],
      [{ kind: 'tools' }],
    ]);
  });

  it('stays subscribed when one stops in the moment in which another begins', async () => {
    const { definition, stage } = await puppet('legacy');
    const host = hostOf(definition);
    const [a, b] = [host.conversation('it'), host.conversation('it')];
    const opening = a.listen(MEMO);
    const server = await stage;
    server.answer(await server.expect('resources/subscribe'), {});
    const changes = await opening;
    await b.listTools();
    changes.close();
    const next = b.listen(MEMO);
    expect(await lastWord(server, b)).toBe('resources/subscribe');
    await next;
  });

  it('stays subscribed for another when the first leaves before the server has agreed', async () => {
    const { definition, stage } = await puppet('legacy');
    const host = hostOf(definition);
    const [a, b] = [host.conversation('it'), host.conversation('it')];
    const opening = a.listen(MEMO);
    opening.catch(() => {});
    const server = await stage;
    const request = await server.expect('resources/subscribe');
    await b.listTools();
    await a.close();
    const next = b.listen(MEMO);
    await settle();
    server.answer(request, {});
    expect(await lastWord(server, b)).not.toBe('resources/unsubscribe');
    const { heard } = collect(await next);
    server.send(updated('memo://1'));
    await server.roundTrip(b);
    expect(heard).toEqual([NEWS]);
  });

  it('is unsubscribed when the only listener left before the server had agreed', async () => {
    const { definition, stage } = await puppet('legacy');
    const host = hostOf(definition);
    const [a, b] = [host.conversation('it'), host.conversation('it')];
    const opening = a.listen(MEMO);
    opening.catch(() => {});
    const server = await stage;
    const request = await server.expect('resources/subscribe');
    await a.close();
    server.answer(request, {});
    await server.expect('resources/unsubscribe');
    expect(await server.roundTrip(b)).toEqual([]);
  });

  it('lets the impatience of one conversation end only its own wait for the server’s consent', async () => {
    const clock = new FakeClock();
    const { definition, stage } = await puppet('legacy');
    const host = hostOf(definition, clock);
    const a = host.conversation('it', { timeoutMs: 1000 });
    const b = host.conversation('it', { timeoutMs: 50_000 });
    const impatient = failure(a.listen(MEMO));
    const server = await stage;
    let request = await server.expect('resources/subscribe');
    const patient = b.listen(MEMO);
    let refused: unknown;
    patient.catch((error: unknown) => {
      refused = error;
    });
    await server.roundTrip(b);
    clock.advance(1000);
    expect((await impatient).code).toBe('TIMED_OUT');
    for (const message of await server.roundTrip(b)) {
      if (message.method === 'resources/subscribe') request = message;
    }
    expect(refused).toBeUndefined();
    server.answer(request, {});
    const { heard } = collect(await patient);
    server.send(updated('memo://1'));
    await server.roundTrip(b);
    expect(heard).toEqual([NEWS]);
  });

  it('refuses both when it refuses', async () => {
    const { definition, stage } = await puppet('legacy');
    const host = hostOf(definition);
    const [a, b] = [host.conversation('it'), host.conversation('it')];
    const opening = [failure(a.listen(MEMO)), failure(b.listen(MEMO))];
    const server = await stage;
    const request = await server.expect('resources/subscribe');
    await server.roundTrip(b);
    server.refuse(request, -32602, 'no such memo');
    expect(await Promise.all(opening)).toMatchObject([{ code: -32602 }, { code: -32602 }]);
    expect(await server.roundTrip(b)).toEqual([]);
  });
});

describe('a modern connection', () => {
  it('has a listen for each conversation, told apart by its id (SUB-008, SUB-009, SUB-010)', async () => {
    const { definition, stage } = await puppet('modern');
    const host = hostOf(definition);
    const [a, b] = [host.conversation('it'), host.conversation('it')];
    const opening = [a.listen(MEMO), b.listen(MEMO)];
    const server = await stage;
    const listens = [
      await server.expect('subscriptions/listen'),
      await server.expect('subscriptions/listen'),
    ];
    expect(listens[0]!.id).not.toBe(listens[1]!.id);
    for (const { id } of listens) {
      server.send(about(id, 'notifications/subscriptions/acknowledged', { notifications: MEMO_FILTER }));
    }
    const [ofA, ofB] = (await Promise.all(opening)).map(collect);
    server.send(about(listens[1]!.id, 'notifications/resources/updated', { uri: 'memo://1' }));
    await server.roundTrip(a);
    expect([ofA!.heard, ofB!.heard]).toEqual([[], [NEWS]]);

    await a.close();
    expect(await server.next()).toMatchObject({
      method: 'notifications/cancelled',
      params: { requestId: listens[0]!.id },
    });
    await ofA!.ended;
    server.send(
      about(listens[0]!.id, 'notifications/resources/updated', { uri: 'memo://1' }),
      about(listens[1]!.id, 'notifications/resources/updated', { uri: 'memo://1' }),
    );
    expect(await server.roundTrip(b)).toEqual([]);
    expect([ofA!.heard, ofB!.heard]).toEqual([[], [NEWS, NEWS]]);
  });

  it('ends the listen of one conversation, and leaves that of the other (SUB-012)', async () => {
    const { definition, stage } = await puppet('modern');
    const host = hostOf(definition);
    const [a, b] = [host.conversation('it'), host.conversation('it')];
    const opening = [a.listen(MEMO), b.listen(MEMO)];
    const server = await stage;
    const listens = [await server.next(), await server.next()];
    for (const { id } of listens) {
      server.send(about(id, 'notifications/subscriptions/acknowledged', { notifications: MEMO_FILTER }));
    }
    const [ofA, ofB] = (await Promise.all(opening)).map(collect);
    server.answer(listens[0]!, { _meta: { 'io.modelcontextprotocol/subscriptionId': listens[0]!.id } });
    expect(await ofA!.ended).toBeUndefined();
    server.send(about(listens[1]!.id, 'notifications/resources/updated', { uri: 'memo://1' }));
    await server.roundTrip(b);
    expect(ofB!.heard).toEqual([NEWS]);
  });

  it('makes what one conversation hears of stale for all of them (CACHE-015)', async () => {
    const { definition, stage } = await puppet('modern');
    const host = hostOf(definition);
    const [a, b] = [host.conversation('it'), host.conversation('it', { principal: 'bob' })];
    const opening = a.listen(MEMO);
    const server = await stage;
    const { id } = await server.next();
    server.send(about(id, 'notifications/subscriptions/acknowledged', { notifications: MEMO_FILTER }));
    await opening;
    for (const text of ['old', 'new']) {
      const read = b.readResource('memo://1');
      server.answer(await server.expect('resources/read'), {
        contents: [{ uri: 'memo://1', text }],
        ttlMs: 60_000,
        cacheScope: 'private',
      });
      expect((await read).contents).toEqual([{ uri: 'memo://1', text }]);
      server.send(about(id, 'notifications/resources/updated', { uri: 'memo://1' }));
      await server.roundTrip(b);
    }
  });

  it('is told that a listen is over which its conversation left before it was acknowledged', async () => {
    const { definition, stage } = await puppet('modern');
    const host = hostOf(definition);
    const [a, b] = [host.conversation('it'), host.conversation('it')];
    const opening = failure(a.listen(MEMO));
    const server = await stage;
    const { id } = await server.next();
    await a.close();
    await opening;
    expect(await server.next()).toMatchObject({
      method: 'notifications/cancelled',
      params: { requestId: id },
    });
    expect(await server.roundTrip(b)).toEqual([]);
  });
});

describe('servers that others wrote', () => {
  it('SDK v1: one subscription for two conversations, and none after both', async () => {
    const host = hostOf(program('server-asks-whoever-calls.mjs'));
    const [a, b, c] = [host.conversation('it'), host.conversation('it'), host.conversation('it')];
    const [ofA, ofB] = (await Promise.all([a.listen(MEMO), b.listen(MEMO)])).map(collect);
    await c.callTool('touch', { uri: 'memo://1' });
    await settle();
    expect([ofA!.heard, ofB!.heard]).toEqual([[NEWS], [NEWS]]);
    await a.close();
    await c.callTool('touch', { uri: 'memo://1' });
    await settle();
    expect([ofA!.heard, ofB!.heard]).toEqual([[NEWS], [NEWS, NEWS]]);
    expect(await tool(c.callTool('history'))).toBe('subscribe memo://1');
    await b.close();
    expect(await tool(c.callTool('history'))).toBe('subscribe memo://1, unsubscribe memo://1');
  });

  it('SDK v2: each conversation has its own', async () => {
    const host = hostOf(program('server-asks-in-rounds.mjs'));
    const [a, b, c] = [host.conversation('it'), host.conversation('it'), host.conversation('it')];
    const [ofA, ofB] = (await Promise.all([a.listen(MEMO), b.listen(MEMO)])).map(collect);
    await c.callTool('touch', { text: 'memo://1' });
    await settle();
    expect([ofA!.heard, ofB!.heard]).toEqual([[NEWS], [NEWS]]);
    await a.close();
    await c.callTool('touch', { text: 'memo://1' });
    await settle();
    expect([ofA!.heard, ofB!.heard]).toEqual([[NEWS], [NEWS, NEWS]]);
  });
});

const MEMO_FILTER = { resourceSubscriptions: ['memo://1'] };

function updated(uri: string): object {
  return { method: 'notifications/resources/updated', params: { uri } };
}

function about(id: unknown, method: string, params: object): object {
  return { method, params: { ...params, _meta: { 'io.modelcontextprotocol/subscriptionId': id } } };
}

/** Agrees to all that comes until all is quiet: the last request about a subscription. */
async function lastWord(
  server: Stage,
  client: Parameters<Stage['roundTrip']>[0],
): Promise<string | undefined> {
  let last: string | undefined;
  // What follows from an answer comes with the next round at the latest.
  for (let rounds = 0; rounds < 3; rounds += 1) {
    for (const message of await server.roundTrip(client)) {
      last = message.method;
      server.answer(message, {});
    }
  }
  return last;
}
