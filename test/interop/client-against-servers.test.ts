import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import {
  type Answers,
  type Change,
  type Changes,
  type Client,
  type ConnectOptions,
  connect,
  type LogEntry,
  type ProgressUpdate,
  stdio,
} from '@isthmus/sdk';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

/** Our client over stdio, in mode `auto`, against servers that others wrote. */

const EVERYTHING = [
  local('../../node_modules/@modelcontextprotocol/server-everything/dist/index.js'),
  'stdio',
];
const FILESYSTEM = [local('../../node_modules/@modelcontextprotocol/server-filesystem/dist/index.js')];
const V1 = [local('peers/official-v1-server.mjs')];
const V2 = [local('peers/official-v2-server.mjs')];

const questions: string[] = [];
const answers: Answers = {
  elicit: (question) => {
    questions.push(question.message);
    return { action: 'accept', content: { name: 'Ada', ok: true } };
  },
  urls: true,
  sample: ({ messages, maxTokens }) => {
    questions.push(`sample ${messages.length} ${maxTokens}`);
    return {
      role: 'assistant',
      content: { type: 'text', text: 'sampled' },
      model: 'interop',
      stopReason: 'endTurn',
    };
  },
  roots: () => [{ uri: pathToFileURL(folder).href, name: 'work' }],
};
const logs: LogEntry[] = [];
const noise: string[] = [];
let folder = '';

