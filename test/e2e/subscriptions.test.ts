import { createServer, memory, type Server, serve } from '@isthmus/sdk';
import type { Decoded } from '@isthmus/sdk/internal/wire/json-rpc.js';
import { describe, expect, it } from 'vitest';
import { envelope, modern, notification, SUBSCRIPTION_ID, VERSION } from '../support/eras.js';
import { FakeClock } from '../support/fake-clock.js';
import { type RawClient, settle } from '../support/raw-client.js';
import { bare, createStarter, gate } from '../support/sessions.js';

const start = createStarter();

const EVERYTHING = {
  toolsListChanged: true,
  promptsListChanged: true,
  resourcesListChanged: true,
  resourceSubscriptions: ['a:b', 'a:c'],
};

function listen(id: string | number, notifications?: unknown): object {
  return modern(id, 'subscriptions/listen', notifications === undefined ? {} : { notifications });
}

function full(): Server {
  return createServer({ name: 's', version: '1', announce: ['tools', 'prompts', 'resources'] });
}

/** Something of each kind changes. */
function changeAll(server: Server): void {
  server.tool('t', {}, () => 't').remove();
  server.prompt('p', {}, () => 'p').remove();
  server.resource('x:y', { name: 'r' }, () => 'r').remove();
  server.resourceUpdated('a:b');
  server.resourceUpdated('a:unwatched');
}

function acknowledged(id: string | number, notifications: object) {
  return {
    jsonrpc: '2.0',
    method: 'notifications/subscriptions/acknowledged',
    params: { _meta: { [SUBSCRIPTION_ID]: id }, notifications },
  };
}

function changed(id: string | number, what: string) {
  return {
    jsonrpc: '2.0',
    method: `notifications/${what}/list_changed`,
    params: { _meta: { [SUBSCRIPTION_ID]: id } },
  };
}

function updated(id: string | number, uri: string) {
  return {
    jsonrpc: '2.0',
    method: 'notifications/resources/updated',
    params: { _meta: { [SUBSCRIPTION_ID]: id }, uri },
  };
}

function ended(id: string | number) {
  return {
    jsonrpc: '2.0',
    id,
    result: { resultType: 'complete', _meta: expect.objectContaining({ [SUBSCRIPTION_ID]: id }) },
  };
}

async function connect(server: Server): Promise<RawClient> {
  return (await start(server)).connect();
}

