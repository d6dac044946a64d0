import { describe, expect, it } from 'vitest';
import { createServer, type Registration, type Server } from '../../src/index.js';
import { connectTo, ERAS, type RawPeer, settle } from '../support/server.js';

const KINDS = [
  { method: 'tools/list', key: 'tools', id: 'name', change: 'tools' },
  { method: 'prompts/list', key: 'prompts', id: 'name', change: 'prompts' },
  { method: 'resources/list', key: 'resources', id: 'uri', change: 'resources' },
  { method: 'resources/templates/list', key: 'resourceTemplates', id: 'uriTemplate', change: 'resources' },
] as const;
type Kind = (typeof KINDS)[number];

function add(server: Server, kind: Kind, name: string): Registration {
  switch (kind.key) {
    case 'tools':
      return server.tool(name, {}, () => name);
    case 'prompts':
      return server.prompt(name, {}, () => name);
    case 'resources':
      return server.resource(name, { name }, () => name);
    case 'resourceTemplates':
      return server.resourceTemplate(name, { name }, () => name);
  }
}

async function page(peer: RawPeer, kind: Kind, cursor?: string) {
  const result = await peer.result(kind.method, { ...(cursor !== undefined && { cursor }) });
  const items = result[kind.key] as Record<string, string>[];
  return {
    names: items.map((item) => item[kind.id]),
    nextCursor: result['nextCursor'] as string | undefined,
  };
}

async function everything(peer: RawPeer, kind: Kind) {
  const names: (string | undefined)[] = [];
  let cursor: string | undefined;
  do {
    const next = await page(peer, kind, cursor);
    names.push(...next.names);
    cursor = next.nextCursor;
  } while (cursor !== undefined);
  return names;
}

describe.each(KINDS)('$method', (kind) => {
  const started = (...names: string[]) => {
    const server = createServer({ name: 'lists', version: '1', pageSize: 2 });
    const registered = names.map((name) => add(server, kind, name));
    return { server, registered };
  };

  it.each(ERAS)('pages through everything in order of registration, %s', async (era) => {
    const { server } = started('d', 'b', 'e', 'a', 'c');
    await using peer = await connectTo(server, era);
    expect(await page(peer, kind)).toMatchObject({ names: ['d', 'b'], nextCursor: expect.any(String) });
    expect(await everything(peer, kind)).toEqual(['d', 'b', 'e', 'a', 'c']);
    expect(await everything(peer, kind)).toEqual(['d', 'b', 'e', 'a', 'c']);
  });

  it('a list that fits exactly has no further page', async () => {
    const { server } = started('a', 'b');
    await using peer = await connectTo(server, 'modern');
    expect(await page(peer, kind)).toEqual({ names: ['a', 'b'], nextCursor: undefined });
  });

  it('an empty list is a list', async () => {
    const { server, registered } = started('a');
    registered[0]?.remove();
    for (const era of ERAS) {
      await using peer = await connectTo(server, era);
      expect(await page(peer, kind)).toEqual({ names: [], nextCursor: undefined });
    }
  });

  it('items that come and go between pages neither repeat nor hide the others', async () => {
    const { server, registered } = started('a', 'b', 'c', 'd', 'e');
    await using peer = await connectTo(server, 'modern');
    const first = await page(peer, kind);
    registered[0]?.remove();
    registered[1]?.disable();
    registered[2]?.remove();
    add(server, kind, 'f');
    const second = await page(peer, kind, first.nextCursor);
    expect(second.names).toEqual(['d', 'e']);
    registered[1]?.enable();
    expect((await page(peer, kind, second.nextCursor)).names).toEqual(['f']);
  });

  it('a cursor whose whole rest is gone gives an empty last page', async () => {
    const { server, registered } = started('a', 'b', 'c');
    await using peer = await connectTo(server, 'modern');
    const { nextCursor } = await page(peer, kind);
    for (const registration of registered) registration.remove();
    expect(await page(peer, kind, nextCursor)).toEqual({ names: [], nextCursor: undefined });
  });

  it('a cursor is good on another connection, and twice', async () => {
    const { server } = started('a', 'b', 'c');
    await using one = await connectTo(server, 'modern');
    await using other = await connectTo(server, 'legacy');
    const { nextCursor } = await page(one, kind);
    expect((await page(other, kind, nextCursor)).names).toEqual(['c']);
    expect((await page(one, kind, nextCursor)).names).toEqual(['c']);
  });

  it.each(ERAS)('refuses cursors it did not write with -32602, %s (PAGE-006)', async (era) => {
    const { server } = started('a', 'b', 'c');
    await using peer = await connectTo(server, era);
    const genuine = (await page(peer, kind)).nextCursor ?? '';
    const foreign = Buffer.from('nothing:1').toString('base64url');
    const bad: unknown[] = [
      '',
      'garbage',
      '1',
      1,
      null,
      {},
      [],
      true,
      `${genuine}=`,
      `${genuine} `,
      genuine.slice(1),
      foreign,
    ];
    for (const cursor of bad) {
      expect({ cursor, code: (await peer.error(kind.method, { cursor })).code }).toEqual({
        cursor,
        code: -32602,
      });
    }
  });

  it('what is disabled or removed cannot be used; what is enabled again can', async () => {
    const { server, registered } = started('a', 'b');
    const [a] = registered as [Registration, Registration];
    await using peer = await connectTo(server, 'modern');
    expect(a.enabled).toBe(true);
    a.disable();
    expect(a.enabled).toBe(false);
    expect(await everything(peer, kind)).toEqual(['b']);
    a.enable();
    expect(await everything(peer, kind)).toEqual(['a', 'b']);
    a.remove();
    a.enable();
    expect(a.enabled).toBe(false);
    expect(await everything(peer, kind)).toEqual(['b']);
    const again = add(server, kind, 'a');
    a.remove();
    a.disable();
    expect(again.enabled).toBe(true);
    expect(await everything(peer, kind)).toEqual(['b', 'a']);
  });

  describe.each(ERAS)('changes are told, %s', (era) => {
    const METHOD = `notifications/${kind.change}/list_changed`;

    async function watching() {
      const { server, registered } = started('a', 'b');
      const peer = await connectTo(server, era);
      if (era === 'modern') {
        const notifications = { [`${kind.change}ListChanged`]: true };
        void peer.request('subscriptions/listen', { notifications }).catch(() => {});
      }
      await settle();
      const told = async () => {
        await settle();
        return peer.notifications.splice(0).filter((each) => each.method === METHOD).length;
      };
      await told();
      return { server, peer, told, a: registered[0] as Registration };
    }

    it('once for many changes in one turn', async () => {
      const { server, peer, told, a } = await watching();
      await using _ = peer;
      a.disable();
      a.enable();
      a.remove();
      add(server, kind, 'c');
      add(server, kind, 'd').remove();
      expect(await told()).toBe(1);
      add(server, kind, 'e');
      expect(await told()).toBe(1);
    });

    it('not at all for what changes nothing', async () => {
      const { peer, told, a } = await watching();
      await using _ = peer;
      a.enable();
      expect(await told()).toBe(0);
      a.disable();
      expect(await told()).toBe(1);
      a.disable();
      expect(await told()).toBe(0);
      a.remove();
      expect(await told()).toBe(1);
      a.remove();
      a.enable();
      expect(await told()).toBe(0);
    });
  });
});

