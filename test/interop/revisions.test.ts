import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { judgeFrames } from './support/judge.js';
import { ANSWERS, openRaw, type RawPeer, startRaw } from './support/raw-peer.js';
import type { Json, Revision } from './support/revision.js';

const RICH = ['test/interop/rich-server.mjs'];
const DEMO = ['bin/isthmus.js', 'demo'];

/** What came with which of them: wire sheet §12. */
const REVISIONS: readonly Revision[] = ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25', '2026-07-28'];

describe.each(REVISIONS)('a client of %s', (revision) => {
  const since = (birth: Revision) => revision >= birth;
  /** One that several tests talk to. */
  let rich: Awaited<ReturnType<typeof openRaw>>;
  let reapRich = async () => {};

  beforeAll(async () => {
    const reap = (end: () => Promise<void>) => {
      reapRich = end;
    };
    rich = await openRaw(revision, RICH, { reap });
  });
  afterAll(() => reapRich());

  it('gets frames that its revision knows to the last member, from a server that uses everything', async () => {
    const peer = await openRaw(revision, RICH);
    await useEverything(peer, revision);
    expect(await peer.close()).toBe(0);
    expect(judgeFrames(peer.frames, revision)).toEqual([]);
  });

  it('gets such frames from every tool, resource and prompt of the demo server', async () => {
    const peer = await openRaw(revision, DEMO);
    const { tools } = result(await peer.request('tools/list')) as { tools: { name: string }[] };
    for (const { name } of tools) {
      if (name === 'crash') continue;
      await call(peer, name, ARGUMENTS[name], { progressToken: `progress of ${name}` });
    }
    const { resources } = result(await peer.request('resources/list')) as { resources: { uri: string }[] };
    for (const { uri } of resources) await peer.request('resources/read', { uri });
    await peer.request('resources/read', { uri: 'test://template/1/data' });
    await peer.request('resources/read', { uri: 'test://nowhere' });
    const { prompts } = result(await peer.request('prompts/list')) as {
      prompts: { name: string; arguments?: { name: string }[] }[];
    };
    for (const { name, arguments: needed = [] } of prompts) {
      const args = Object.fromEntries(needed.map((argument) => [argument.name, 'test://x']));
      await rounds(peer, 'prompts/get', { name, arguments: args });
    }
    expect(await peer.close()).toBe(0);
    expect(judgeFrames(peer.frames, revision)).toEqual([]);
  });

  it(`is answered with ${since('2026-07-28') ? 'supportedVersions' : 'just that revision (INIT-009)'} and what it can understand of the server's identity`, async () => {
    const { opening } = rich;
    const full = {
      name: 'rich',
      version: '1.0.0',
      title: 'Rich',
      description: 'Uses everything',
      websiteUrl: 'https://example.com',
      icons: [
        { src: 'https://example.com/icon.png', mimeType: 'image/png', sizes: ['48x48'], theme: 'dark' },
      ],
    };
    const capabilities = {
      logging: {},
      ...(since('2025-03-26') && { completions: {} }),
      prompts: { listChanged: true },
      resources: { subscribe: true, listChanged: true },
      tools: { listChanged: true },
    };
    if (since('2026-07-28')) {
      expect(result(opening)).toEqual({
        resultType: 'complete',
        supportedVersions: ['2026-07-28'],
        capabilities,
        instructions: 'Ask for anything.',
        ttlMs: 0,
        cacheScope: 'private',
        _meta: { 'io.modelcontextprotocol/serverInfo': full },
      });
      return;
    }
    const { name, version, title } = full;
    expect(result(opening)).toEqual({
      protocolVersion: revision,
      capabilities,
      serverInfo: since('2025-11-25')
        ? full
        : since('2025-06-18')
          ? { name, version, title }
          : { name, version },
      instructions: 'Ask for anything.',
    });
  });

  it('sees of a tool definition what its revision has', async () => {
    const peer = rich;
    const { tools } = result(await peer.request('tools/list')) as { tools: Json[] };
    const members = Object.keys(tools.find(({ name }) => name === 'rich')!);
    expect(members.toSorted()).toEqual(
      [
        'description',
        'inputSchema',
        'name',
        ...(since('2025-03-26') ? ['annotations'] : []),
        ...(since('2025-06-18') ? ['_meta', 'outputSchema', 'title'] : []),
        ...(since('2025-11-25') ? ['icons'] : []),
      ].toSorted(),
    );
    // TOOL-008: an output schema whose root is no object is a modern idea.
    expect('outputSchema' in tools.find(({ name }) => name === 'scalar')!).toBe(since('2026-07-28'));
  });

  it('sees of resources, templates, prompts and their arguments what its revision has', async () => {
    const peer = rich;
    const one = async (method: string, key: string) =>
      (result(await peer.request(method)) as Record<string, Json[]>)[key]![0]!;
    const young = [
      ...(since('2025-06-18') ? ['title', '_meta'] : []),
      ...(since('2025-11-25') ? ['icons'] : []),
    ];
    const sorted = (item: Json) => Object.keys(item).toSorted();
    const resource = await one('resources/list', 'resources');
    expect(sorted(resource)).toEqual(
      ['uri', 'name', 'description', 'mimeType', 'size', 'annotations', ...young].toSorted(),
    );
    expect('lastModified' in (resource['annotations'] as Json)).toBe(since('2025-06-18'));
    expect(sorted(await one('resources/templates/list', 'resourceTemplates'))).toEqual(
      ['uriTemplate', 'name', 'description', 'mimeType', 'annotations', ...young].toSorted(),
    );
    const prompt = await one('prompts/list', 'prompts');
    expect(sorted(prompt)).toEqual(['name', 'description', 'arguments', ...young].toSorted());
    expect('title' in (prompt['arguments'] as Json[])[0]!).toBe(since('2025-06-18'));
  });

  it('gets content blocks of kinds that its revision has, and words for the others (TOOL-023, TOOL-024)', async () => {
    const peer = rich;
    const outcome = result(await peer.request('tools/call', { name: 'rich' }));
    expect((outcome['content'] as Json[]).map(({ type }) => type)).toEqual([
      'text',
      'image',
      since('2025-03-26') ? 'audio' : 'text',
      since('2025-06-18') ? 'resource_link' : 'text',
      'resource',
    ]);
    expect(outcome['structuredContent']).toEqual(since('2025-06-18') ? { n: 1 } : undefined);
    const text = JSON.stringify(outcome['content']);
    expect(text.includes('lastModified')).toBe(since('2025-06-18'));
    expect(text.includes('"_meta"')).toBe(since('2025-06-18'));
    expect(text.includes('"icons"')).toBe(since('2025-11-25'));

    const scalar = result(await peer.request('tools/call', { name: 'scalar' }));
    expect(scalar['content']).toEqual([{ type: 'text', text: '[1,2,3]' }]);
    expect(scalar['structuredContent']).toEqual(since('2026-07-28') ? [1, 2, 3] : undefined);
  });

  it(`gets progress ${since('2025-03-26') ? 'with' : 'without'} a message (PROG-006)`, async () => {
    const peer = rich;
    await peer.request('tools/call', { name: 'report', _meta: { progressToken: 't' } });
    const { params } = await peer.heard('progress', ({ method }) => method === 'notifications/progress');
    expect(params).toEqual({
      progressToken: 't',
      progress: 1,
      total: 2,
      ...(since('2025-03-26') && { message: 'half way' }),
    });
  });

  it(
    since('2025-06-18')
      ? 'is asked with forms that its revision can show'
      : 'is not asked with forms, which its revision does not have',
    async () => {
      const peer = await openRaw(revision, RICH);
      const { isError } = result(await call(peer, 'form'));
      expect(isError === true).toBe(!since('2025-06-18'));
      const choices = result(await call(peer, 'choices'));
      expect(choices['isError'] === true).toBe(!since('2025-11-25'));
      const page = result(await call(peer, 'page'));
      expect(page['isError'] === true).toBe(!since('2025-11-25'));
      const hear = result(await call(peer, 'hear'));
      expect(hear['isError'] === true).toBe(!since('2025-03-26'));
      await peer.close();
      const asked = peer.frames.filter(
        ({ from, message }) => from === 'server' && message['method'] === 'elicitation/create',
      );
      if (since('2026-07-28')) expect(asked).toEqual([]);
      else expect(asked).toHaveLength(since('2025-11-25') ? 3 : since('2025-06-18') ? 1 : 0);
      expect(judgeFrames(peer.frames, revision)).toEqual([]);
    },
  );
});

