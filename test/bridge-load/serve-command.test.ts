/** `isthmus serve` as a process: how it ends, and that nothing of it is left. */
import { connect } from 'node:net';
import { describe, expect, it } from 'vitest';
import { until } from '../../packages/sdk/test/support/host-lifetime.js';
import { modern, open } from '../../packages/sdk/test/support/http-server.js';
import { legacyCall, type Message, call as modernCall } from '../support/messages.js';
import { modernHttp } from './near/http.js';
import { accept, call, type Era, outcome } from './near/near.js';
import { onSocket } from './near/socket.js';
import { freshSocket, gone, serveCommand } from './support/serve-command.js';

const INITIALIZE = {
  jsonrpc: '2.0',
  id: 'init',
  method: 'initialize',
  params: {
    protocolVersion: '2025-11-25',
    capabilities: { elicitation: {} },
    clientInfo: { name: 'test', version: '1' },
  },
};
const INITIALIZED = { jsonrpc: '2.0', method: 'notifications/initialized' };
const isQuestion = ({ method }: Message) => method === 'elicitation/create';

const HTTP = 'http://127.0.0.1:0/mcp';

describe('at the end of its input isthmus serve on stdio', () => {
  it.each<[Era, Era]>([
    ['legacy', 'legacy'],
    ['legacy', 'modern'],
    ['modern', 'legacy'],
    ['modern', 'modern'],
  ])(
    'finishes what a %s client has asked of a %s server, ends the server and exits with 0',
    async (near, far) => {
      const { child } = await serveCommand(far, ['stdio']);
      const make = near === 'legacy' ? legacyCall : modernCall;
      if (near === 'legacy') child.send(INITIALIZE);
      child.send(
        make(0, 'echo', { text: 'a', of: 2 }),
        make('', 'echo', { text: 'b', of: 2 }),
        make(1, 'pid'),
      );
      child.end();
      expect(await child.exit()).toEqual({ code: 0, signal: null });
      const answers = child.messages.filter(({ id }) => id !== 'init');
      const texts = new Map(answers.map((message) => outcome(message) as [unknown, string]));
      expect([answers.length, texts.get(0), texts.get('')]).toEqual([3, 'a', 'b']);
      expect(child.impure).toEqual([]);
      await gone(Number(texts.get(1)));
    },
  );

  it('refuses a question that nobody can answer any more, and finishes the call all the same', async () => {
    const { child } = await serveCommand('legacy', ['stdio']);
    child.send(INITIALIZE);
    await child.answer('init');
    child.send(INITIALIZED, legacyCall(0, 'elicit', { text: 'well?' }));
    await child.until('a question', () => child.messages.some(isQuestion));
    child.end();
    expect(await child.exit()).toEqual({ code: 0, signal: null });
    const ended = child.messages.filter(({ id, method }) => id === 0 && method === undefined);
    expect(ended).toHaveLength(1);
    expect(ended[0]!.result).toMatchObject({ isError: true });
    expect(ended[0]!.result.content[0].text).toMatch(/^well\? was refused: .*closed/);
  });
});

describe('isthmus serve', () => {
  it('serves a client that says everything in one breath as one that waits for its welcome', async () => {
    const { child } = await serveCommand('legacy', ['stdio']);
    child.send(INITIALIZE, INITIALIZED, legacyCall(0, 'elicit', { text: 'well?' }));
    await child.until('a question', () => child.messages.some(isQuestion), 10_000);
    child.send({ jsonrpc: '2.0', id: child.messages.find(isQuestion)!.id, result: accept('fine') });
    expect(outcome(await child.answer(0))).toEqual([0, 'well?: fine']);
    child.end();
    expect(await child.exit()).toEqual({ code: 0, signal: null });
  });

  it.each<Era>(['legacy', 'modern'])(
    'in front of a %s server finishes what runs on SIGTERM, tells listeners, and exits with 0',
    async (era) => {
      const { child, diary, addresses } = await serveCommand(era, [HTTP, freshSocket()]);
      const [url, socket] = addresses as [string, string];
      const clients = [modernHttp(url, 'a'), await onSocket(socket, 'b', 'legacy')];
      const pid = Number((await call(clients[0]!, 0, 'pid')).result.content[0].text);
      const listening = await open(
        url,
        modern('l', 'subscriptions/listen', { notifications: { resourceSubscriptions: ['memo://1'] } }),
      );
      await listening.next();
      const inFlight = clients.map((near) => call(near, 1, 'hold', { text: near.name }));
      await until('both run', () => diary.lines().length === 2);
      child.kill('SIGTERM');
      expect(await listening.next()).toMatchObject({ id: 'l', result: { resultType: 'complete' } });
      process.kill(pid, 'SIGUSR2');
      expect((await Promise.all(inFlight)).map(outcome)).toEqual([
        [1, 'a was released'],
        [1, 'b was released'],
      ]);
      expect(await child.exit()).toEqual({ code: 0, signal: null });
      await gone(pid);
      expect(diary.lines()).toEqual(expect.not.arrayContaining([expect.stringMatching(/^cancelled/)]));
    },
  );

  it.each([
    ['SIGTERM', 143],
    ['SIGINT', 130],
  ] as const)(
    'does not wait after a second %s: it exits with %i, and so does its server',
    async (signal, code) => {
      const { child, diary, addresses } = await serveCommand('legacy', [HTTP]);
      const near = modernHttp(addresses[0]!, 'a');
      const pid = Number((await call(near, 0, 'pid')).result.content[0].text);
      const lost = call(near, 1, 'hold', { text: 'a' }).catch(() => 'lost');
      await until('it runs', () => diary.lines().length === 1);
      child.kill(signal);
      await refuses(addresses[0]!);
      child.kill(signal);
      expect(await child.exit(3000)).toEqual({ code, signal: null });
      expect(await lost).toBe('lost');
      await gone(pid);
    },
  );

  it('takes its servers along when it is killed with -9, one for each client too', async () => {
    const { child, addresses } = await serveCommand('legacy', [freshSocket()], {
      args: ['--processes', 'per-conversation'],
      program: 'legacy-lines.mjs',
    });
    const clients = await Promise.all(['a', 'b', 'c'].map((name) => onSocket(addresses[0]!, name, 'legacy')));
    const answers = await Promise.all(clients.map((near) => call(near, 0, 'pid')));
    const pids = new Set(answers.map(({ result }) => Number(result.content[0].text)));
    expect(pids.size).toBe(3);
    child.kill('SIGKILL');
    for (const pid of pids) await gone(pid);
  });
});

/** Nobody listens there any more. */
async function refuses(url: string): Promise<void> {
  const port = Number(new URL(url).port);
  const isOpen = () =>
    new Promise<boolean>((resolve) => {
      const socket = connect({ host: '127.0.0.1', port });
      socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
      socket.once('connect', () => socket.destroy());
    });
  for (const deadline = Date.now() + 5000; await isOpen(); ) {
    if (Date.now() > deadline) throw new Error(`${url} is still open`);
  }
}
