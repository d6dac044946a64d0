import { describe, expect, it } from 'vitest';
import { FakeClock } from '../../../../test/support/fake-clock.js';
import type { Message } from '../../../../test/support/raw-client.js';
import {
  type Change,
  type Changes,
  connect,
  createServer,
  memory,
  type SubscriptionFilter,
} from '../../src/index.js';
import {
  collectDropped,
  type Era,
  failure,
  frame,
  meet,
  type Played,
  settle,
  welcome,
} from '../support/client/played-server.js';

const ID = 'io.modelcontextprotocol/subscriptionId';

describe.each(['modern', 'legacy'] as const)('listening to a %s server', (era) => {
  it('hears each kind of change, typed', async () => {
    const { client, server } = await meet(era);
    const { changes, tell } = await listen(era, client, server, {
      tools: true,
      prompts: true,
      resources: true,
      uris: ['memo://1'],
    });
    expect(changes.honoured).toEqual({
      toolsListChanged: true,
      promptsListChanged: true,
      resourcesListChanged: true,
      resourceSubscriptions: ['memo://1'],
    });
    tell('tools/list_changed');
    tell('prompts/list_changed');
    tell('resources/list_changed');
    tell('resources/updated', { uri: 'memo://1' });
    expect(await take(changes, 4)).toEqual([
      { kind: 'tools' },
      { kind: 'prompts' },
      { kind: 'resources' },
      { kind: 'resource', uri: 'memo://1' },
    ]);
  });

  it('hears of a part of what it watches (SUB-016)', async () => {
    const { client, server } = await meet(era);
    const { changes, tell } = await listen(era, client, server, { uris: ['file:///dir'] });
    tell('resources/updated', { uri: 'file:///dir/part.txt' });
    expect(await take(changes, 1)).toEqual([{ kind: 'resource', uri: 'file:///dir/part.txt' }]);
  });

  it('costs a slow reader one entry for each thing that changes', async () => {
    const { client, server } = await meet(era);
    const { changes, tell } = await listen(era, client, server, { tools: true, prompts: true });
    for (let count = 0; count < 500; count += 1) {
      tell('tools/list_changed');
      tell('prompts/list_changed');
    }
    await settle();
    await client.close();
    const seen: Change[] = [];
    for await (const change of changes) seen.push(change);
    expect(seen).toEqual([{ kind: 'tools' }, { kind: 'prompts' }]);
  });

  it('tells the server when it no longer listens (SUB-011), once', async () => {
    const { client, server } = await meet(era);
    const { changes, id } = await listen(era, client, server, { tools: true, uris: ['memo://1'] });
    changes.close();
    changes.close();
    await changes[Symbol.asyncDispose]();
    const told = await server.rest();
    expect(told).toEqual(
      era === 'modern'
        ? [
            {
              jsonrpc: '2.0',
              method: 'notifications/cancelled',
              params: { requestId: id, reason: expect.any(String) },
            },
          ]
        : [frame(era, 2, 'resources/unsubscribe', { uri: 'memo://1' })],
    );
    expect(await take(changes, 1)).toEqual([]);
  });

  it('ends with the loop that reads it', async () => {
    const { client, server } = await meet(era);
    const { changes, tell } = await listen(era, client, server, { uris: ['memo://1'] });
    tell('resources/updated', { uri: 'memo://1' });
    for await (const change of changes) {
      expect(change).toEqual({ kind: 'resource', uri: 'memo://1' });
      break;
    }
    expect((await server.next()).method).toBe(
      era === 'modern' ? 'notifications/cancelled' : 'resources/unsubscribe',
    );
  });

  it('ends quietly when the client is closed', async () => {
    const { client, server } = await meet(era);
    const { changes } = await listen(era, client, server, { tools: true });
    const reading = take(changes, 1);
    await client.close();
    expect(await reading).toEqual([]);
  });

  it('is set up again on a fresh connection, without a call (SUB-015)', async () => {
    const { client, server, connector } = await meet(era);
    const wanted = { tools: true, uris: ['memo://1'] };
    const { changes } = await listen(era, client, server, wanted);
    const reading = take(changes, 2);
    server.vanish();
    const fresh = await connector.accept();
    await welcome(era, fresh);
    const again = await confirm(era, fresh, {
      toolsListChanged: true,
      resourceSubscriptions: ['memo://1'],
    });
    expect(again.request).toEqual(
      era === 'modern'
        ? frame(era, 1, 'subscriptions/listen', {
            notifications: { toolsListChanged: true, resourceSubscriptions: ['memo://1'] },
          })
        : frame(era, 1, 'resources/subscribe', { uri: 'memo://1' }),
    );
    again.tell('tools/list_changed');
    again.tell('resources/updated', { uri: 'memo://1' });
    expect(await reading).toEqual([{ kind: 'tools' }, { kind: 'resource', uri: 'memo://1' }]);
  });

  it('ends with the reason when no fresh connection can be had', async () => {
    const { client, server, connector } = await meet(era);
    const { changes } = await listen(era, client, server, { tools: true });
    const reading = failure(take(changes, 1));
    connector.connect = () => {
      throw new Error('nobody home');
    };
    server.vanish();
    expect(await reading).toMatchObject({ message: expect.stringContaining('nobody home') });
  });

  it('ends with the reason when the client may not reconnect', async () => {
    const { client, server } = await meet(era, { reconnect: false });
    const { changes } = await listen(era, client, server, { tools: true });
    const reading = failure(take(changes, 1));
    server.vanish();
    expect(await reading).toMatchObject({ code: 'CONNECTION_CLOSED' });
    await client.closed;
  });

  it('does not fail a call when the fresh server refuses to tell news, and says so to the listener', async () => {
    const { client, server, connector } = await meet(era);
    const { changes } = await listen(era, client, server, { uris: ['memo://1'] });
    const reading = failure(take(changes, 1));
    server.vanish();
    await settle();
    const calling = client.callTool('t');
    calling.catch(() => {});
    const fresh = await connector.accept();
    await welcome(era, fresh);
    fresh.refuse(await fresh.next(), -32602, 'no such resource');
    expect(await reading).toMatchObject({ code: -32602 });
    fresh.answer(await fresh.next(), { content: [] });
    expect(await calling).toEqual({ content: [] });
  });

  it('rejects with what the server refuses', async () => {
    const { client, server } = await meet(era);
    const opening = failure(client.listen({ uris: ['memo://none'] }));
    const sent = await server.next();
    server.refuse(sent, -32602, 'no such resource');
    expect(await opening).toMatchObject({ name: 'ProtocolError', code: -32602 });
  });

  it('does not wait for ever for the confirmation', async () => {
    const clock = new FakeClock();
    const { client, server } = await meet(era, { clock });
    const opening = failure(client.listen({ uris: ['memo://1'] }));
    await server.next();
    clock.advance(60_000);
    expect(await Promise.race([opening, settle().then(() => 'still waiting')])).toMatchObject({
      code: 'TIMED_OUT',
    });
  });

  it('serves several listeners, each with its own wishes', async () => {
    const { client, server } = await meet(era);
    const tools = await listen(era, client, server, { tools: true });
    const prompts = await listen(era, client, server, { prompts: true });
    tools.tell('tools/list_changed');
    prompts.tell('prompts/list_changed');
    expect([await take(tools.changes, 1), await take(prompts.changes, 1)]).toEqual([
      [{ kind: 'tools' }],
      [{ kind: 'prompts' }],
    ]);
    tools.changes.close();
    prompts.tell('prompts/list_changed');
    expect(await take(prompts.changes, 1)).toEqual([{ kind: 'prompts' }]);
  });

  it('hears our own server', async () => {
    const server = createServer({ name: 'own', version: '1' });
    server.tool('old', {}, () => 'x');
    server.resource('memo://1', { name: 'memo' }, () => 'one');
    await using client = await connect(memory(server), { mode: era, cache: false });
    const changes = await client.listen({ tools: true, uris: ['memo://1'] });
    const reading = take(changes, 2);
    server.tool('new', {}, () => 'x');
    server.resourceUpdated('memo://1');
    const seen = await reading;
    expect(seen).toContainEqual({ kind: 'tools' });
    expect(seen).toContainEqual({ kind: 'resource', uri: 'memo://1' });
  });
});