describe('the handshake', () => {
  it.each(['2099-01-01', '2026-07-28', '1.0'])(
    'answers %s, which it does not offer, with its newest revision (INIT-010, VER-008)',
    async (requested) => {
      const peer = startRaw(DEMO);
      const opening = await peer.request('initialize', {
        protocolVersion: requested,
        capabilities: {},
        clientInfo: { name: 'raw', version: '1.0.0' },
      });
      expect(result(opening)).toMatchObject({ protocolVersion: '2025-11-25' });
    },
  );
});

describe('batches', () => {
  it('are answered one by one to a client of 2025-03-26 (STDIO-003)', async () => {
    const peer = await openRaw('2025-03-26', DEMO);
    peer.send([
      { jsonrpc: '2.0', id: 'a', method: 'tools/call', params: { name: 'echo', arguments: { text: 'a' } } },
      { jsonrpc: '2.0', method: 'notifications/initialized' },
      { jsonrpc: '2.0', id: 'b', method: 'ping' },
    ]);
    expect(await peer.heard('a', ({ id }) => id === 'a')).toMatchObject({
      result: { content: [{ type: 'text', text: 'a' }] },
    });
    expect(await peer.heard('b', ({ id }) => id === 'b')).toMatchObject({ result: {} });
    await peer.close();
    expect(judgeFrames(peer.frames, '2025-03-26')).toEqual([]);
  });
});

