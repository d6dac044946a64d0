import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type Answers,
  type Change,
  type Changes,
  type Client,
  type ConnectOptions,
  connect,
  type LogEntry,
  type ProgressUpdate,
} from '../../../src/index.js';
import { http } from '../../../src/transport/http.js';
import { officialV1, officialV1Sse, type V1Peer } from './peers/official-v1.js';
import { officialV2, type V2Peer } from './peers/official-v2.js';
import { everything, type Peer } from './peers/peer.js';

/** Our client over HTTP, in mode `auto`, against servers that others wrote. */

const questions: string[] = [];
const warnings: string[] = [];
const noise: string[] = [];

describe.each([
  { name: 'official v2, modern only', start: () => officialV2('reject'), era: 'modern', speaks: 'requests' },
  { name: 'official v2, both eras', start: () => officialV2('stateless'), era: 'modern', speaks: 'requests' },
  { name: 'official v1 with sessions', start: () => officialV1(), era: 'legacy', speaks: 'all' },
  {
    name: 'official v1, stateless',
    start: () => officialV1({ stateless: true }),
    era: 'legacy',
    speaks: 'requests',
  },
  { name: 'official v1 over HTTP with SSE', start: officialV1Sse, era: 'legacy', speaks: 'all' },
] as const)('$name', ({ start, era, speaks }) => {
  let peer: Peer;
  let client: Client;
  beforeAll(async () => {
    peer = await start();
    client = await open(peer);
  });
  afterAll(async () => {
    await client.close();
    await peer.close();
  });
  const isStateless = era === 'legacy' && speaks === 'requests';

  it('is recognised', () => {
    const revision = era === 'modern' ? '2026-07-28' : '2025-11-25';
    expect(client.verdict).toMatchObject({ era, revision, source: 'probe' });
    expect(client.server.info).toMatchObject({ name: era === 'modern' ? 'official-v2' : 'official-v1' });
  });

  it('runs tools, checks what they give, and tells their failures', async () => {
    const names = (await client.listTools()).map(({ name }) => name);
    expect(names).toEqual(expect.arrayContaining(['add', 'report', 'ask_all']));
    expect((await client.callTool('add', { a: 1, b: 2 })).structuredContent).toEqual({ sum: 3 });
    const failed = await client.callTool('fail');
    expect({ isError: failed.isError, text: textOf(failed) }).toEqual({ isError: true, text: 'on purpose' });
    const unknown = await client.request('no/such/method', {}).catch((error) => error);
    expect(unknown).toMatchObject({ name: 'ProtocolError', code: -32601 });
  });

  it('runs many calls at once', async () => {
    const sums = Array.from({ length: 40 }, (_, a) => client.callTool('add', { a, b: 1 }));
    const results = (await Promise.all(sums)).map(({ structuredContent }) => structuredContent);
    expect(results).toEqual(Array.from({ length: 40 }, (_, a) => ({ sum: a + 1 })));
  });

  it('reports progress and logs', async () => {
    const updates: ProgressUpdate[] = [];
    const entries: LogEntry[] = [];
    const result = await client.callTool(
      'report',
      {},
      { onProgress: (update) => updates.push(update), onLog: (entry) => entries.push(entry) },
    );
    expect(textOf(result)).toBe('reported');
    expect(updates).toEqual([
      { progress: 1, total: 2, message: 'step 1' },
      { progress: 2, total: 2, message: 'step 2' },
    ]);
    expect(entries).toEqual([
      { level: 'warning', data: { progress: 1 }, logger: 'reporter' },
      { level: 'warning', data: { progress: 2 }, logger: 'reporter' },
    ]);
  });

  it.skipIf(isStateless)('asks user, model and roots at once', async () => {
    questions.length = 0;
    const result = await client.callTool('ask_all');
    expect(textOf(result)).toBe(era === 'modern' ? 'elicit sampling roots' : 'accept interop 1');
    expect([...questions].sort()).toEqual(['Who?', 'sample 1 10']);
  });

  it.runIf(era === 'legacy' && speaks === 'all')(
    'asks outside of the call, on a stream of its own',
    async () => {
      questions.length = 0;
      expect(textOf(await client.callTool('ask_apart'))).toBe('accept');
      expect(questions).toEqual(['Apart?']);
    },
  );

  it.skipIf(isStateless)('is told of calls that are cancelled', async () => {
    const before = Number(textOf(await client.callTool('cancelled')));
    const abort = new AbortController();
    const waiting = client.callTool('wait', {}, { signal: abort.signal });
    const timed = client.callTool('wait', {}, { timeoutMs: 150 });
    timed.catch(() => {});
    await client.callTool('add', { a: 0, b: 0 });
    abort.abort();
    await expect(waiting).rejects.toMatchObject({ code: 'CANCELLED' });
    await expect(timed).rejects.toMatchObject({ code: 'TIMED_OUT' });
    await expect
      .poll(async () => Number(textOf(await client.callTool('cancelled'))), { timeout: 20_000 })
      .toBe(before + 2);
  });

  it('serves resources, prompts and completions', async () => {
    expect((await client.listResources()).map(({ uri }) => uri)).toEqual(['memo://1']);
    expect((await client.listResourceTemplates()).map(({ name }) => name)).toEqual(['note']);
    expect((await client.readResource('memo://1')).contents).toEqual([
      { uri: 'memo://1', mimeType: 'text/plain', text: 'one' },
    ]);
    await expect(client.readResource('nothing://here')).rejects.toMatchObject({ name: 'ProtocolError' });
    expect((await client.getPrompt('greet', { name: 'Ada' })).messages).toEqual([
      { role: 'user', content: { type: 'text', text: 'Hello Ada' } },
    ]);
    const completed = await client.complete({
      ref: { type: 'ref/prompt', name: 'greet' },
      argument: { name: 'name', value: 'Al' },
    });
    expect(completed.values).toEqual(['Alan']);
  });

  it.runIf(era === 'legacy' && speaks === 'all')('tells of changes on the standing stream', async () => {
    await using changes = await client.listen({ tools: true, uris: ['memo://1'] });
    const reading = take(changes, 2);
    await client.callTool('grow');
    await client.callTool('touch', { uri: 'memo://1' });
    expect(await reading).toEqual([{ kind: 'tools' }, { kind: 'resource', uri: 'memo://1' }]);
    expect((await client.listTools()).map(({ name }) => name)).toContain('grown');
  });

  it.runIf(era === 'modern')('tells of changes on the stream of a listen', async () => {
    const { notify } = peer as V2Peer;
    await using changes = await client.listen({ tools: true, uris: ['memo://1'] });
    expect(changes.honoured).toEqual({ toolsListChanged: true, resourceSubscriptions: ['memo://1'] });
    const reading = take(changes, 2);
    notify.toolsChanged();
    notify.resourceUpdated('memo://1');
    expect(await reading).toEqual([{ kind: 'tools' }, { kind: 'resource', uri: 'memo://1' }]);
  });

  it.runIf(era === 'modern')('repeats annotated arguments in headers, which the server checks', async () => {
    // Never listed by this client: refused, listed, and made again, unnoticed.
    await using fresh = await open(peer);
    expect(textOf(await fresh.callTool('route', { region: 'Österreich ' }))).toBe('routed to Österreich ');
    expect(textOf(await client.callTool('route', { region: 'us west' }))).toBe('routed to us west');
  });

  it('makes no noise', () => {
    expect({ noise, warnings }).toEqual({ noise: [], warnings: [] });
  });
});

