import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { controlClient } from '@isthmus/gateway/internal/control/index.js';
import { type RunningGateway, runGateway } from '@isthmus/gateway/internal/run-gateway.js';
import type { GatewayServerSpec } from '@isthmus/gateway/internal/server-definition.js';
import { createRedactor } from '@isthmus/gateway/internal/telemetry/redactor.js';
import { connect, createServer, http, jsonSchema, serve } from '@isthmus/sdk';
import pino from 'pino';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openServeConsole } from '../../packages/cli/src/console/serve-console.js';
import { ConsoleClient } from '../../packages/console/test/support/console-client.js';
import { ISTHMUS } from '../support/child.js';

const SECRET = 'a-secret-that-nobody-may-see-4711';

/** A remote server that echoes, asks, and works until it is cancelled. */
async function remote(): Promise<string> {
  const server = createServer({ name: 'remote', version: '1.0.0' });
  const any = jsonSchema<Record<string, unknown>>({ type: 'object' });
  server.tool('echo', { input: any }, (args) => JSON.stringify(args));
  server.tool('ask', {}, async (_args, ctx) => {
    const { action } = await ctx.elicit({
      message: 'Go on?',
      requestedSchema: { type: 'object', properties: { go: { type: 'boolean' } } },
    });
    return action;
  });
  server.tool('work', {}, async (_args, ctx) => {
    ctx.progress(3, 10, 'step 3');
    await new Promise((_, reject) => ctx.signal.addEventListener('abort', () => reject(ctx.signal.reason)));
  });
  const served = await serve(server, http({ port: 0 }));
  onTestFinished(() => served.close());
  return served.addresses[0]!;
}

interface Stage {
  readonly running: RunningGateway;
  readonly url: string;
  readonly notes: string[];
  enter(access?: 'look' | 'act' | 'record'): Promise<ConsoleClient>;
}

async function stage(
  units: readonly GatewayServerSpec[],
  more: { mayRecord?: boolean } = {},
): Promise<Stage> {
  const notes: string[] = [];
  const log = pino({ level: 'info' }, { write: (line: string) => void notes.push(line) });
  const folder = mkdtempSync(join(tmpdir(), 'isthmus-console-'));
  const running = await runGateway({
    ...{ log, redactor: createRedactor(), units, addresses: ['http://127.0.0.1:0/mcp'] },
    host: { ledger: false, cache: false },
    controlPath: join(folder, 'g.sock'),
    openConsole: (source) =>
      openServeConsole(source, {
        mayRecord: more.mayRecord ?? true,
        files: ['servers.json'],
        auth: [],
        hasPrincipals: false,
      }),
  });
  onTestFinished(() => running.close({ graceMs: 0 }));
  const control = controlClient(running.control!.path);
  return {
    ...{ running, notes, url: running.gateway.addresses[0]! },
    // As `isthmus console` does it.
    enter: async (access = 'record') => ConsoleClient.enter((await control.console(access)).url),
  };
}

async function remoteUnit(): Promise<GatewayServerSpec> {
  return {
    kind: 'url',
    name: 'remote',
    url: await remote(),
    transport: 'auto',
    headers: { 'x-key': SECRET },
  };
}

const demoUnit: GatewayServerSpec = {
  ...{ kind: 'command', name: 'demo', command: process.execPath, args: [ISTHMUS, 'demo'] },
  ...{ env: { DEMO_TOKEN: SECRET }, cwd: process.cwd() },
};

/** mulberry32: the same numbers for the same seed. */
function randomOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

async function clientOf(url: string, mode: 'legacy' | 'modern') {
  const client = await connect(http(url), { mode, cache: false, info: { name: 'tester', version: '1' } });
  onTestFinished(() => client.close());
  return client;
}

