import { describe, expect, it } from 'vitest';
import { bridgeTo } from '../support/bridge/between.js';

const LISTS = [
  ['tools/list', 'tools'],
  ['prompts/list', 'prompts'],
  ['resources/list', 'resources'],
  ['resources/templates/list', 'resourceTemplates'],
] as const;

describe('row 24: pages', () => {
  it.each(LISTS)(
    'of %s with an empty cursor go on for a legacy client, who would stop there (PAGE-004)',
    async (method, list) => {
      const { near, far } = await bridgeTo('modern');
      const client = await near.legacy();
      client.request(1, method);
      const first = await far.next();
      expect(first.params).not.toHaveProperty('cursor');
      first.on.answer(first, { resultType: 'complete', [list]: [], nextCursor: '' });
      const { nextCursor } = (await client.next()).result;
      expect(nextCursor).toMatch(/./);
      client.request(2, method, { cursor: nextCursor });
      const second = await far.next();
      expect(second.params.cursor).toBe('');
      second.on.answer(second, { resultType: 'complete', [list]: [] });
      expect((await client.next()).result).toEqual({ [list]: [] });
    },
  );

  it.each([
    ['legacy', 'modern'],
    ['modern', 'legacy'],
    ['legacy', 'legacy'],
    ['modern', 'modern'],
  ] as const)(
    'of a %s client before a %s server have the cursors of the server (PAGE-003)',
    async (era, farEra) => {
      const { near, far } = await bridgeTo(farEra);
      const client = era === 'legacy' ? await near.legacy() : near.modern();
      for (const cursor of ['a', ' ü{"x":1}', 'isthmus']) {
        client.request(cursor, 'tools/list', { cursor });
        const list = await far.next();
        expect(list.params.cursor).toBe(cursor);
        list.on.answer(list, { resultType: 'complete', tools: [], nextCursor: `${cursor}+` });
        expect((await client.next()).result.nextCursor).toBe(`${cursor}+`);
      }
    },
  );

  it('of a modern server with an empty cursor are as they are for a modern client (PAGE-004)', async () => {
    const { near, far } = await bridgeTo('modern');
    const client = near.modern();
    client.request(1, 'tools/list');
    const first = await far.next();
    first.on.answer(first, {
      resultType: 'complete',
      tools: [],
      nextCursor: '',
      ttlMs: 0,
      cacheScope: 'private',
    });
    expect((await client.next()).result.nextCursor).toBe('');
    client.request(2, 'tools/list', { cursor: '' });
    const second = await far.next();
    expect(second.params.cursor).toBe('');
    second.on.answer(second, { resultType: 'complete', tools: [], ttlMs: 0, cacheScope: 'private' });
    await client.next();
  });

  it('whose cursor died with a session are refused, in words of the server (PAGE-006)', async () => {
    const { near, far } = await bridgeTo('legacy');
    const client = near.modern();
    client.request(1, 'tools/list');
    const first = await far.next();
    first.on.answer(first, { tools: [], nextCursor: 'c' });
    await client.next();
    first.on.vanish();
    client.request(2, 'tools/list', { cursor: 'c' });
    const second = await far.next();
    expect(second.params.cursor).toBe('c');
    second.on.refuse(second, -32602, 'Invalid cursor');
    expect((await client.next()).error).toEqual({ code: -32602, message: 'Invalid cursor' });
  });

  it('of a legacy server have one scope, all of them (CACHE-020)', async () => {
    const { near, far } = await bridgeTo('legacy');
    const client = near.modern();
    for (const cursor of [undefined, 'a', 'b']) {
      client.request(String(cursor), 'tools/list', cursor ? { cursor } : {});
      const list = await far.next();
      list.on.answer(list, { tools: [], nextCursor: 'more' });
      expect((await client.next()).result).toMatchObject({ ttlMs: 0, cacheScope: 'private' });
    }
  });
});

describe('row 25: caching', () => {
  it.each(LISTS)('hints of a modern server about %s reach a modern client', async (method, list) => {
    const { near, far } = await bridgeTo('modern');
    const client = near.modern();
    client.request(1, method);
    const request = await far.next();
    request.on.answer(request, { resultType: 'complete', [list]: [], ttlMs: 60_000, cacheScope: 'public' });
    expect((await client.next()).result).toMatchObject({ ttlMs: 60_000, cacheScope: 'public' });
  });

  it('of private results never crosses principals (CACHE-014)', async () => {
    const { near, far } = await bridgeTo('modern');
    const clients = [near.modern({ principal: 'alice' }), near.modern({ principal: 'bob' })];
    const places = [];
    for (const [index, client] of clients.entries()) {
      client.request(1, 'resources/read', { uri: 'me://' });
      const read = await far.next();
      const contents = [{ uri: 'me://', text: `for ${index}` }];
      read.on.answer(read, { resultType: 'complete', contents, ttlMs: 60_000, cacheScope: 'private' });
      expect((await client.next()).result.contents).toEqual(contents);
      places.push(read.on);
    }
    expect(places[0]).not.toBe(places[1]);
  });

  it('is not done for rounds (MRTR-029)', async () => {
    const { near, far } = await bridgeTo('modern');
    const client = await near.legacy({ capabilities: { roots: {} } });
    for (const text of ['one', 'two']) {
      client.request(text, 'resources/read', { uri: 'a://b' });
      const first = await far.next();
      first.on.answer(first, {
        resultType: 'input_required',
        inputRequests: { r: { method: 'roots/list' } },
      });
      client.answer(await client.next(), { roots: [] });
      const second = await far.next();
      const contents = [{ uri: 'a://b', text }];
      second.on.answer(second, { resultType: 'complete', contents, ttlMs: 60_000, cacheScope: 'public' });
      expect((await client.next()).result.contents).toEqual(contents);
    }
  });
});