describe('subscriptions of the modern era', () => {
  it('asks for exactly what is wanted (SUB-001)', async () => {
    const { client, server } = await meet('modern');
    void client.listen({ prompts: true, tools: false, uris: [] }).catch(() => {});
    expect(await server.next()).toEqual(
      frame('modern', 1, 'subscriptions/listen', { notifications: { promptsListChanged: true } }),
    );
  });

  it('tells what the server honours of it (SUB-007)', async () => {
    const { client, server } = await meet('modern');
    const { changes } = await listen(
      'modern',
      client,
      server,
      { tools: true, prompts: true },
      {
        promptsListChanged: true,
      },
    );
    expect(changes.honoured).toEqual({ promptsListChanged: true });
  });

  it('matches by subscription id only, with its type, and reports the rest (SUB-009)', async () => {
    const dropped = collectDropped();
    const { client, server } = await meet('modern');
    const { changes, id, tell } = await listen('modern', client, server, { tools: true });
    server.send(
      { method: 'notifications/tools/list_changed' },
      { method: 'notifications/tools/list_changed', params: { _meta: { [ID]: String(id) } } },
      { method: 'notifications/tools/list_changed', params: { _meta: { [ID]: 999 } } },
    );
    await settle();
    expect(dropped).toHaveLength(3);
    tell('tools/list_changed');
    await settle();
    await client.close();
    expect(await take(changes, 5)).toEqual([{ kind: 'tools' }]);
  });

  it.each([
    ['the closing result', [closing]],
    ['notifications/cancelled', [withdrawn]],
    ['both', [closing, withdrawn]],
    ['both, the other way round', [withdrawn, closing]],
  ])('ends in good order with %s', async (_name, ends) => {
    const { client, server, connector } = await meet('modern');
    const { changes, id, tell } = await listen('modern', client, server, { tools: true });
    tell('tools/list_changed');
    server.send(...ends.map((end) => end(id)));
    expect(await take(changes, 2)).toEqual([{ kind: 'tools' }]);
    expect(await server.rest()).toEqual([]);
    // It was ended on purpose: a loss does not bring it back.
    server.vanish();
    await settle();
    expect(connector.unplayed).toBe(0);
  });

  it('ends with the error when the server breaks it off with one', async () => {
    const { client, server } = await meet('modern');
    const { changes, id } = await listen('modern', client, server, { tools: true });
    const reading = failure(take(changes, 1));
    server.send({ id, error: { code: -32603, message: 'out of memory' } });
    expect(await Promise.race([reading, settle().then(() => 'still waiting')])).toMatchObject({
      code: -32603,
      message: 'out of memory',
    });
  });

  it('rejects when the subscription ends before it was confirmed', async () => {
    const { client, server } = await meet('modern');
    const opening = failure(client.listen({ tools: true }));
    const { id } = await server.next();
    server.send(closing(id));
    expect(await opening).toMatchObject({ code: 'INVALID_RESULT' });
  });

  it('gives up the subscription of a reader who left during a reconnect', async () => {
    const { client, server, connector } = await meet('modern');
    const { changes } = await listen('modern', client, server, { tools: true });
    server.vanish();
    const fresh = await connector.accept();
    await welcome('modern', fresh);
    const request = await fresh.next();
    changes.close();
    fresh.send(acknowledged(request.id, { toolsListChanged: true }));
    expect(await fresh.rest()).toMatchObject([
      { method: 'notifications/cancelled', params: { requestId: request.id } },
    ]);
  });
});