describe('the console of a gateway', () => {
  it('shows calls of clients while they run and after, with who made them', async () => {
    const { url, enter } = await stage([await remoteUnit()]);
    const page = await enter();
    const feed = await page.feed(['calls', 'status']);
    expect((await feed.next('status')).servers.map(({ name }) => name)).toEqual(['remote']);
    const client = await clientOf(url, 'legacy');
    await feed.next('status', ({ servers }) => servers[0]!.era === 'modern');
    await client.callTool('echo', { a: 1 });
    const done = await feed.next('call', ({ tool, state }) => tool === 'echo' && state === 'done');
    expect(done).toMatchObject({
      ...{ server: 'remote', method: 'tools/call', outcome: 'ok', own: false },
      client: { era: 'legacy', name: 'tester' },
      upstream: { era: 'modern' },
    });
    expect(await page.ask('GET callers')).toMatchObject([{ clients: ['tester'], eras: ['legacy'], now: 0 }]);
    expect(await page.ask('GET sessions')).toMatchObject([
      { server: 'remote', client: 'tester', subscribed: 0 },
    ]);
    const series = await page.ask('GET series', { query: { server: 'remote' } });
    expect(series.calls.reduce((sum, calls) => sum + calls, 0)).toBeGreaterThanOrEqual(1);
    feed.close();
  });

  it('does not watch calls until somebody looks', async () => {
    const { running, url, enter } = await stage([await remoteUnit()]);
    await running.console('look');
    const client = await clientOf(url, 'modern');
    await client.callTool('echo', { before: true });
    const page = await enter('look');
    await page.ask('GET hello');
    await client.callTool('echo', { after: true });
    expect((await page.ask('GET calls')).calls.map(({ tool }) => tool)).toEqual(['echo']);
  });

  it('lists the sessions of before it was opened, and ends one when somebody with the level act says so', async () => {
    const { url, enter, notes } = await stage([await remoteUnit()]);
    const post = (body: object, session: Record<string, string> = {}) =>
      fetch(url, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          accept: 'application/json, text/event-stream',
          ...session,
        },
        body: JSON.stringify({ jsonrpc: '2.0', ...body }),
      });
    const params = {
      protocolVersion: '2025-06-18',
      capabilities: {},
      clientInfo: { name: 'old client', version: '1' },
    };
    const opened = await post({ id: 1, method: 'initialize', params });
    const session = { 'mcp-session-id': opened.headers.get('mcp-session-id')! };
    await opened.text();
    expect((await post({ method: 'notifications/initialized' }, session)).status).toBe(202);
    const page = await enter('act');
    const [row] = await page.ask('GET sessions');
    expect(row).toMatchObject({ server: 'remote', client: 'old client', revision: '2025-06-18' });
    const user = await enter('look');
    expect((await user.send('DELETE sessions/:id', { path: [row!.id] })).status).toBe(403);
    expect((await post({ id: 2, method: 'ping' }, session)).status).toBe(200);
    expect((await page.send('DELETE sessions/:id', { path: [row!.id] })).status).toBe(204);
    await expect.poll(() => page.ask('GET sessions')).toEqual([]);
    expect((await post({ id: 3, method: 'ping' }, session)).status).toBe(404);
    expect((await page.send('DELETE sessions/:id', { path: [row!.id] })).status).toBe(404);
    expect(notes.join('')).toMatch(/console-1: end session \d+ of old client with remote/);
  });

  it('cancels a call of a client: it fails for the client, and the server hears of it', async () => {
    const { url, enter, notes } = await stage([await remoteUnit()]);
    const page = await enter();
    const feed = await page.feed(['calls']);
    const client = await clientOf(url, 'modern');
    const working = client.callTool('work', {}, { onProgress: () => {} });
    const failed = working.then(
      () => undefined,
      (error: unknown) => error,
    );
    const row = await feed.next('call', ({ progress }) => progress !== undefined);
    expect(row).toMatchObject({ tool: 'work', state: 'running', progress: { progress: 3, total: 10 } });
    await page.ask('DELETE calls/:id', { path: [row.id] });
    expect(await failed).toMatchObject({ code: -32603, data: { reason: 'CANCELLED_BY_OPERATOR' } });
    await feed.next('call', ({ id, state }) => id === row.id && state === 'done');
    expect(notes.join('')).toContain('console-1 cancelled it');
    feed.close();
  });

  it('shows exactly the calls that run, in a storm (seed 1)', async () => {
    const { url, enter } = await stage([await remoteUnit()]);
    const page = await enter();
    const next = randomOf(1);
    const clients = await Promise.all(
      (['legacy', 'modern', 'legacy', 'modern'] as const).map((mode) => clientOf(url, mode)),
    );
    /** The truth: what was begun here, and has not come back. */
    const running = new Map<number, { readonly abort: AbortController; readonly over: Promise<unknown> }>();
    const openCalls = async () => {
      const { calls } = await page.ask('GET calls', { query: { state: 'open', tool: 'work' } });
      return calls.map(({ id }) => id);
    };
    let count = 0;
    for (let step = 0; step < 40; step += 1) {
      const dice = next();
      const chosen = [...running.keys()][Math.floor(next() * running.size)];
      if (chosen === undefined || (dice < 0.5 && running.size < 12)) {
        const abort = new AbortController();
        const over = clients[Math.floor(next() * clients.length)]!.callTool(
          'work',
          {},
          { signal: abort.signal },
        ).catch((error: unknown) => error);
        count += 1;
        const key = count;
        running.set(key, { abort, over });
        void over.then(() => running.delete(key));
      } else if (dice < 0.75) {
        running.get(chosen)!.abort.abort();
        await running.get(chosen)?.over;
      } else if (dice < 0.9) {
        await expect.poll(async () => (await openCalls()).length).toBe(running.size);
        const calls = await openCalls();
        const before = running.size;
        await page.ask('DELETE calls/:id', { path: [calls[Math.floor(next() * calls.length)]!] });
        await expect.poll(() => running.size).toBe(before - 1);
      } else await clients[0]!.callTool('echo', { step });
      await expect.poll(async () => (await openCalls()).length).toBe(running.size);
    }
    for (const { abort } of running.values()) abort.abort();
    await expect.poll(openCalls).toEqual([]);
    expect(running.size).toBe(0);
    expect(await page.ask('GET callers')).toMatchObject([{ now: 0 }]);
  });

  it('calls servers as a client of the gateway, and never takes a process from the others', async () => {
    const { url, enter } = await stage([demoUnit]);
    const page = await enter();
    const other = await enter();
    const body = { server: 'demo', method: 'tools/call', params: '{"name":"echo","arguments":{"text":"x"}}' };
    const feed = await page.feed(['calls']);
    const { call } = await page.ask('POST calls', { body });
    expect(await feed.next('call', ({ id, state }) => id === call && state === 'done')).toMatchObject({
      ...{ own: true, outcome: 'ok', server: 'demo' },
    });
    // A client afterwards, and another person.
    const client = await clientOf(url, 'legacy');
    expect(await client.callTool('echo', { text: 'y' })).toMatchObject({ content: [{ text: 'y' }] });
    await other.ask('POST calls', { body });
    const status = await page.ask('GET status');
    expect(status.servers[0]!.processes).toHaveLength(1);
    feed.close();
  });

  it('shows the question of a call in both eras with the call, and takes the answer', async () => {
    const { enter } = await stage([await remoteUnit()]);
    const page = await enter();
    const feed = await page.feed(['calls', 'questions']);
    const body = { server: 'remote', method: 'tools/call', params: '{"name":"ask"}', lens: true };
    const { call } = await page.ask('POST calls', { body });
    const question = await feed.next('question');
    expect(question).toMatchObject({ kind: 'form', call, tool: 'ask', server: 'remote' });
    await page.ask('POST questions/:id', { path: [question.id], body: { action: 'decline' } });
    await feed.next('call', ({ id, state }) => id === call && state === 'done');
    const lens = await page.ask('GET calls/:id/lens', { path: [call] });
    expect(lens.client).toMatchObject({ era: 'legacy' });
  });

  it.each([
    ['modern', 'legacy', [], [1, 21, 21, 21]],
    ['legacy', 'modern', ['--era', 'legacy'], [1, 4, 4, 3]],
  ] as const)(
    'shows both sides of a call of the page to a %s server, without a recording and without messages of clients',
    async (upstream, client, era, links) => {
      const { url, enter } = await stage([{ ...demoUnit, args: [ISTHMUS, 'demo', ...era] }]);
      const page = await enter();
      const feed = await page.feed(['calls', 'questions']);
      const other = await clientOf(url, 'modern');
      const slow = other.callTool('sleep', { ms: 300 });
      const params = JSON.stringify({ name: 'confirm_delete', arguments: { filename: 'of-the-page.txt' } });
      const body = { server: 'demo', method: 'tools/call', params, lens: true };
      const { call } = await page.ask('POST calls', { body });
      const question = await feed.next('question');
      await other.callTool('echo', { text: 'of-a-client' });
      const content = '{"confirm":true}';
      await page.ask('POST questions/:id', { path: [question.id], body: { action: 'accept', content } });
      const done = await feed.next('call', ({ id, state }) => id === call && state === 'done');
      expect(done).toMatchObject({ client: { era: client }, upstream: { era: upstream } });
      const lens = await page.ask('GET calls/:id/lens', { path: [call] });
      expect(lens).toMatchObject({ client: { era: client }, upstream: { era: upstream }, sameEra: false });
      expect(lens.links.map(({ row }) => row)).toEqual(links);
      await slow;
      await other.callTool('echo', { text: 'of-a-client-later' });
      const { rows } = await page.ask('GET frames');
      const frames = await Promise.all(rows.map(([seq]) => page.ask('GET frames/:seq', { path: [seq] })));
      expect(frames.some(({ text }) => text.includes('of-the-page.txt'))).toBe(true);
      expect(frames.filter(({ text }) => text.includes('of-a-client'))).toEqual([]);
      feed.close();
    },
  );

  it('does not count what the page itself reads as calls of a client', async () => {
    const { enter } = await stage([await remoteUnit()]);
    const page = await enter();
    await page.ask('GET lists/:what', { path: ['tools'], query: { server: 'remote' } });
    const listen = await page.ask('POST listens', { body: { server: 'remote', tools: true } });
    expect(listen.honoured).toEqual({ tools: true });
    expect((await page.ask('GET calls')).calls).toEqual([]);
    expect(await page.ask('GET callers')).toEqual([]);
  });

  it('says why a server that does not run cannot be asked', async () => {
    const broken: GatewayServerSpec = {
      ...{ kind: 'command', name: 'broken', command: process.execPath, env: {}, cwd: process.cwd() },
      args: ['-e', "console.error('WEATHER_KEY is not set'); process.exit(1)"],
    };
    const { enter } = await stage([broken]);
    const page = await enter();
    const feed = await page.feed(['status']);
    await feed.next('status', ({ servers }) => servers[0]!.state === 'failed');
    const answer = await page.send('GET lists/:what', { path: ['tools'], query: { server: 'broken' } });
    expect(answer.status).toBe(409);
    const { error } = (await answer.json()) as { error: { code: string; message: string } };
    expect(error.code).toBe('CONNECTION_CLOSED');
    expect(error.message).toMatch(/^broken does not run: .*stopped with code 1 .*WEATHER_KEY is not set/);
    feed.close();
  });

  it('stops, starts and restarts a server, and writes down who did it', async () => {
    const { enter, notes } = await stage([demoUnit]);
    const page = await enter();
    const feed = await page.feed(['status']);
    const stateIs = (state: string) => feed.next('status', ({ servers }) => servers[0]!.state === state);
    await stateIs('ready');
    const { processes } = (await page.ask('GET status')).servers[0]!;
    await page.ask('POST servers/:name/restart', { path: ['demo'] });
    const second = await feed.next('status', ({ servers: [server] }) =>
      server!.processes.some(({ generation, receipt }) => generation === 2 && receipt?.complete),
    );
    const after = second.servers[0]!;
    expect(after.processes[0]!.pid).not.toBe(processes[0]!.pid);
    await page.ask('POST servers/:name/stop', { path: ['demo'] });
    await stateIs('off');
    await page.ask('POST servers/:name/start', { path: ['demo'] });
    const detail = await page.ask('GET servers/:name', { path: ['demo'] });
    expect(detail).toMatchObject({ state: 'ready', likely: [] });
    expect(detail.history.map(({ what }) => what)).toContain('ended, as requested');
    for (const verb of ['restart', 'stop', 'start'])
      expect(notes.join('')).toContain(`console-1: ${verb} demo`);
    const unknown = await page.send('POST servers/:name/restart', { path: ['nothing'] });
    expect(unknown.status).toBe(404);
    feed.close();
  });

  it('records messages only when asked, without secrets, and shows both sides of a call', async () => {
    const { url, enter } = await stage([demoUnit]);
    const page = await enter();
    const client = await clientOf(url, 'modern');
    await client.callTool('echo', { text: 'before' });
    expect((await page.ask('GET frames')).rows).toEqual([]);
    const recording = await page.ask('POST recordings', { body: { minutes: 1, servers: ['demo'] } });
    expect(recording).toMatchObject({ state: 'running', by: 'console-1', servers: ['demo'] });
    expect((await page.send('POST recordings', { body: {} })).status).toBe(409);
    await client.callTool('echo', { text: SECRET });
    const { calls } = await page.ask('GET calls', { query: { tool: 'echo', limit: 1 } });
    const detail = await page.ask('GET calls/:id', { path: [calls[0]!.id] });
    expect(detail.frames).toHaveLength(2);
    const frames = await Promise.all(
      detail.frames.map((seq) => page.ask('GET frames/:seq', { path: [seq] })),
    );
    for (const frame of frames) {
      expect(frame.text).not.toContain(SECRET);
      expect(frame.redacted).toBe(true);
    }
    // A call of the page is recorded at both ends.
    const params = '{"name":"echo","arguments":{"text":"own"}}';
    const feed = await page.feed(['calls']);
    const body = { server: 'demo', method: 'tools/call', params, lens: true };
    const { call } = await page.ask('POST calls', { body });
    await feed.next('call', ({ id, state }) => id === call && state === 'done');
    const lens = await page.ask('GET calls/:id/lens', { path: [call] });
    expect(lens).toMatchObject({ client: { era: 'legacy' }, upstream: { era: 'modern' }, sameEra: false });
    expect(lens.links.map(({ row }) => row)).toEqual([1, 3]);
    await page.ask('DELETE recordings/:id', { path: [recording.id] });
    const last = (await page.ask('GET frames')).last;
    await client.callTool('echo', { text: 'after' });
    expect((await page.ask('GET frames')).last).toBe(last);
    feed.close();
  });

  it('writes a call as a command for the address of the gateway, and those of clients only for the level record', async () => {
    const { url, enter } = await stage([await remoteUnit()]);
    const page = await enter();
    const params = '{"name":"echo","arguments":{"big":9007199254740993}}';
    const body = { server: 'remote', kind: 'cli', method: 'tools/call', params } as const;
    expect(await page.ask('POST snippets', { body })).toEqual({
      text: `isthmus call ${url}/remote echo --args '{"big":9007199254740993}'`,
      needs: [],
    });
    const client = await clientOf(url, 'modern');
    await client.callTool('echo', { of: 'a client' });
    const { calls } = await page.ask('GET calls', { query: { tool: 'echo', limit: 1 } });
    const call = calls[0]!.id;
    const refused = await (await enter('act')).send('POST snippets', { body: { kind: 'json', call } });
    expect([refused.status, await refused.text()]).toEqual([
      403,
      expect.not.stringContaining('"of":"a client"') as string,
    ]);
  });

  it('shows settings without any value of a variable or a header', async () => {
    const { enter } = await stage([demoUnit, await remoteUnit()]);
    const page = await enter();
    const settings = await page.ask('GET settings');
    expect(settings.servers).toMatchObject([
      { name: 'demo', what: `${process.execPath} … (2 arguments)`, secrets: ['DEMO_TOKEN'] },
      { name: 'remote', secrets: ['x-key'] },
    ]);
    const all = [settings, await page.ask('GET status'), await page.ask('GET logs')];
    expect(JSON.stringify(all)).not.toContain(SECRET);
  });
});

