import { describe, expect, it, onTestFinished } from 'vitest';
import { eventually, until } from '../../../../test/support/until.js';
import {
  type MemoryLink,
  memory,
  memoryTaskStore,
  type Server,
  serve,
  type TaskRecord,
  type TaskStore,
} from '../../src/index.js';
import type { JsonObject } from '../../src/wire/json-rpc.js';
import { type MortalBridge, type MortalOptions, mortalBridge } from '../support/mortal-bridge.js';
import type { RawPeer } from '../support/server.js';
import { gate, idOf, taskServer, waitFor } from '../support/tasks.js';

type Era = 'legacy' | 'modern';
const CELLS: [Era, Era][] = [
  ['modern', 'modern'],
  ['modern', 'legacy'],
  ['legacy', 'modern'],
  ['legacy', 'legacy'],
];
const FORM = {
  message: 'Which one?',
  requestedSchema: { type: 'object' as const, properties: { pick: { type: 'string' as const } } },
};
const PICKED = { action: 'accept', content: { pick: 'B' } };
const LOST = {
  code: -32603,
  message: 'The server ended while it ran this task',
  data: { reason: 'SERVER_ENDED', sent: 'maybe' },
};

interface Running {
  readonly store: TaskStore;
  readonly link: MemoryLink;
  readonly first: MortalBridge;
  readonly taskId: string;
  /** The next process, with the same store. */
  next(changes?: Partial<MortalOptions> & { readonly link?: MemoryLink }): Promise<MortalBridge>;
}

/** A task that runs in the server behind a bridge. */
async function running(server: Server, tool: string, client: Era, upstream: Era): Promise<Running> {
  const store = memoryTaskStore();
  const link = memory();
  const served = await serve(server, link);
  const open: MortalBridge[] = [];
  const next: Running['next'] = async ({ link: other = link, ...changes } = {}) => {
    const made = await mortalBridge(other, { client, upstream, store, ...changes });
    open.push(made);
    return made;
  };
  const first = await next();
  onTestFinished(async () => {
    for (const each of open) each.wake();
    await Promise.all(open.map((each) => each.stop()));
    await served.close({ graceMs: 0 });
  });
  await first.peer.result('tools/list');
  const taskId = await start(first.peer, tool);
  await until('the task of the server is known', () => first.asked.includes('tools/call'));
  return { store, link, first, taskId, next };
}

async function start(peer: RawPeer, name: string): Promise<string> {
  const task = peer.era === 'legacy' ? { task: { ttl: 60_000 } } : {};
  return idOf(await peer.result('tools/call', { name, arguments: {}, ...task }));
}

async function hasRecord(store: TaskStore, id: string, check: (record: TaskRecord) => unknown) {
  await eventually(async () => expect(check((await store.get(id))!)).toBeTruthy());
}

/** Another process can go on with the task from now on. */
function isKept(store: TaskStore, id: string): Promise<void> {
  return hasRecord(store, id, ({ note }) => note?.['upstream']);
}

function asks(store: TaskStore, id: string): Promise<void> {
  return hasRecord(store, id, ({ status }) => status === 'input_required');
}

async function resultOf(peer: RawPeer, taskId: string): Promise<JsonObject> {
  if (peer.era === 'legacy') return peer.result('tasks/result', { taskId });
  const { result } = await waitFor(peer, taskId, 'completed');
  return result as JsonObject;
}

async function errorOf(peer: RawPeer, taskId: string): Promise<unknown> {
  if (peer.era === 'legacy') return peer.error('tasks/result', { taskId });
  return (await waitFor(peer, taskId, 'failed'))['error'];
}

/** A tool that ends when it is told to. */
function slow(server: Server): { readonly runs: { count: number; isAborted: boolean }; open(): void } {
  const { opened, open } = gate();
  const runs = { count: 0, isAborted: false };
  server.tool('slow', { task: 'allowed' }, async (_args, ctx) => {
    runs.count += 1;
    ctx.signal.addEventListener('abort', () => {
      runs.isAborted = true;
    });
    await Promise.race([
      opened,
      new Promise((_resolve, reject) => ctx.signal.addEventListener('abort', () => reject(new Error('x')))),
    ]);
    return 'done';
  });
  return { runs, open };
}

/** A tool that asks when it is told to. */
function asking(server: Server): { ask(): void } {
  const { opened, open } = gate();
  server.tool('asks', { task: 'allowed' }, async (_args, ctx) => {
    await ctx.startTask();
    await opened;
    const answer = await ctx.elicit(FORM);
    return `picked ${String(answer.action === 'accept' && answer.content?.['pick'])}`;
  });
  return { ask: open };
}

