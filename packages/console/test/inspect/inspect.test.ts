import { existsSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  type Connector,
  connect,
  createServer,
  http,
  jsonSchema,
  type Listener,
  memory,
  type Server,
  serve,
  stdio,
  tcp,
  unixSocket,
} from '@isthmus/sdk';
import { createDeferred } from '@isthmus/sdk/internal/async/deferred.js';
import type { Tap } from '@isthmus/sdk/internal/exchange/tap.js';
import { connectorFor } from '@isthmus/sdk/internal/transport/address.js';
import { describe, expect, it, onTestFinished } from 'vitest';
import { ConsoleClient } from '../support/console-client.js';
import { inspect } from '../support/inspected.js';

const EVERYTHING = 'node_modules/@modelcontextprotocol/server-everything/dist/index.js';

/** A server that echoes, asks, and runs until it is cancelled. */
function createTestServer(): Server {
  const server = createServer({ name: 'tried', version: '1.2.3' });
  const any = jsonSchema<Record<string, unknown>>({ type: 'object' });
  server.tool('echo', { input: any }, (args) => JSON.stringify(args));
  server.tool('ask', {}, async (_args, ctx) => {
    const answer = await ctx.elicit({
      message: 'Which day?',
      requestedSchema: { type: 'object', properties: { day: { type: 'string' } } },
    });
    return `${answer.action} ${answer.action === 'accept' ? JSON.stringify(answer.content) : ''}`.trim();
  });
  server.tool('wait', {}, async (_args, ctx) => {
    ctx.progress(1, 4, 'waiting');
    ctx.log('info', 'now it waits');
    await new Promise((_, reject) => ctx.signal.addEventListener('abort', () => reject(ctx.signal.reason)));
  });
  server.resource('test://clock', { name: 'clock' }, () => '12:04');
  server.prompt('greet', {}, () => 'Say hello');
  return server;
}

async function served(listener: Listener): Promise<string> {
  const running = await serve(createTestServer(), listener);
  onTestFinished(() => running.close());
  return running.addresses[0]!;
}

const overHttp = async () => {
  const url = await served(http({ port: 0 }));
  return (tap: Tap): Connector => http(url, { tap });
};