describe('the levels of the console of a gateway', () => {
  it('keep those who may look from acting and from messages of clients', async () => {
    const { url, enter } = await stage([await remoteUnit()]);
    const page = await enter('look');
    const client = await clientOf(url, 'modern');
    await client.callTool('echo', { a: 1 });
    const { calls } = await page.ask('GET calls', { query: { tool: 'echo' } });
    expect(calls).toHaveLength(1);
    const refused = await Promise.all([
      page.send('GET calls/:id', { path: [calls[0]!.id] }),
      page.send('GET frames'),
      page.send('POST feed', { body: { topics: ['rows'] } }),
      page.send('POST calls', { body: { server: 'remote', method: 'ping', params: '{}' } }),
      page.send('POST servers/:name/stop', { path: ['remote'] }),
      page.send('POST reload'),
      page.send('POST recordings', { body: {} }),
    ]);
    expect(refused.map(({ status }) => status)).toEqual([403, 403, 403, 403, 403, 403, 403]);
    const operator = await enter('act');
    expect((await operator.send('POST recordings', { body: {} })).status).toBe(403);
    expect((await operator.send('GET calls/:id', { path: [calls[0]!.id] })).status).toBe(403);
    // What an operator calls is the operator's own: its frames, too, and those of others are not.
    const params = '{"name":"echo","arguments":{"own":true}}';
    const body = { server: 'remote', method: 'tools/call', params };
    const { call } = await operator.ask('POST calls', { body });
    await expect.poll(async () => (await operator.ask('GET calls/:id', { path: [call] })).state).toBe('done');
    const { frames } = await operator.ask('GET calls/:id', { path: [call] });
    expect(frames).toHaveLength(4);
    for (const seq of frames) {
      expect((await operator.send('GET frames/:seq', { path: [seq] })).status).toBe(200);
      expect((await page.send('GET frames/:seq', { path: [seq] })).status).toBe(403);
      expect((await (await enter('act')).send('GET frames/:seq', { path: [seq] })).status).toBe(403);
    }
    expect((await operator.send('GET frames/:seq', { path: [frames[0]! - 1] })).status).toBe(403);
  });

  it('cannot record where the gateway forbids it', async () => {
    const { enter } = await stage([await remoteUnit()], { mayRecord: false });
    const page = await enter();
    expect((await page.ask('GET hello')).features).not.toContain('record');
    const refused = await page.send('POST recordings', { body: {} });
    expect([refused.status, await refused.json()]).toMatchObject([403, { error: { code: 'NOT_ALLOWED' } }]);
  });
});