describe('subscriptions of the legacy era', () => {
  it('subscribes once for however many listen, and unsubscribes after the last', async () => {
    const { client, server } = await meet('legacy');
    const first = await listen('legacy', client, server, { uris: ['memo://1'] });
    const second = await client.listen({ uris: ['memo://1'] });
    expect(await server.rest()).toEqual([]);
    first.tell('resources/updated', { uri: 'memo://1' });
    expect(await take(first.changes, 1)).toHaveLength(1);
    expect(await take(second, 1)).toHaveLength(1);
    first.changes.close();
    expect(await server.rest()).toEqual([]);
    second.close();
    expect(await server.rest()).toEqual([frame('legacy', 2, 'resources/unsubscribe', { uri: 'memo://1' })]);
  });

  it('does not count on a subscription that is refused to another listener', async () => {
    const { client, server } = await meet('legacy');
    const first = failure(client.listen({ uris: ['memo://1'] }));
    const second = failure(client.listen({ uris: ['memo://1'] }));
    const sent = await server.next();
    await settle();
    server.refuse(sent, -32602, 'not yours');
    expect(await first).toMatchObject({ code: -32602 });
    // The second hears the same, or asks for itself; it must not believe it is subscribed.
    const [own] = (await server.rest()).filter(({ method }) => method === 'resources/subscribe');
    if (own) server.refuse(own, -32602, 'not yours');
    expect(await second).toMatchObject({ code: -32602 });
  });

  it('asks a server for nothing that it cannot do, and says what is left', async () => {
    const { client, server } = await meet('legacy', { capabilities: { tools: {}, resources: {} } });
    const changes = await client.listen({ tools: true, resources: true, uris: ['memo://1'] });
    expect(changes.honoured).toEqual({});
    expect(await server.rest()).toEqual([]);
  });

  it('does without resources that a server cannot be subscribed to after all', async () => {
    const { client, server } = await meet('legacy');
    const opening = client.listen({ tools: true, uris: ['memo://1'] });
    opening.catch(() => {});
    server.refuse(await server.next(), -32601, 'Method not found');
    expect((await opening).honoured).toEqual({ toolsListChanged: true });
  });

  it('does not hear of changes that it did not ask for', async () => {
    const { client, server } = await meet('legacy');
    const { changes, tell } = await listen('legacy', client, server, { tools: true });
    tell('prompts/list_changed');
    tell('resources/updated', { uri: 'memo://other' });
    tell('tools/list_changed');
    await settle();
    await client.close();
    expect(await take(changes, 5)).toEqual([{ kind: 'tools' }]);
  });
});