describe.each(['legacy', 'modern'] as const)('a %s server in the console', (era) => {
  const settings = {
    mode: era,
    asks: { forms: true, urls: true, sampling: true, roots: true },
    roots: [{ uri: 'file:///project' }],
  };

  it('shows its era, its lists, and the frames of a call as they were on the wire', async () => {
    const { client } = await inspect(await overHttp(), { settings });
    const [connection] = await client.ask('GET connections');
    expect(connection).toMatchObject({
      ...{ id: 1, side: 'upstream', state: 'open', transport: 'http', era, lens: false },
      serverInfo: { name: 'tried', version: '1.2.3' },
      verdict: { era, source: 'mode' },
    });
    const tools = await client.ask('GET lists/:what', { path: ['tools'] });
    expect(tools.items.map(({ name }) => name)).toEqual(['echo', 'ask', 'wait']);
    expect(tools.frames.length).toBeGreaterThanOrEqual(2);
    const text = '{"name":"echo","arguments":{"one":1.0,"big":9007199254740993,"one":2.50}}';
    const detail = await client.call('tools/call', text);
    expect(detail).toMatchObject({ method: 'tools/call', tool: 'echo', outcome: 'ok', params: text });
    const frames = await Promise.all(
      detail.frames.map((seq) => client.ask('GET frames/:seq', { path: [seq] })),
    );
    const request = frames.find(({ kind }) => kind === 'request')!;
    // What a person typed leaves exactly as it was typed.
    expect(request.text).toContain('"arguments":{"one":1.0,"big":9007199254740993,"one":2.50}');
    expect(request.http).toMatchObject({ method: 'POST', path: '/mcp' });
    const result = frames.find(({ kind }) => kind === 'result')!;
    expect(result).toMatchObject({ answers: request.seq, method: 'tools/call', about: 'echo' });
    expect(result.text).toContain(detail.result);
  });

  it('reads resources and prompts, and shows errors with their code', async () => {
    const { client } = await inspect(await overHttp(), { settings });
    const read = await client.call('resources/read', '{"uri":"test://clock"}');
    expect(read).toMatchObject({ uri: 'test://clock', outcome: 'ok' });
    expect(JSON.parse(read.result!)).toMatchObject({ contents: [{ uri: 'test://clock', text: '12:04' }] });
    const prompt = await client.call('prompts/get', '{"name":"greet"}');
    expect(prompt).toMatchObject({ prompt: 'greet', outcome: 'ok' });
    const missing = await client.call('tools/call', '{"name":"nothing","arguments":{}}');
    expect(missing).toMatchObject({ outcome: 'error', code: -32602, error: { code: -32602 } });
  });

  it('puts a question to the person, and gives the answer to the server', async () => {
    const { client } = await inspect(await overHttp(), { settings });
    const feed = await client.feed(['questions', 'calls']);
    const { call } = await client.ask('POST calls', {
      body: { method: 'tools/call', params: '{"name":"ask"}' },
    });
    const question = await feed.next('question');
    expect(question).toMatchObject({ kind: 'form', call, asker: 'tried', tool: 'ask' });
    expect(question.params).toMatchObject({ message: 'Which day?' });
    await feed.next('call', ({ id, state }) => id === call && state === 'asking');
    await client.ask('POST questions/:id', {
      path: [question.id],
      body: { action: 'accept', content: '{"day":"Monday"}' },
    });
    expect(await feed.next('question-over')).toEqual({ id: question.id, why: 'answered' });
    await feed.next('call', ({ id, state }) => id === call && state === 'done');
    const detail = await client.ask('GET calls/:id', { path: [call] });
    expect(detail.result).toContain('accept {\\"day\\":\\"Monday\\"}');
    expect(detail.questions).toMatchObject([{ id: question.id, over: { why: 'answered' } }]);
    // It is over: another answer is refused.
    const late = await client.send('POST questions/:id', {
      path: [question.id],
      body: { action: 'decline' },
    });
    expect(late.status).toBe(409);
    feed.close();
  });

  it('shows progress and logs of a call, and cancels it', async () => {
    const { client } = await inspect(await overHttp(), { settings });
    const feed = await client.feed(['calls', 'logs']);
    const body = { method: 'tools/call', params: '{"name":"wait"}', logLevel: 'debug' } as const;
    if (era === 'legacy') await client.ask('PUT log-level', { body: { level: 'debug' } });
    const { call } = await client.ask('POST calls', { body });
    const running = await feed.next('call', ({ id, progress }) => id === call && progress !== undefined);
    expect(running.progress).toEqual({ progress: 1, total: 4, message: 'waiting' });
    expect(await feed.next('log', ({ source }) => source === 'log')).toMatchObject({ text: 'now it waits' });
    await client.ask('DELETE calls/:id', { path: [call] });
    await feed.next(
      'call',
      ({ id, state, outcome }) => id === call && state === 'done' && outcome === 'cancelled',
    );
    const again = await client.send('DELETE calls/:id', { path: [call] });
    expect(again.status).toBe(409);
    feed.close();
  });

  it('shows the same call in both eras, with what each frame became', async () => {
    const { client } = await inspect(await overHttp(), { settings });
    const detail = await client.call('tools/call', '{"name":"echo","arguments":{"a":1}}', { lens: true });
    expect(detail.outcome).toBe('ok');
    const lens = await client.ask('GET calls/:id/lens', { path: [detail.id] });
    const other = era === 'legacy' ? 'modern' : 'legacy';
    expect(lens).toMatchObject({ sameEra: false, client: { era: other }, upstream: { era } });
    expect(lens.frames.map(({ side, direction, kind }) => `${side} ${direction} ${kind}`)).toEqual([
      'client to-server request',
      'upstream to-server request',
      'upstream to-client result',
      'client to-client result',
    ]);
    expect(lens.links.map(({ row }) => row)).toEqual([1, 3]);
    const [request, result] = lens.links;
    const pointer = '/params/_meta/io.modelcontextprotocol~1protocolVersion';
    expect(request!.differences.map((each) => each.pointer)).toContain(pointer);
    expect(result!.differences.map((each) => each.pointer)).toContain('/result/resultType');
    for (const { row } of lens.links) expect(lens.notes.map((note) => note.row)).toContain(row);
  });
});