async function answer(peer: RawPeer, taskId: string): Promise<string> {
  const task = await waitFor(peer, taskId, 'input_required');
  const [[key, request]] = Object.entries(task['inputRequests'] as JsonObject) as [[string, JsonObject]];
  expect(request).toEqual({ method: 'elicitation/create', params: { mode: 'form', ...FORM } });
  await peer.result('tasks/update', { taskId, inputResponses: { [key]: PICKED } });
  return key;
}

describe.each(CELLS)('a task of a %s client at a %s server whose gateway was killed', (client, upstream) => {
  it('goes on in the next process, and ends with the result of the server', async () => {
    const server = taskServer();
    const { runs, open } = slow(server);
    const { first, taskId, store, next } = await running(server, 'slow', client, upstream);
    await isKept(store, taskId);
    await first.kill();
    const { peer } = await next();
    expect(await peer.result('tasks/get', { taskId })).toMatchObject({ status: 'working' });
    open();
    expect(await resultOf(peer, taskId)).toMatchObject({ content: [{ type: 'text', text: 'done' }] });
    expect(runs).toEqual({ count: 1, isAborted: false });
  });

  it('asks the person in the next process, under a key that was never used before (TASK-M-040)', async () => {
    const server = taskServer();
    const { ask } = asking(server);
    const { first, taskId, store, next } = await running(server, 'asks', client, upstream);
    await isKept(store, taskId);
    ask();
    await asks(store, taskId);
    expect(Object.keys((await store.get(taskId))!.questions)).toEqual(['elicitation-1']);
    await first.kill();
    const { peer } = await next();
    peer.respond = () => PICKED;
    if (client === 'modern') expect(await answer(peer, taskId)).toMatch(/^elicitation-\d+-1$/);
    expect(await resultOf(peer, taskId)).toMatchObject({ content: [{ type: 'text', text: 'picked B' }] });
  });

  it('fails if the server does not know it any more', async () => {
    const server = taskServer();
    slow(server);
    const { first, taskId, store, next } = await running(server, 'slow', client, upstream);
    await isKept(store, taskId);
    await first.kill();
    const other = memory();
    const fresh = taskServer();
    slow(fresh);
    const served = await serve(fresh, other);
    onTestFinished(() => served.close({ graceMs: 0 }));
    const { peer } = await next({ link: other });
    await peer.result('tasks/get', { taskId });
    expect(await errorOf(peer, taskId)).toEqual(LOST);
  });

  it('is left to the next process by one that is asked to end; the server is not told to cancel it', async () => {
    const server = taskServer();
    const { runs, open } = slow(server);
    const { first, taskId, store, next } = await running(server, 'slow', client, upstream);
    await isKept(store, taskId);
    await first.stop();
    expect(await store.get(taskId)).toMatchObject({ status: 'working' });
    expect(first.asked).not.toContain('tasks/cancel');
    const { peer } = await next();
    await peer.result('tasks/get', { taskId });
    open();
    expect(await resultOf(peer, taskId)).toMatchObject({ content: [{ type: 'text', text: 'done' }] });
    expect(runs).toEqual({ count: 1, isAborted: false });
  });

  it('is left with its open question: the server does not get an answer that no person gave', async () => {
    const server = taskServer();
    const { ask } = asking(server);
    const { first, taskId, store, next } = await running(server, 'asks', client, upstream);
    await isKept(store, taskId);
    ask();
    await asks(store, taskId);
    await first.stop();
    const { peer } = await next();
    peer.respond = () => PICKED;
    if (client === 'modern') await answer(peer, taskId);
    expect(await resultOf(peer, taskId)).toMatchObject({ content: [{ type: 'text', text: 'picked B' }] });
  });
});