interface Listening {
  readonly changes: Changes;
  readonly id: unknown;
  tell(what: string, params?: object): void;
}

async function listen(
  era: Era,
  client: Awaited<ReturnType<typeof meet>>['client'],
  server: Played,
  wanted: Parameters<typeof client.listen>[0],
  honoured?: SubscriptionFilter,
): Promise<Listening> {
  const opening = client.listen(wanted);
  opening.catch(() => {});
  if (era === 'legacy' && !wanted.uris?.length) {
    const tell = (what: string, params: object = {}) =>
      server.send({ method: `notifications/${what}`, params });
    return { changes: await opening, id: undefined, tell };
  }
  const { request, tell } = await confirm(
    era,
    server,
    honoured ?? {
      ...(wanted.tools && { toolsListChanged: true }),
      ...(wanted.prompts && { promptsListChanged: true }),
      ...(wanted.resources && { resourcesListChanged: true }),
      ...(wanted.uris && { resourceSubscriptions: [...wanted.uris] }),
    },
  );
  return { changes: await opening, id: request.id, tell };
}

/** Takes the next request for news and confirms it. */
async function confirm(era: Era, server: Played, honoured: SubscriptionFilter) {
  const request: Message = await server.next();
  if (era === 'modern') server.send(acknowledged(request.id, honoured));
  else server.answer(request, {});
  const tell = (what: string, params: object = {}) =>
    server.send({
      method: `notifications/${what}`,
      params: { ...params, ...(era === 'modern' && { _meta: { [ID]: request.id } }) },
    });
  return { request, tell };
}

function acknowledged(id: unknown, notifications: SubscriptionFilter) {
  return {
    method: 'notifications/subscriptions/acknowledged',
    params: { _meta: { [ID]: id }, notifications },
  };
}

function closing(id: unknown) {
  return { id, result: { resultType: 'complete', _meta: { [ID]: id } } };
}

function withdrawn(id: unknown) {
  return { method: 'notifications/cancelled', params: { requestId: id } };
}

/** The next changes, fewer when they end. The iterator is not closed, so that reading can go on. */
async function take(changes: Changes, count: number): Promise<Change[]> {
  const iterator = changes[Symbol.asyncIterator]();
  const seen: Change[] = [];
  while (seen.length < count) {
    const next = await iterator.next();
    if (next.done) break;
    seen.push(next.value);
  }
  return seen;
}