describe('every transport', () => {
  it.each([
    [
      'unix',
      async () => served(unixSocket(`${process.env['TMPDIR'] ?? '/tmp'}/console-${process.pid}.sock`)),
    ],
    ['tcp', async () => served(tcp({ port: 0 }))],
  ] as const)('shows the frames of a server on %s', async (transport, listen) => {
    const address = await listen();
    const { client } = await inspect((tap) => connectorFor(address, tap));
    expect((await client.ask('GET connections'))[0]).toMatchObject({ transport, state: 'open' });
    const detail = await client.call('tools/call', '{"name":"echo","arguments":{"a":1}}');
    expect(detail.frames).toHaveLength(2);
  });

  it('shows start, stderr and exit of a process, and starts it again for the next call', async () => {
    const command = { command: process.execPath, args: [EVERYTHING] };
    const { client } = await inspect((tap) => stdio({ ...command, tap }));
    const feed = await client.feed(['rows', 'logs', 'connections'], { after: 0, afterLog: 0 });
    const stderr = await feed.next('log', ({ source }) => source === 'stderr');
    expect(stderr.text).toBe('Starting default (STDIO) server...');
    const first = await feed.next('connection', ({ state }) => state === 'open');
    expect(first).toMatchObject({ era: 'legacy', verdict: { source: 'probe' } });
    // The verdict points at the frames that show it.
    expect(first.verdict!.steps.map(({ frames }) => frames.length)).toEqual([2, 3]);
    process.kill(first.pid!, 'SIGKILL');
    const ended = await feed.next('connection', ({ id, state }) => id === first.id && state === 'ended');
    expect(ended.ended!.why).toContain('SIGKILL');
    const detail = await client.call('tools/call', '{"name":"echo","arguments":{"message":"again"}}');
    expect(detail.outcome).toBe('ok');
    expect(detail.upstream!.pid).not.toBe(first.pid);
    feed.close();
  });

  it('says why a command cannot be started, with its last lines of stderr', async () => {
    const args = ['-e', 'console.error("NOTES_KEY is not set"); process.exit(3)'];
    const { client } = await inspect((tap) => stdio({ command: process.execPath, args, tap }));
    const [connection] = (await client.ask('GET connections')).toReversed();
    expect(connection).toMatchObject({ state: 'ended', problem: { stderr: ['NOTES_KEY is not set'] } });
    expect(connection!.problem!.message).toContain('code 3');
    const call = await client.call('tools/list', '{}');
    expect(call).toMatchObject({ outcome: 'error', errorType: 'CHILD_EXITED' });
  });
});