describe('what was not promised is not told', () => {
  it('a modern listener hears only of what it asked for', async () => {
    const server = createServer({ name: 'lists', version: '1', announce: ['tools', 'prompts', 'resources'] });
    await using peer = await connectTo(server, 'modern');
    void peer.request('subscriptions/listen', { notifications: { toolsListChanged: true } }).catch(() => {});
    await settle();
    server.prompt('p', {}, () => 'x');
    server.resource('x:a', { name: 'a' }, () => 'x');
    server.tool('t', {}, () => 'x');
    await settle();
    expect(peer.notifications.map((each) => each.method)).toEqual([
      'notifications/subscriptions/acknowledged',
      'notifications/tools/list_changed',
    ]);
  });

  it('a legacy client does not hear of a capability that its handshake did not name', async () => {
    const server = createServer({ name: 'lists', version: '1', announce: ['tools'] });
    await using peer = await connectTo(server, 'legacy');
    await settle();
    server.prompt('p', {}, () => 'x');
    server.tool('t', {}, () => 'x');
    await settle();
    expect(peer.notifications.map((each) => each.method)).toEqual(['notifications/tools/list_changed']);
  });

  it.each(ERAS)('updates of a resource reach those who subscribed, once per turn, %s', async (era) => {
    const server = createServer({ name: 'lists', version: '1' });
    server.resource('x:a', { name: 'a' }, () => 'x');
    await using peer = await connectTo(server, era);
    if (era === 'legacy') await peer.result('resources/subscribe', { uri: 'x:a' });
    else {
      const notifications = { resourceSubscriptions: ['x:a'] };
      void peer.request('subscriptions/listen', { notifications }).catch(() => {});
    }
    await settle();
    peer.notifications.length = 0;
    server.resourceUpdated('x:a');
    server.resourceUpdated('x:a');
    server.resourceUpdated('x:b');
    await settle();
    expect(peer.notifications).toMatchObject([
      { method: 'notifications/resources/updated', params: { uri: 'x:a' } },
    ]);
  });

  it('announced capabilities answer with empty lists (TOOL-002)', async () => {
    const server = createServer({ name: 'lists', version: '1', announce: ['tools', 'prompts', 'resources'] });
    for (const era of ERAS) {
      await using peer = await connectTo(server, era);
      for (const kind of KINDS) expect(await everything(peer, kind)).toEqual([]);
    }
  });
});

describe('createServer', () => {
  it.each([
    ['no name', { name: '', version: '1' }],
    ['no version', { name: 'a' }],
    ['a page size of 0', { name: 'a', version: '1', pageSize: 0 }],
    ['a page size of 1.5', { name: 'a', version: '1', pageSize: 1.5 }],
    ['a negative ttl', { name: 'a', version: '1', cache: { tools: { ttlMs: -1 } } }],
    ['an unknown capability', { name: 'a', version: '1', announce: ['tolls'] }],
  ])('refuses %s', (_what, options) => {
    expect(() => createServer(options as never)).toThrow(expect.objectContaining({ code: 'INVALID_OPTION' }));
  });

  it.each(ERAS)('tells who it is and how it is used, %s', async (era) => {
    const info = {
      name: 'full',
      version: '2',
      title: 'Full',
      description: 'All of it',
      websiteUrl: 'https://example.com',
      icons: [{ src: 'https://example.com/i.png' }],
    };
    const server = createServer({ ...info, instructions: 'Be kind.', logging: false });
    await using peer = await connectTo(server, era);
    if (era === 'modern') {
      expect(await peer.result('server/discover')).toEqual({
        resultType: 'complete',
        supportedVersions: ['2026-07-28'],
        capabilities: {},
        instructions: 'Be kind.',
        ttlMs: 0,
        cacheScope: 'private',
        _meta: { 'io.modelcontextprotocol/serverInfo': info },
      });
    } else {
      expect((await peer.error('logging/setLevel', { level: 'info' })).code).toBe(-32601);
    }
    expect(server.info).toEqual(info);
  });
});