describe('a task whose gateway was killed', () => {
  it.each([
    ['its server was a process of that gateway', { isRemote: false }],
    ['the name of its server belongs to another address now', { place: 'memory:other' }],
    ['its server speaks the other era now', { upstream: 'legacy' }],
  ] as const)('fails if %s, and the server is not asked about it', async (_why, changes) => {
    const server = taskServer();
    slow(server);
    const { first, taskId, store, next } = await running(server, 'slow', 'modern', 'modern');
    await isKept(store, taskId);
    await first.kill();
    const { peer, asked } = await next(changes);
    await peer.result('tasks/get', { taskId });
    expect(await errorOf(peer, taskId)).toEqual(LOST);
    expect(asked.filter((method) => method.startsWith('tasks/'))).toEqual([]);
  });

  it('is not kept for another process if the server was one of the gateway', async () => {
    const server = taskServer();
    slow(server);
    const store = memoryTaskStore();
    const link = memory();
    const served = await serve(server, link);
    const first = await mortalBridge(link, { client: 'modern', upstream: 'modern', store, isRemote: false });
    const taskId = await start(first.peer, 'slow');
    await until('the bridge follows the task', () => first.asked.includes('tasks/get'));
    expect((await store.get(taskId))!.note).toBeUndefined();
    await first.stop();
    expect(await store.get(taskId)).toMatchObject({ status: 'failed', outcome: { error: LOST } });
    await served.close({ graceMs: 0 });
  });

  it('goes on in one of several processes that find it at the same time', async () => {
    const server = taskServer();
    const { open } = slow(server);
    const { first, taskId, store, next } = await running(server, 'slow', 'modern', 'modern');
    await isKept(store, taskId);
    await first.kill();
    // Each says that it lives after it has found the task, and before it takes it.
    const allFound = gate();
    let found = 0;
    const workers = new Set<string>();
    const together: TaskStore = {
      ...store,
      async beat(worker, at) {
        found += 1;
        if (found === 3) allFound.open();
        await allFound.opened;
        await store.beat(worker, at);
      },
      async replace(record, bounds) {
        const answer = await store.replace(record, bounds);
        if (answer === 'replaced') workers.add(record.worker);
        return answer;
      },
    };
    const changes = { store: together };
    const others = await Promise.all([next(changes), next(changes), next(changes)]);
    await Promise.all(others.map(({ peer }) => peer.result('tasks/get', { taskId })));
    open();
    for (const { peer } of others)
      expect(await resultOf(peer, taskId)).toMatchObject({ content: [{ text: 'done' }] });
    expect(workers.size).toBe(1);
    expect(others.filter(({ asked }) => asked.includes('tasks/get'))).toHaveLength(1);
  });

  it('is left by a process that was only away: it neither fails nor is it cancelled', async () => {
    const server = taskServer();
    const { runs, open } = slow(server);
    const { first, taskId, store, next } = await running(server, 'slow', 'modern', 'modern');
    await isKept(store, taskId);
    await first.kill();
    const { peer, asked } = await next();
    await peer.result('tasks/get', { taskId });
    await until('the next process follows the task', () => asked.includes('tasks/get'));
    first.wake();
    // It writes, and finds that the task belongs to another process.
    expect(await first.peer.result('tasks/get', { taskId })).toMatchObject({ status: 'working' });
    await first.stop();
    expect(await store.get(taskId)).toMatchObject({ status: 'working' });
    open();
    expect(await resultOf(peer, taskId)).toMatchObject({ content: [{ text: 'done' }] });
    expect(runs).toEqual({ count: 1, isAborted: false });
  });

  it('is cancelled at the server if its owner cancelled it meanwhile', async () => {
    const server = taskServer();
    const { runs } = slow(server);
    const { first, taskId, store, next } = await running(server, 'slow', 'modern', 'modern');
    await isKept(store, taskId);
    await first.kill();
    const { peer } = await next();
    await peer.result('tasks/cancel', { taskId });
    expect(await waitFor(peer, taskId, 'cancelled')).toMatchObject({ status: 'cancelled' });
    await until('the tool is told', () => runs.isAborted);
  });

  it('belongs to its principal: for others it stays unknown (TASK-M-081)', async () => {
    const server = taskServer();
    const { open } = slow(server);
    const store = memoryTaskStore();
    const link = memory();
    const served = await serve(server, link);
    const options = { client: 'modern', upstream: 'modern', store } as const;
    const first = await mortalBridge(link, { ...options, principal: 'ada' });
    const taskId = await start(first.peer, 'slow');
    await isKept(store, taskId);
    await first.kill();
    const eve = await mortalBridge(link, { ...options, principal: 'eve' });
    const unknown = { code: -32602, message: 'Unknown task' };
    expect(await eve.peer.error('tasks/get', { taskId })).toMatchObject(unknown);
    const ada = await mortalBridge(link, { ...options, principal: 'ada' });
    await ada.peer.result('tasks/get', { taskId });
    open();
    expect(await resultOf(ada.peer, taskId)).toMatchObject({ content: [{ text: 'done' }] });
    expect(await eve.peer.error('tasks/get', { taskId })).toMatchObject(unknown);
    first.wake();
    await Promise.all([first.stop(), eve.stop(), ada.stop()]);
    await served.close({ graceMs: 0 });
  });

  it('is not kept for another process if its client declares more than the store should hold', async () => {
    const server = taskServer();
    const { open } = slow(server);
    const store = memoryTaskStore();
    const link = memory();
    const served = await serve(server, link);
    const first = await mortalBridge(link, { client: 'modern', upstream: 'modern', store });
    (first.peer.capabilities['extensions'] as JsonObject)['com.example/big'] = { text: 'x'.repeat(20_000) };
    const taskId = await start(first.peer, 'slow');
    await until('the bridge follows the task', () => first.asked.includes('tasks/get'));
    open();
    expect(await resultOf(first.peer, taskId)).toMatchObject({ content: [{ text: 'done' }] });
    expect((await store.get(taskId))!.note).toBeUndefined();
    await first.stop();
    await served.close({ graceMs: 0 });
  });
});