describe('the connection of the console', () => {
  it('holds what is asked while it is being replaced, until the new one is there', async () => {
    const connector = await overHttp();
    let isHeld = createDeferred<void>();
    isHeld.resolve();
    const { client } = await inspect(connector, {
      connector: async (tap) => {
        await isHeld.promise;
        return connector(tap);
      },
    });
    isHeld = createDeferred<void>();
    const settings = await client.ask('GET connection');
    const replaced = client.ask('PUT connection', { body: { ...settings, mode: 'legacy' } });
    const asked = [
      client.ask('GET lists/:what', { path: ['tools'] }),
      client.ask('GET lists/:what', { path: ['prompts'] }),
    ] as const;
    const called = client.call('tools/call', '{"name":"echo","arguments":{"now":true}}');
    // The old connection has been closed.
    await expect
      .poll(async () => (await client.ask('GET connections')).map(({ state }) => state))
      .toEqual(['ended']);
    isHeld.resolve();
    expect((await replaced).map(({ state }) => state)).toEqual(['ended', 'open']);
    expect((await Promise.all(asked)).map(({ items }) => items.length)).toEqual([3, 1]);
    expect(await called).toMatchObject({ outcome: 'ok', upstream: { era: 'legacy' } });
  });

  it('reads a list again that was being read when it was replaced', async () => {
    const mark = join(mkdtempSync(join(tmpdir(), 'isthmus-inspect-')), 'asked');
    // Its first process does not answer tools/list.
    const program = `
      const { existsSync, writeFileSync } = require('node:fs');
      const answers = {
        initialize: { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo: { name: 'late', version: '1' } },
        'tools/list': { tools: [{ name: 'found', inputSchema: { type: 'object' } }] },
      };
      require('node:readline').createInterface(process.stdin).on('line', (line) => {
        const { id, method } = JSON.parse(line);
        if (answers[method] === undefined) return;
        if (method === 'tools/list' && !existsSync(${JSON.stringify(mark)})) return writeFileSync(${JSON.stringify(mark)}, '');
        console.log(JSON.stringify({ jsonrpc: '2.0', id, result: answers[method] }));
      });`;
    const asks = { forms: true, urls: true, sampling: true, roots: true };
    const settings = { mode: 'legacy', asks, roots: [] };
    const command = { command: process.execPath, args: ['-e', program] };
    const { client } = await inspect((tap) => stdio({ ...command, tap }), { settings });
    const list = client.ask('GET lists/:what', { path: ['tools'] });
    await expect.poll(() => existsSync(mark)).toBe(true);
    await client.ask('PUT connection', { body: settings });
    expect((await list).items.map(({ name }) => name)).toEqual(['found']);
  });

  it('is made again with other settings, and hangs up', async () => {
    const { client } = await inspect(await overHttp());
    const settings = await client.ask('GET connection');
    expect(settings.mode).toBe('auto');
    const connections = await client.ask('PUT connection', { body: { ...settings, mode: 'legacy' } });
    expect(connections.map(({ state, era }) => [state, era])).toEqual([
      ['ended', 'modern'],
      ['open', 'legacy'],
    ]);
    await client.ask('DELETE connection');
    const refused = await client.send('GET lists/:what', { path: ['tools'] });
    expect(refused.status).toBe(409);
    const wrong = await client.send('PUT connection', { body: { ...settings, mode: 'newest' } });
    expect(wrong.status).toBe(400);
    // No route takes a command, an address, a header or a variable.
    const named = await client.send('PUT connection', {
      body: { ...settings, command: 'sh' } as never,
    });
    expect(await named.json()).toMatchObject({ error: { message: expect.stringContaining('"command"') } });
  });

  it('sends exact bytes, also those that are not a message', async () => {
    const address = await served(tcp({ port: 0 }));
    const { client } = await inspect((tap) => connectorFor(address, tap));
    const feed = await client.feed(['rows']);
    await client.ask('POST calls', { body: { bytes: '{"jsonrpc":"2.0","id":"mine","method":"ping' } });
    const { rows } = await feed.next('rows', (event) =>
      event.rows.some(([, , , direction]) => direction === 0),
    );
    const sent = rows.find(([, , , direction]) => direction === 0)!;
    const frame = await client.ask('GET frames/:seq', { path: [sent[0]] });
    expect(frame).toMatchObject({ kind: 'noise', text: '{"jsonrpc":"2.0","id":"mine","method":"ping' });
    feed.close();
  });

  it('follows a subscription', async () => {
    const server = createTestServer();
    const running = await serve(server, tcp({ port: 0 }));
    onTestFinished(() => running.close());
    const { client } = await inspect((tap) => connectorFor(running.addresses[0]!, tap));
    const feed = await client.feed(['listens']);
    const listen = await client.ask('POST listens', { body: { tools: true } });
    expect(listen).toMatchObject({ wanted: { tools: true }, honoured: { tools: true }, news: [] });
    server.tool('later', {}, () => 'new');
    const changed = await feed.next('listen', ({ news }) => news.length > 0);
    expect(changed.news).toMatchObject([{ what: 'tools' }]);
    await client.ask('DELETE listens/:id', { path: [listen.id] });
    await feed.next('listen', ({ ended }) => ended !== undefined);
    feed.close();
  });
});

describe('the tap', () => {
  it('costs a connection nothing while it is off, and opens its line with the next frame', async () => {
    const opened: string[] = [];
    let isOn = false;
    const { inspectTap, frames } = countingTap(() => isOn, opened);
    const link = memory(createTestServer(), {}, { tap: inspectTap });
    const client = await connect(link);
    onTestFinished(() => client.close());
    await client.callTool('echo', {});
    expect([opened, frames]).toEqual([[], []]);
    isOn = true;
    await client.callTool('echo', {});
    expect(opened).toEqual(['client memory']);
    expect(frames).toEqual(['received tools/call', 'sent result']);
  });
});

function countingTap(isOn: () => boolean, opened: string[]) {
  const frames: string[] = [];
  const inspectTap: Tap = {
    get isOn() {
      return isOn();
    },
    open: ({ side, transport }) => {
      opened.push(`${side} ${transport}`);
      return {
        sent: (text) => frames.push(`sent ${'result' in JSON.parse(text) ? 'result' : 'other'}`),
        received: (data) =>
          frames.push(`received ${(JSON.parse(String(data)) as { method: string }).method}`),
        http: () => {},
        stderr: () => {},
        relate: () => {},
        numberOf: () => undefined,
        end: () => {},
      };
    },
  };
  return { inspectTap, frames };
}

it('does not let anybody in without a key', async () => {
  const { console } = await inspect(await overHttp());
  const stranger = new ConsoleClient(console.origin, 'guessed');
  expect((await stranger.send('GET hello')).status).toBe(401);
});