/** One of each: every method, every kind of content, every question, every notification. */
async function useEverything(peer: RawPeer, revision: Revision): Promise<void> {
  const modern = revision === '2026-07-28';
  for (const method of ['tools/list', 'resources/list', 'resources/templates/list', 'prompts/list']) {
    await peer.request(method);
  }
  if (modern) {
    peer.send({
      jsonrpc: '2.0',
      id: 'listen',
      method: 'subscriptions/listen',
      params: {
        _meta: {
          'io.modelcontextprotocol/protocolVersion': revision,
          'io.modelcontextprotocol/clientCapabilities': {},
        },
        notifications: {
          toolsListChanged: true,
          promptsListChanged: true,
          resourcesListChanged: true,
          resourceSubscriptions: ['rich://one'],
        },
      },
    });
  } else {
    await peer.request('ping');
    await peer.request('logging/setLevel', { level: 'debug' });
    await peer.request('resources/subscribe', { uri: 'rich://one' });
  }
  const names = ['rich', 'scalar', 'report', 'form', 'choices', 'page', 'sample', 'hear', 'roots', 'change'];
  for (const name of names) {
    await call(
      peer,
      name,
      {},
      {
        progressToken: `progress of ${name}`,
        ...(modern && { 'io.modelcontextprotocol/logLevel': 'debug' }),
      },
    );
  }
  for (const change of [
    'tools/list_changed',
    'prompts/list_changed',
    'resources/list_changed',
    'resources/updated',
  ]) {
    await peer.heard(change, ({ method }) => method === `notifications/${change}`);
  }
  await peer.heard('the log', ({ method }) => method === 'notifications/message');
  await peer.request('resources/read', { uri: 'rich://one' });
  await peer.request('resources/read', { uri: 'rich://7/part' });
  await peer.request('prompts/get', { name: 'rich', arguments: { topic: 'a' } });
  const ref = { type: 'ref/resource', uri: 'rich://{id}/part' };
  await peer.request('completion/complete', { ref, argument: { name: 'id', value: '7' } });
  await peer.request('tools/call', { name: 'no_such_tool' });
  await peer.request('no/such/method');
  if (!modern) await peer.request('resources/unsubscribe', { uri: 'rich://one' });
}

/** A call to its end: modern rounds are answered as long as there are any. */
function call(peer: RawPeer, name: string, args: Json = {}, _meta?: Json): Promise<Json> {
  return rounds(peer, 'tools/call', { name, arguments: args, ...(_meta && { _meta }) });
}

async function rounds(peer: RawPeer, method: string, params: Json): Promise<Json> {
  let frame = await peer.request(method, params);
  while ((frame['result'] as Json | undefined)?.['resultType'] === 'input_required') {
    const { inputRequests = {}, requestState } = frame['result'] as {
      inputRequests?: Record<string, { method: string }>;
      requestState?: string;
    };
    const inputResponses = Object.fromEntries(
      Object.entries(inputRequests).map(([key, request]) => [key, ANSWERS[request.method]]),
    );
    frame = await peer.request(method, {
      ...params,
      inputResponses,
      ...(requestState !== undefined && { requestState }),
    });
  }
  return frame;
}

function result(frame: Json): Json {
  expect(frame).toHaveProperty('result');
  return frame['result'] as Json;
}

/** For the tools of the demo server that need some. */
const ARGUMENTS: Record<string, Json> = {
  echo: { text: 'a' },
  add: { a: 1, b: 2 },
  sleep: { ms: 10 },
  big: { bytes: 10 },
  json_schema_2020_12_tool: { name: 'a' },
};