describe('subscriptions/listen', () => {
  it.each([1, 0, -1, 'one', '', '0'])(
    'with id %j names itself by that id and its type everywhere (SUB-008, META-013)',
    async (id) => {
      const server = full();
      const link = await start(server);
      const client = link.connect();
      client.send(listen(id, EVERYTHING));
      expect(await client.next()).toEqual(acknowledged(id, EVERYTHING));
      changeAll(server);
      expect(await client.settle()).toEqual([
        changed(id, 'tools'),
        changed(id, 'prompts'),
        changed(id, 'resources'),
        updated(id, 'a:b'),
      ]);
      await Promise.all([link.served.close(), client.closed]);
      expect(await client.settle()).toEqual([ended(id)]);
    },
  );

  it('is acknowledged before anything else of it, even if the change came first (SUB-003, SUB-004)', async () => {
    const server = full();
    const client = await connect(server);
    server.tool('now', {}, () => {
      server.resourceUpdated('a:b');
      return 'ok';
    });
    // One write: the change is under way when the listen is read.
    client.sendLine(
      [listen(0, EVERYTHING), modern(1, 'tools/call', { name: 'now' }), listen(2, EVERYTHING)]
        .map((message) => JSON.stringify(message))
        .join('\n'),
    );
    const seen = await client.settle();
    for (const id of [0, 2]) {
      const mine = seen.filter(
        ({ params }) => (params?.['_meta'] as Record<string, unknown> | undefined)?.[SUBSCRIPTION_ID] === id,
      );
      expect(mine[0]).toEqual(acknowledged(id, EVERYTHING));
    }
  });

  it('gets only what it asked for; false and absent are none (SUB-002, RES-013)', async () => {
    const server = full();
    const client = await connect(server);
    const cases = [
      ['tools', { toolsListChanged: true, promptsListChanged: false }, { toolsListChanged: true }],
      ['prompts', { promptsListChanged: true, resourceSubscriptions: [] }, { promptsListChanged: true }],
      ['resources', { resourcesListChanged: true }, { resourcesListChanged: true }],
      ['uris', { resourceSubscriptions: ['a:b', 'a:b'] }, { resourceSubscriptions: ['a:b'] }],
      ['nothing', {}, {}],
    ] as const;
    for (const [id, asked, honoured] of cases) {
      client.send(listen(id, asked));
      expect(await client.next()).toEqual(acknowledged(id, honoured));
    }
    changeAll(server);
    const seen = await client.settle();
    expect(seen).toHaveLength(4);
    expect(seen).toEqual(
      expect.arrayContaining([
        changed('tools', 'tools'),
        changed('prompts', 'prompts'),
        changed('resources', 'resources'),
        updated('uris', 'a:b'),
      ]),
    );
  });

  it('is told which part is honoured when the server lacks the rest (SUB-006)', async () => {
    const server = createServer({ name: 's', version: '1', announce: ['prompts'] });
    const client = await connect(server);
    client.send(listen(1, { ...EVERYTHING, taskIds: ['t'] }));
    expect(await client.next()).toEqual(acknowledged(1, { promptsListChanged: true }));
    // What was left out stays out, also when the server grows into it.
    server.tool('t', {}, () => 't');
    server.resourceUpdated('a:b');
    expect(await client.settle()).toEqual([]);
    client.send(listen(2, EVERYTHING));
    expect(await client.next()).toEqual(
      acknowledged(2, { promptsListChanged: true, toolsListChanged: true }),
    );
  });

  it.each([
    ['missing', undefined],
    ['null', null],
    ['a list', ['tools']],
    ['a flag that is no boolean', { toolsListChanged: 'yes' }],
    ['URIs that are no list', { resourceSubscriptions: 'a:b' }],
    ['a URI that is no text', { resourceSubscriptions: [7] }],
  ])(
    'with a filter that is %s gets -32602, and the id is free again (SUB-001)',
    async (_what, notifications) => {
      const client = await connect(full());
      client.send(listen(1, notifications));
      expect(await client.next()).toMatchObject({ id: 1, error: { code: -32602 } });
      client.send(listen(1, {}));
      expect(await client.next()).toEqual(acknowledged(1, {}));
    },
  );

  it('is checked like every request: version and envelope (VER-001, META-004)', async () => {
    const client = await connect(full());
    client.send(modern(1, 'subscriptions/listen', { notifications: {} }, { [VERSION]: '2026-07-28' }));
    expect(await client.next()).toMatchObject({ id: 1, error: { code: -32602 } });
    client.send(modern(2, 'subscriptions/listen', { notifications: {} }, { ...envelope(), [VERSION]: '1' }));
    expect(await client.next()).toMatchObject({ id: 2, error: { code: -32022 } });
  });

  it('may be the first message of a connection and locks it (VER-003)', async () => {
    const client = await connect(full());
    client.send(listen('first', {}));
    expect(await client.next()).toEqual(acknowledged('first', {}));
    client.send({ jsonrpc: '2.0', id: 1, method: 'initialize', params: { protocolVersion: '2025-11-25' } });
    expect(await client.next()).toMatchObject({ id: 1, error: { code: -32022 } });
  });

  it('runs several times at once, each with its own filter and id (SUB-010, SUB-009)', async () => {
    const server = full();
    const client = await connect(server);
    client.send(listen(1, { toolsListChanged: true }));
    client.send(listen('1', { toolsListChanged: true, resourceSubscriptions: ['a:b'] }));
    expect(await client.settle()).toHaveLength(2);
    changeAll(server);
    const seen = await client.settle();
    expect(seen).toHaveLength(3);
    expect(seen).toEqual(
      expect.arrayContaining([changed(1, 'tools'), changed('1', 'tools'), updated('1', 'a:b')]),
    );
  });

  it('with the id of an open one is refused, and the open one lives on (JRPC-004)', async () => {
    const server = full();
    const client = await connect(server);
    client.send(listen(1, { toolsListChanged: true }));
    await client.next();
    client.send(listen(1, { promptsListChanged: true }));
    expect(await client.next()).toMatchObject({ id: 1, error: { code: -32600 } });
    changeAll(server);
    expect(await client.settle()).toEqual([changed(1, 'tools')]);
  });

  it('cancelled is silent at once, the others go on, its id may be used again (SUB-011, CANC-007, CANC-002)', async () => {
    const server = full();
    const client = await connect(server);
    client.send(listen(0, { toolsListChanged: true }));
    client.send(listen('0', { toolsListChanged: true }));
    expect(await client.settle()).toHaveLength(2);
    client.send(notification('notifications/cancelled', { requestId: 0 }));
    expect(await client.settle()).toEqual([]);
    changeAll(server);
    expect(await client.settle()).toEqual([changed('0', 'tools')]);
    client.send(listen(0, { promptsListChanged: true }));
    expect(await client.next()).toEqual(acknowledged(0, { promptsListChanged: true }));
    changeAll(server);
    expect((await client.settle()).toSorted(byId)).toEqual(
      [changed('0', 'tools'), changed(0, 'prompts')].toSorted(byId),
    );
  });

  it('ends with a closing result when the server closes, before running calls do (SUB-012, SUB-013)', async () => {
    const server = full();
    const finish = gate<string>();
    server.tool('hold', {}, () => finish.passed);
    const link = await start(server, { clock: new FakeClock() });
    const client = link.connect();
    client.send(listen('a', EVERYTHING));
    client.send(listen('b', {}));
    client.send(modern(3, 'tools/call', { name: 'hold' }));
    expect(await client.settle()).toHaveLength(2);
    const closing = link.served.close();
    expect(await client.settle()).toEqual([ended('a'), ended('b')]);
    changeAll(server);
    expect(await client.settle()).toEqual([]);
    finish.open('done');
    expect(await client.next()).toMatchObject({ id: 3, result: { content: [{ text: 'done' }] } });
    await closing;
    await client.closed;
  });

  it('ends with a closing result when the client ends its input (SUB-012, LIFE-003)', async () => {
    const client = await connect(full());
    client.send(listen(5, EVERYTHING));
    await client.next();
    client.end();
    expect(await client.next()).toEqual(ended(5));
    await client.closed;
  });

  it('ends without a trace when the client vanishes', async () => {
    const server = full();
    const link = await start(server);
    const client = link.connect();
    client.send(listen(1, EVERYTHING));
    await client.next();
    client.vanish();
    await client.closed;
    changeAll(server);
    await settle();
    expect(link.served.connections).toBe(0);
  });

  it('is limited in number per connection; a place freed can be taken (maxListens)', async () => {
    const link = await start(full(), { maxListens: 2 });
    const client = link.connect();
    client.send(listen(1, {}));
    client.send(listen(2, {}));
    expect(await client.settle()).toHaveLength(2);
    client.send(listen(3, {}));
    expect(await client.next()).toMatchObject({ id: 3, error: { code: -32603 } });
    client.send(notification('notifications/cancelled', { requestId: 1 }));
    client.send(listen(3, {}));
    expect(await client.next()).toEqual(acknowledged(3, {}));
    const other = link.connect();
    other.send(listen(1, {}));
    expect(await other.next()).toEqual(acknowledged(1, {}));
  });

  it('is not held up by calls that fill every place', async () => {
    const server = full();
    const finish = gate<string>();
    server.tool('hold', {}, () => finish.passed);
    const client = (await start(server, { maxConcurrent: 1, maxQueued: 0 })).connect();
    client.send(modern(1, 'tools/call', { name: 'hold' }));
    client.send(listen(2, { promptsListChanged: true }));
    expect(await client.next()).toEqual(acknowledged(2, { promptsListChanged: true }));
    server.prompt('p', {}, () => 'p');
    expect(await client.next()).toEqual(changed(2, 'prompts'));
    finish.open('x');
    expect(await client.next()).toMatchObject({ id: 1 });
  });

  it('hears many changes of one turn once, and each URI for itself', async () => {
    const server = full();
    const client = await connect(server);
    client.send(listen(1, EVERYTHING));
    await client.next();
    for (let index = 0; index < 100; index += 1) {
      server.tool(`t${index}`, {}, () => 't');
      server.resourceUpdated('a:b');
      server.resourceUpdated('a:c');
    }
    expect(await client.settle()).toEqual([changed(1, 'tools'), updated(1, 'a:b'), updated(1, 'a:c')]);
  });

  it('hears of tools that are switched off, on and removed (TOOL-021)', async () => {
    const server = full();
    const tool = server.tool('t', {}, () => 't');
    const client = await connect(server);
    client.send(listen(1, { toolsListChanged: true }));
    await client.next();
    for (const change of [tool.disable, tool.enable, tool.remove]) {
      change();
      expect(await client.settle()).toEqual([changed(1, 'tools')]);
    }
    tool.remove();
    tool.enable();
    expect(await client.settle()).toEqual([]);
  });

  it('works over a memory link just as over bytes, several connections apart (STDIO-017)', async () => {
    const server = full();
    const link = memory();
    const served = await serve(server, link);
    const seen: [string, Decoded][] = [];
    const open = (name: string, filter: object) => {
      const connection = link.connect();
      connection.open({
        receive: (message) => void seen.push([name, message]),
        inputEnded() {},
        drained() {},
      });
      connection.send(listen(name, filter) as never);
      return connection;
    };
    open('one', { toolsListChanged: true });
    open('two', { promptsListChanged: true });
    await settle();
    seen.length = 0;
    changeAll(server);
    await settle();
    expect(seen.map(([name, message]) => [name, message.kind === 'notification' && message.method])).toEqual([
      ['one', 'notifications/tools/list_changed'],
      ['two', 'notifications/prompts/list_changed'],
    ]);
    seen.length = 0;
    await served.close();
    await settle();
    expect(seen).toEqual([
      ['one', { kind: 'result', id: 'one', result: ended('one').result }],
      ['two', { kind: 'result', id: 'two', result: ended('two').result }],
    ]);
  });

  it('leaves no notification to those who did not listen, whatever else they do (SUB-002, RES-013)', async () => {
    const server = bare();
    server.tool('t', {}, () => {
      server.tool('u', {}, () => 'u').remove();
      server.resourceUpdated('a:b');
      return 'x';
    });
    const client = await connect(server);
    client.send(modern(1, 'tools/call', { name: 't' }));
    expect(await client.settle()).toMatchObject([{ id: 1 }]);
  });
});

function byId(a: unknown, b: unknown): number {
  return JSON.stringify(a) < JSON.stringify(b) ? -1 : 1;
}