describe('a legacy session', () => {
  let peer: V1Peer;
  beforeAll(async () => {
    peer = await officialV1();
  });
  afterAll(() => peer.close());

  it('is ended when the client closes', async () => {
    const client = await open(peer);
    expect(peer.sessions.size).toBe(1);
    await client.close();
    expect(peer.sessions.size).toBe(0);
  });

  it('that the server forgot is opened again, with its subscriptions, and no call is lost', async () => {
    await using client = await open(peer);
    await using changes = await client.listen({ uris: ['memo://1'] });
    peer.forget();
    const sums = [1, 2, 3, 4, 5].map((a) => client.callTool('add', { a, b: 0 }));
    expect((await Promise.all(sums)).map(textOf)).toEqual(['1', '2', '3', '4', '5']);
    expect(peer.sessions.size).toBe(1);
    const reading = take(changes, 1);
    await client.callTool('touch', { uri: 'memo://1' });
    expect(await reading).toEqual([{ kind: 'resource', uri: 'memo://1' }]);
  });
});

describe.each(['streamableHttp', 'sse'] as const)('server-everything over %s', (transport) => {
  let peer: Peer;
  let client: Client;
  const logs: LogEntry[] = [];
  beforeAll(async () => {
    peer = await everything(transport);
    client = await open(peer, { onLog: (entry) => logs.push(entry) });
  });
  afterAll(async () => {
    await client.close();
    await peer.close();
  });

  it('has its tools used', async () => {
    expect(client.verdict).toMatchObject({ era: 'legacy', revision: '2025-11-25' });
    expect((await client.listTools()).length).toBeGreaterThan(10);
    expect(textOf(await client.callTool('echo', { message: 'hi' }))).toBe('Echo: hi');
    const weather = await client.callTool('get-structured-content', { location: 'Chicago' });
    expect(weather.structuredContent).toMatchObject({ temperature: expect.any(Number) });
  });

  it('reports progress', async () => {
    const updates: ProgressUpdate[] = [];
    await client.callTool(
      'trigger-long-running-operation',
      { duration: 0.2, steps: 4 },
      { onProgress: (update) => updates.push(update) },
    );
    expect(updates).toEqual([1, 2, 3, 4].map((progress) => ({ progress, total: 4 })));
  });

  it('elicits, samples and knows the roots', async () => {
    questions.length = 0;
    const elicited = await client.callTool('trigger-elicitation-request');
    expect(textOf(elicited)).toContain('provided the requested information');
    const sampled = await client.callTool('trigger-sampling-request', { prompt: 'Hi', maxTokens: 7 });
    expect(textOf(sampled)).toContain('sampled');
    expect(questions).toHaveLength(2);
    expect(textOf(await client.callTool('get-roots-list'))).toContain('file:///work');
  });

  it('serves resources, prompts and completions', async () => {
    const resources = await client.listResources();
    expect((await client.readResource(resources[0]!.uri)).contents).toHaveLength(1);
    expect(JSON.stringify(await client.getPrompt('args-prompt', { city: 'Lisbon' }))).toContain('Lisbon');
    const departments = await client.complete({
      ref: { type: 'ref/prompt', name: 'completable-prompt' },
      argument: { name: 'department', value: 'E' },
    });
    expect(departments.values).toEqual(['Engineering']);
  });

  it('tells of updates of what is subscribed to, and logs', async () => {
    const uri = 'demo://resource/dynamic/text/1';
    await using changes = await client.listen({ uris: [uri] });
    const reading = take(changes, 1);
    await client.callTool('toggle-subscriber-updates');
    expect(await reading).toEqual([{ kind: 'resource', uri }]);
    await client.callTool('toggle-subscriber-updates');
    await client.setLogLevel('debug');
    await client.callTool('toggle-simulated-logging');
    await expect.poll(() => logs.length, { timeout: 20_000 }).toBeGreaterThan(0);
    await client.callTool('toggle-simulated-logging');
  });
});

const answers: Answers = {
  elicit: (question) => {
    questions.push(question.message);
    return { action: 'accept', content: { name: 'Ada', ok: true } };
  },
  sample: ({ messages, maxTokens }) => {
    questions.push(`sample ${messages.length} ${maxTokens}`);
    return {
      role: 'assistant',
      content: { type: 'text', text: 'sampled' },
      model: 'interop',
      stopReason: 'endTurn',
    };
  },
  roots: [{ uri: 'file:///work', name: 'work' }],
};

function open(peer: Peer, options: ConnectOptions = {}): Promise<Client> {
  return connect(http(peer.url, { onWarning: (warning) => warnings.push(warning) }), {
    cache: false,
    answers,
    onNoise: (line) => noise.push(line.error.message),
    ...options,
  });
}

function textOf({ content }: { content?: readonly object[] }): string {
  return (content ?? []).map((block) => ('text' in block ? String(block.text) : '')).join('');
}

async function take(changes: Changes, count: number): Promise<Change[]> {
  const seen: Change[] = [];
  for await (const change of changes) {
    seen.push(change);
    if (seen.length === count) break;
  }
  return seen;
}
