import { describe, expect, it } from 'vitest';
import { bridgeTo } from '../support/bridge/between.js';
import type { LegacyRevision } from '../support/bridge/frames.js';

const INPUT = { type: 'object', properties: { n: { type: 'integer' } } };
const TOOL = {
  name: 'a',
  title: 'A',
  description: 'does a',
  inputSchema: INPUT,
  icons: [{ src: 'https://a.b/i.png' }],
  annotations: { readOnlyHint: true },
  _meta: { 'a.b/c': 1 },
};
const OBJECT = { type: 'object', properties: { x: { type: 'number' } } };
const LIST = { type: 'array', items: { type: 'number' } };

const BEFORE: Record<LegacyRevision, object> = {
  '2024-11-05': { name: 'a', description: 'does a', inputSchema: INPUT },
  '2025-03-26': { name: 'a', description: 'does a', inputSchema: INPUT, annotations: { readOnlyHint: true } },
  '2025-06-18': { ...without(TOOL, 'icons'), outputSchema: OBJECT },
  '2025-11-25': { ...TOOL, outputSchema: OBJECT },
};

function without(value: object, key: string): object {
  return Object.fromEntries(Object.entries(value).filter(([name]) => name !== key));
}

describe('row 20: the tools of a modern server, for a legacy client', () => {
  async function listed(revision: LegacyRevision, tools: object[]) {
    const { near, far } = await bridgeTo('modern');
    const client = await near.legacy({ revision });
    client.request(1, 'tools/list');
    const list = await far.next();
    list.on.answer(list, { resultType: 'complete', tools, ttlMs: 0, cacheScope: 'private' });
    return (await client.next()).result.tools;
  }

  async function called(revision: LegacyRevision, result: object) {
    const { near, far } = await bridgeTo('modern');
    const client = await near.legacy({ revision });
    client.call(1, 'a');
    const call = await far.next();
    call.on.answer(call, { resultType: 'complete', ...result });
    return (await client.next()).result;
  }

  it.each(Object.entries(BEFORE))('are in %s what that revision knows (TOOL-008)', async (revision, seen) => {
    expect(await listed(revision as LegacyRevision, [{ ...TOOL, outputSchema: OBJECT }])).toEqual([seen]);
  });

  it.each(['2025-06-18', '2025-11-25'] as const)(
    'lose an output schema that is no object in %s (TOOL-008)',
    async (revision) => {
      const [tool] = await listed(revision, [{ ...TOOL, outputSchema: LIST }]);
      expect(tool).not.toHaveProperty('outputSchema');
      expect(tool.name).toBe('a');
    },
  );

  it.each<[LegacyRevision, unknown, object]>([
    ['2025-11-25', { x: 1 }, { content: [], structuredContent: { x: 1 } }],
    ['2025-06-18', { x: 1 }, { content: [], structuredContent: { x: 1 } }],
    ['2025-03-26', { x: 1 }, { content: [{ type: 'text', text: '{"x":1}' }] }],
    ['2024-11-05', { x: 1 }, { content: [{ type: 'text', text: '{"x":1}' }] }],
    ['2025-11-25', [1, 2], { content: [{ type: 'text', text: '[1,2]' }] }],
    ['2025-06-18', [1, 2], { content: [{ type: 'text', text: '[1,2]' }] }],
    ['2025-11-25', 5, { content: [{ type: 'text', text: '5' }] }],
    ['2025-11-25', null, { content: [{ type: 'text', text: 'null' }] }],
    ['2024-11-05', false, { content: [{ type: 'text', text: 'false' }] }],
  ])(
    'give a client of %s the structured result %j in a form that it knows (TOOL-015)',
    async (revision, structuredContent, seen) => {
      expect(await called(revision, { content: [], structuredContent })).toEqual(seen);
    },
  );

  it('say it in text already: then it is not said twice (TOOL-014)', async () => {
    const content = [{ type: 'text', text: '[1,2]' }];
    expect(await called('2025-11-25', { content, structuredContent: [1, 2] })).toEqual({ content });
  });

  it.each<[LegacyRevision, string]>([
    ['2025-11-25', 'resource_link'],
    ['2025-06-18', 'resource_link'],
    ['2025-03-26', 'text'],
    ['2024-11-05', 'text'],
  ])('give a client of %s a link to a resource as %s (TOOL-023)', async (revision, type) => {
    const link = { type: 'resource_link', uri: 'a://b', name: 'B' };
    const [block] = (await called(revision, { content: [link] })).content;
    expect(block.type).toBe(type);
    expect(JSON.stringify(block)).toContain('a://b');
  });

  it.each<[LegacyRevision, string]>([
    ['2025-03-26', 'audio'],
    ['2024-11-05', 'text'],
  ])('give a client of %s sounds as %s (TOOL-024)', async (revision, type) => {
    const audio = { type: 'audio', data: 'AAAA', mimeType: 'audio/wav' };
    const [block] = (await called(revision, { content: [audio] })).content;
    expect(block.type).toBe(type);
    expect(JSON.stringify(block)).toContain('audio/wav');
  });
});

describe('row 20: the tools of a legacy server, for a modern client', () => {
  it('come without what concerns tasks, and with all the rest', async () => {
    const { near, far } = await bridgeTo('legacy');
    const client = near.modern();
    client.request(1, 'tools/list');
    const list = await far.next();
    const tools = [
      { ...TOOL, outputSchema: OBJECT, execution: { taskSupport: 'optional' } },
      { ...TOOL, name: 'b', execution: { taskSupport: 'forbidden' } },
      { ...TOOL, name: 'c' },
    ];
    list.on.answer(list, { tools });
    expect((await client.next()).result.tools).toEqual([
      { ...TOOL, outputSchema: OBJECT },
      { ...TOOL, name: 'b' },
      { ...TOOL, name: 'c' },
    ]);
  });

  it('give structured results as they are', async () => {
    const { near, far } = await bridgeTo('legacy');
    const client = near.modern();
    client.call(1, 'a');
    const call = await far.next();
    const result = { content: [{ type: 'text', text: 'x' }], structuredContent: { x: [1] }, isError: false };
    call.on.answer(call, result);
    expect((await client.next()).result).toMatchObject(result);
  });

  it('that failed have failed, in words of the tool (TOOL-017)', async () => {
    const { near, far } = await bridgeTo('legacy');
    const client = near.modern();
    client.call(1, 'a');
    const call = await far.next();
    const result = { content: [{ type: 'text', text: 'disk full' }], isError: true };
    call.on.answer(call, result);
    expect((await client.next()).result).toMatchObject({ resultType: 'complete', ...result });
  });
});

describe('row 20: the tools of a 2025-11-25 server, for an older client', () => {
  it('are what the older revision knows', async () => {
    const { near, far } = await bridgeTo('legacy');
    const client = await near.legacy({ revision: '2024-11-05' });
    client.request(1, 'tools/list');
    const list = await far.next();
    list.on.answer(list, {
      tools: [{ ...TOOL, outputSchema: OBJECT, execution: { taskSupport: 'optional' } }],
    });
    expect((await client.next()).result.tools).toEqual([BEFORE['2024-11-05']]);
  });
});