beforeAll(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'isthmus-interop-')));
  writeFileSync(join(folder, 'hello.txt'), 'Hello\n');
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe.each([
  { name: 'official v2, modern', args: V2, mode: 'auto', era: 'modern', revision: '2026-07-28' },
  {
    name: 'official v2, modern only',
    args: [...V2, 'reject'],
    mode: 'auto',
    era: 'modern',
    revision: '2026-07-28',
  },
  { name: 'official v2, legacy', args: V2, mode: 'legacy', era: 'legacy', revision: '2025-11-25' },
  {
    name: 'official v2, modern only, though legacy was asked for',
    args: [...V2, 'reject'],
    mode: 'legacy',
    era: 'modern',
    revision: '2026-07-28',
  },
  { name: 'official v1', args: V1, mode: 'auto', era: 'legacy', revision: '2025-11-25' },
  {
    name: 'official v1, an old revision',
    args: V1,
    mode: '2025-06-18',
    era: 'legacy',
    revision: '2025-06-18',
  },
] as const)('$name', ({ args, mode, era, revision }) => {
  const v1 = args === V1;
  let client: Client;
  beforeAll(async () => {
    client = await start(args, { mode });
  });
  afterAll(() => client.close());

  it('is recognised', () => {
    expect({ era: client.era, revision: client.revision }).toEqual({ era, revision });
    expect(client.server.info).toMatchObject(
      v1 ? { name: 'official-v1', version: '1.32.2' } : { name: 'official-v2', version: '2.4.0' },
    );
    expect(client.server.instructions).toBe('Ask for anything.');
    expect(client.server.capabilities).toMatchObject({
      tools: {},
      prompts: {},
      resources: {},
      completions: {},
    });
  });

  it('runs tools, checks what they give, and tells their failures', async () => {
    const tools = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(expect.arrayContaining(['add', 'report', 'ask']));
    const added = await client.callTool('add', { a: 1, b: 2 });
    expect(added.structuredContent).toEqual({ sum: 3 });
    const failed = await client.callTool('fail');
    expect(failed.isError).toBe(true);
    expect(textOf(failed)).toContain('on purpose');
    const refused = await client.callTool('add', { a: 'one' }).catch((error: { code: number }) => error);
    expect(refused).toSatisfy(
      (outcome) => outcome.isError === true || (outcome as { code: number }).code === -32602,
    );
    const unknown = await client.callTool('no_such_tool').catch((error: { code: number }) => error);
    expect(unknown).toSatisfy(
      (outcome) => outcome.isError === true || (outcome as { code: number }).code === -32602,
    );
  });

  it('reports progress and logs', async () => {
    if (era === 'legacy') await client.setLogLevel('debug');
    const updates: ProgressUpdate[] = [];
    const entries: LogEntry[] = [];
    const result = await client.callTool(
      'report',
      {},
      {
        onProgress: (update) => updates.push(update),
        onLog: (entry) => entries.push(entry),
        logLevel: 'debug',
      },
    );
    expect(textOf(result)).toBe('reported');
    expect(updates).toEqual([
      { progress: 1, total: 2, message: 'step 1' },
      { progress: 2, total: 2, message: 'step 2' },
    ]);
    expect(entries).toEqual([
      { level: 'debug', data: { progress: 1 }, logger: 'reporter' },
      { level: 'warning', data: { progress: 2 }, logger: 'reporter' },
    ]);
  });

  it('keeps to the log level', async () => {
    await client.setLogLevel('warning');
    const entries: LogEntry[] = [];
    await client.callTool('report', {}, { onLog: (entry) => entries.push(entry) });
    expect(entries.map(({ level }) => level)).toEqual(['warning']);
  });

  it('asks the user', async () => {
    questions.length = 0;
    const result = await client.callTool('ask');
    expect(textOf(result)).toContain('"Ada"');
    expect(questions).toEqual(['Your name?']);
    if (era === 'modern') expect(textOf(result)).toContain('"state":"round 1"');
  });

  it('asks user, model and roots at once', async () => {
    questions.length = 0;
    const result = await client.callTool('ask_all');
    expect(textOf(result)).toBe(v1 ? 'accept interop 1' : 'elicit sampling roots');
    expect([...questions].sort()).toEqual(['Who?', 'sample 1 10']);
  });

  it.runIf(era === 'modern')('hands rounds to the caller in manual mode', async () => {
    questions.length = 0;
    const round = await client.callTool('ask', {}, { manual: true });
    expect(round).toMatchObject({
      resultType: 'input_required',
      requestState: 'round 1',
      inputRequests: { name: { method: 'elicitation/create', params: { message: 'Your name?' } } },
    });
    const done = await client.callTool(
      'ask',
      {},
      { manual: true, inputResponses: { name: { action: 'decline' } }, requestState: 'round 1' },
    );
    expect(JSON.stringify(done)).toContain('decline');
    expect(questions).toEqual([]);
  });

  it('is told of cancelled calls', async () => {
    const before = Number(textOf(await client.callTool('cancelled')));
    const abort = new AbortController();
    const waiting = client.callTool('wait', {}, { signal: abort.signal });
    const timed = client.callTool('wait', {}, { timeoutMs: 50 });
    timed.catch(() => {});
    await client.callTool('add', { a: 0, b: 0 });
    abort.abort();
    await expect(waiting).rejects.toMatchObject({ code: 'CANCELLED' });
    await expect(timed).rejects.toMatchObject({ code: 'TIMED_OUT' });
    expect(Number(textOf(await client.callTool('cancelled')))).toBe(before + 2);
  });

  it('serves resources and templates', async () => {
    expect((await client.listResources())[0]).toMatchObject({ uri: 'memo://1', name: 'memo', title: 'Memo' });
    expect(await client.listResourceTemplates()).toMatchObject([
      { uriTemplate: 'note://{name}', name: 'note' },
    ]);
    expect((await client.readResource('memo://1')).contents).toEqual([
      { uri: 'memo://1', mimeType: 'text/plain', text: 'one' },
    ]);
    expect((await client.readResource('note://ada')).contents).toEqual([
      { uri: 'note://ada', text: 'note of ada' },
    ]);
    await expect(client.readResource('nothing://here')).rejects.toMatchObject({ name: 'ProtocolError' });
  });

  it('serves prompts and completions', async () => {
    expect((await client.listPrompts())[0]).toMatchObject({ name: 'greet', description: 'Greets' });
    expect((await client.getPrompt('greet', { name: 'Ada' })).messages).toEqual([
      { role: 'user', content: { type: 'text', text: 'Hello Ada' } },
    ]);
    const forPrompt = await client.complete({
      ref: { type: 'ref/prompt', name: 'greet' },
      argument: { name: 'name', value: 'A' },
    });
    expect(forPrompt.values).toEqual(['Ada', 'Alan']);
    const forTemplate = await client.complete({
      ref: { type: 'ref/resource', uri: 'note://{name}' },
      argument: { name: 'name', value: 'b' },
    });
    expect(forTemplate.values).toEqual(['bob']);
  });

  it('tells of changes', async () => {
    await using changes = await client.listen({
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
    const reading = take(changes, 4);
    await client.callTool('grow');
    await client.callTool('touch', { uri: 'memo://1' });
    const seen = await reading;
    expect(seen.map(({ kind }) => kind).sort()).toEqual(['prompts', 'resource', 'resources', 'tools']);
    // A list of before would be wrong now, however long the server allowed to keep it.
    expect((await client.listTools()).map(({ name }) => name)).toContain('grown_1');
  });

  it.runIf(v1)('is told when nobody listens any more', async () => {
    const changes = await client.listen({ uris: ['memo://1', 'memo://2'] });
    expect(textOf(await client.callTool('watched'))).toBe('memo://1 memo://2');
    changes.close();
    expect(textOf(await client.callTool('watched'))).toBe('');
  });

  it('pings and is pinged where there is ping', async () => {
    if (era === 'modern') return expect(client.ping()).rejects.toMatchObject({ code: 'NOT_IN_THIS_ERA' });
    await client.ping();
    if (v1) expect(textOf(await client.callTool('ping'))).toBe('{}');
  });

  it('makes no noise', () => {
    expect(noise).toEqual([]);
  });
});

describe('server-everything', () => {
  let client: Client;
  beforeAll(async () => {
    client = await start(EVERYTHING);
  });
  afterAll(() => client.close());

  it('is recognised as legacy', () => {
    expect(client.verdict).toMatchObject({ era: 'legacy', revision: '2025-11-25' });
    expect(client.server.instructions).toContain('Everything');
  });

  it('has its tools used', async () => {
    const tools = await client.listTools();
    expect(tools.length).toBeGreaterThan(10);
    expect(textOf(await client.callTool('echo', { message: 'hi' }))).toBe('Echo: hi');
    expect(textOf(await client.callTool('get-sum', { a: 2, b: 3 }))).toContain('5');
    const weather = await client.callTool('get-structured-content', { location: 'Chicago' });
    expect(weather.structuredContent).toMatchObject({ temperature: expect.any(Number) });
    const image = await client.callTool('get-tiny-image');
    expect(image.content.map(({ type }) => type)).toContain('image');
    const links = await client.callTool('get-resource-links', { count: 3 });
    expect(links.content.filter(({ type }) => type === 'resource_link')).toHaveLength(3);
    const reference = await client.callTool('get-resource-reference', {
      resourceType: 'Text',
      resourceId: 1,
    });
    expect(reference.content.map(({ type }) => type)).toContain('resource');
    const annotated = await client.callTool('get-annotated-message', { messageType: 'error' });
    expect(annotated.content[0]).toMatchObject({ annotations: { priority: 1 } });
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

  it('stays in time as long as it reports progress', async () => {
    const result = await client.callTool(
      'trigger-long-running-operation',
      { duration: 1.2, steps: 6 },
      { timeoutMs: 700, maxTimeoutMs: 10_000 },
    );
    expect(textOf(result)).toContain('completed');
  });

  it('elicits, samples, opens pages and knows the roots', async () => {
    questions.length = 0;
    const elicited = await client.callTool('trigger-elicitation-request');
    expect(textOf(elicited)).toContain('provided the requested information');
    const sampled = await client.callTool('trigger-sampling-request', { prompt: 'Hi', maxTokens: 7 });
    expect(textOf(sampled)).toContain('sampled');
    const opened = await client.callTool('trigger-url-elicitation', { url: 'https://example.com/' });
    expect(opened.isError).not.toBe(true);
    expect(questions).toHaveLength(3);
    expect(textOf(await client.callTool('get-roots-list'))).toContain(folder);
  });

  it('gives -32042 with its data where a page must be opened first', async () => {
    const refused = client.callTool('trigger-url-elicitation', {
      url: 'https://example.com/first',
      errorPath: true,
    });
    await expect(refused).rejects.toMatchObject({
      name: 'ProtocolError',
      code: -32042,
      data: { elicitations: expect.any(Array) },
    });
  });

  it('serves resources, templates, prompts and completions', async () => {
    const resources = await client.listResources();
    expect(resources.length).toBeGreaterThan(0);
    expect((await client.readResource(resources[0]!.uri)).contents).toHaveLength(1);
    expect(await client.listResourceTemplates()).toHaveLength(2);
    const blob = await client.readResource('demo://resource/dynamic/blob/1');
    expect(blob.contents[0]).toHaveProperty('blob');
    expect((await client.listPrompts()).map(({ name }) => name)).toContain('args-prompt');
    const prompt = await client.getPrompt('args-prompt', { city: 'Lisbon' });
    expect(JSON.stringify(prompt.messages)).toContain('Lisbon');
    const departments = await client.complete({
      ref: { type: 'ref/prompt', name: 'completable-prompt' },
      argument: { name: 'department', value: 'E' },
    });
    expect(departments.values).toEqual(['Engineering']);
    const names = await client.complete({
      ref: { type: 'ref/prompt', name: 'completable-prompt' },
      argument: { name: 'name', value: '' },
      context: { arguments: { department: 'Engineering' } },
    });
    expect(names.values.length).toBeGreaterThan(0);
  });

  it('tells of updates of what is subscribed to', async () => {
    const uri = 'demo://resource/dynamic/text/1';
    await using changes = await client.listen({ uris: [uri] });
    const reading = take(changes, 1);
    await client.callTool('toggle-subscriber-updates');
    expect(await reading).toEqual([{ kind: 'resource', uri }]);
    await client.callTool('toggle-subscriber-updates');
  });

  it('tells of a list that changed', async () => {
    await using changes = await client.listen({ resources: true });
    const reading = take(changes, 1);
    const zipped = await client.callTool('gzip-file-as-resource', {
      name: 'a.gz',
      data: 'data:text/plain;base64,SGVsbG8=',
    });
    expect(zipped.isError, JSON.stringify(zipped)).not.toBe(true);
    expect(await reading).toEqual([{ kind: 'resources' }]);
  });

  it('logs at the level that was set, to the client', async () => {
    await client.setLogLevel('debug');
    logs.length = 0;
    const heard = new Promise<void>((resolve) => {
      onLog = resolve;
    });
    await client.callTool('toggle-simulated-logging');
    await heard;
    expect(logs[0]).toMatchObject({ level: expect.any(String) });
    await client.callTool('toggle-simulated-logging');
  });

  it('is told of calls that are called off', async () => {
    const call = client.callTool(
      'trigger-long-running-operation',
      { duration: 60, steps: 60 },
      { timeoutMs: 50 },
    );
    await expect(call).rejects.toMatchObject({ code: 'TIMED_OUT', sent: 'maybe' });
    expect(textOf(await client.callTool('echo', { message: 'still here' }))).toBe('Echo: still here');
  });
});

describe('server-filesystem', () => {
  it('works in the folder of its command line', async () => {
    await using client = await start([...FILESYSTEM, folder], { answers: {} });
    expect(client.era).toBe('legacy');
    await client.listTools();
    const read = await client.callTool('read_text_file', { path: join(folder, 'hello.txt') });
    expect(textOf(read)).toBe('Hello\n');
    const outside = await client.callTool('read_text_file', { path: '/etc/hostname' });
    expect(outside.isError).toBe(true);
    const listed = await client.callTool('list_directory', { path: folder });
    expect(textOf(listed)).toContain('[FILE] hello.txt');
  });

  it('takes its folders from our roots', async () => {
    await using client = await start([...FILESYSTEM, tmpdir()]);
    // It asks for the roots on its own after the handshake; the answer is under way while we call.
    await expect
      .poll(async () => textOf(await client.callTool('list_allowed_directories')), { timeout: 20_000 })
      .toContain(folder);
    const written = await client.callTool('write_file', { path: join(folder, 'new.txt'), content: 'x' });
    expect(written.isError).not.toBe(true);
    const read = await client.callTool('read_text_file', { path: join(folder, 'new.txt') });
    expect(textOf(read)).toBe('x');
  });
});

let onLog: () => void = () => {};

function start(args: readonly string[], options: ConnectOptions = {}): Promise<Client> {
  noise.length = 0;
  return connect(stdio({ command: process.execPath, args: [...args] }), {
    cache: false,
    answers,
    onLog: (entry) => {
      logs.push(entry);
      onLog();
    },
    onNoise: (line) => noise.push(line.error.message),
    ...options,
  });
}

function textOf(result: { content: { type: string; text?: string }[] }): string {
  return result.content.map(({ text = '' }) => text).join('\n');
}

async function take(changes: Changes, count: number): Promise<Change[]> {
  const seen: Change[] = [];
  const iterator = changes[Symbol.asyncIterator]();
  while (seen.length < count) {
    const next = await iterator.next();
    if (next.done) break;
    seen.push(next.value);
  }
  return seen;
}

function local(path: string): string {
  return fileURLToPath(new URL(path, import.meta.url));
}
