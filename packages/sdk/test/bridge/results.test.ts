import { describe, expect, it } from 'vitest';
import { bridgeTo } from '../support/bridge/between.js';
import { SERVER_INFO } from '../support/bridge/frames.js';

const KEPT = {
  'com.example/trace': { id: 7 },
  traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
};
const LISTS = [
  ['tools/list', {}, 'tools'],
  ['prompts/list', {}, 'prompts'],
  ['resources/list', {}, 'resources'],
  ['resources/templates/list', {}, 'resourceTemplates'],
  ['resources/read', { uri: 'a://b' }, 'contents'],
] as const;

describe('row 3: the results of a modern server, for a legacy client', () => {
  it.each(LISTS)('of %s come without what only modern clients know', async (method, params, list) => {
    const { near, far } = await bridgeTo('modern');
    const client = await near.legacy();
    client.request(1, method, params);
    const request = await far.next();
    const _meta = { [SERVER_INFO]: { name: 'far', version: '9' }, ...KEPT };
    request.on.answer(request, {
      resultType: 'complete',
      [list]: [],
      ttlMs: 60_000,
      cacheScope: 'public',
      _meta,
    });
    const { result } = await client.next();
    expect(result).toMatchObject({ [list]: [], _meta: KEPT });
    for (const member of ['resultType', 'ttlMs', 'cacheScope']) expect(result).not.toHaveProperty(member);
  });

  it('keep their own members, known or not', async () => {
    const { near, far } = await bridgeTo('modern');
    const client = await near.legacy();
    client.call(1, 'a');
    const call = await far.next();
    const content = [{ type: 'text', text: 'x', annotations: { audience: ['user'] }, _meta: { 'a.b/c': 1 } }];
    call.on.answer(call, {
      resultType: 'complete',
      content,
      isError: true,
      structuredContent: { a: 1 },
      _meta: KEPT,
    });
    expect(await client.next()).toEqual({
      jsonrpc: '2.0',
      id: 1,
      result: { content, isError: true, structuredContent: { a: 1 }, _meta: KEPT },
    });
  });

  it('of an extension that nobody asked for are errors, and are not shown (RTYPE-003)', async () => {
    const { near, far } = await bridgeTo('modern');
    for (const client of [await near.legacy(), near.modern()]) {
      client.call(1, 'a');
      const call = await far.next();
      call.on.answer(call, { resultType: 'com.example/odd', content: [] });
      expect(await client.next()).toMatchObject({ id: 1, error: { code: -32603 } });
    }
  });

  it('without resultType are complete (RTYPE-004)', async () => {
    const { near, far } = await bridgeTo('modern');
    const client = await near.legacy();
    client.call(1, 'a');
    const call = await far.next();
    call.on.answer(call, { content: [] });
    expect(await client.next()).toEqual({ jsonrpc: '2.0', id: 1, result: { content: [] } });
  });
});

describe('row 3: the results of a legacy server, for a modern client', () => {
  it.each(LISTS)(
    'of %s are complete, named, private and stale at once (CACHE-001)',
    async (method, params, list) => {
      const { near, far } = await bridgeTo('legacy');
      const client = near.modern();
      client.request(1, method, params);
      const request = await far.next();
      request.on.answer(request, { [list]: [], _meta: KEPT });
      expect((await client.next()).result).toEqual({
        resultType: 'complete',
        [list]: [],
        ttlMs: 0,
        cacheScope: 'private',
        _meta: { ...KEPT, [SERVER_INFO]: { name: 'far', version: '9' } },
      });
    },
  );

  it.each([
    ['tools/call', { name: 'a' }, { content: [] }],
    ['prompts/get', { name: 'a' }, { messages: [] }],
    [
      'completion/complete',
      { ref: { type: 'ref/prompt', name: 'a' }, argument: { name: 'b', value: 'c' } },
      { completion: { values: [] } },
    ],
  ])(
    'of %s are complete and named, and say nothing of caching (RTYPE-001, META-010)',
    async (method, params, result) => {
      const { near, far } = await bridgeTo('legacy');
      const client = near.modern();
      client.request(1, method, params);
      const request = await far.next();
      expect(request.params).toEqual(params);
      request.on.answer(request, result);
      expect((await client.next()).result).toEqual({
        resultType: 'complete',
        ...result,
        _meta: { [SERVER_INFO]: { name: 'far', version: '9' } },
      });
    },
  );

  it('are not what they claim to be in another era: a resultType of theirs means nothing', async () => {
    const { near, far } = await bridgeTo('legacy');
    const client = near.modern();
    client.call(1, 'a');
    const call = await far.next();
    call.on.answer(call, { resultType: 'input_required', content: [], requestState: 'trap' });
    const answer = await client.next();
    if (answer.result) expect(answer.result).toMatchObject({ resultType: 'complete', content: [] });
    else expect(answer.error!.code).toBe(-32603);
  });
});

describe('the _meta of requests', () => {
  it.each([
    ['legacy', 'modern'],
    ['modern', 'legacy'],
    ['legacy', 'legacy'],
    ['modern', 'modern'],
  ] as const)(
    'of a %s client before a %s server is handed on, as far as it is not about the hop (META-014)',
    async (era, farEra) => {
      const { near, far } = await bridgeTo(farEra);
      const client = era === 'legacy' ? await near.legacy() : near.modern();
      client.call(1, 'a', {}, KEPT);
      const call = await far.next();
      expect(call.params._meta).toMatchObject(KEPT);
      call.on.answer(call, { resultType: 'complete', content: [] });
      await client.next();
    },
  );
});

describe('params that are not known here', () => {
  it.each(['modern', 'legacy'] as const)('reach a %s server', async (farEra) => {
    const { near, far } = await bridgeTo(farEra);
    for (const client of [await near.legacy(), near.modern()]) {
      client.call(1, 'a', { arguments: { deep: { list: [1, null, 'x'] } }, later: { x: 1 } });
      const call = await far.next();
      expect(call.params).toMatchObject({
        name: 'a',
        arguments: { deep: { list: [1, null, 'x'] } },
        later: { x: 1 },
      });
      call.on.answer(call, { resultType: 'complete', content: [] });
      await client.next();
    }
  });
});
