/** What becomes of clients when the servers behind `isthmus serve --config` are restarted, killed and defined otherwise. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { official } from '../../packages/gateway/test/support/clients.js';
import { program } from '../bridge-load/support/far.js';
import type { Session } from '../bridge-matrix/clients/session.js';
import { textOf, told } from '../bridge-matrix/features/feature.js';
import { pidsOf } from '../solved/support/gateway.js';
import { allGone } from '../solved/support/serve-file.js';
import { ISTHMUS } from '../support/child.js';
import { eventually } from '../support/until.js';
import { useHouse } from './servers.js';

const house = useHouse();
const pidOf = async (name: string) => pidsOf(await house().gateway.status(), name)[0]!;
const echo = async (session: Session, message: string) =>
  textOf(await session.call('everything__echo', { message }));

/** A command for the running gateway. */
async function isthmus(...args: string[]): Promise<string> {
  const env = { ...process.env, ...house().gateway.env };
  const { stdout } = await promisify(execFile)(process.execPath, [ISTHMUS, ...args], { env });
  return stdout;
}

it('one that cannot be started and one that ends are told of, and keep nobody waiting', async () => {
  const { gateway } = house();
  const servers = await eventually(async () => {
    const { servers: now } = await gateway.status();
    expect(Object.entries(now).map(([name, { state }]) => [name, state])).toEqual([
      ['broken', 'failed'],
      ['everything', 'ready'],
      ['crashing', 'failed'],
      ['files', 'ready'],
      ['fragile', 'ready'],
    ]);
    return now;
  });
  // Neither of the two is needed.
  expect((await gateway.get('/readyz')).status).toBe(200);
  expect(servers['broken']!.reason).toContain('command not found');
  // Every user of the machine can read the page; what a server wrote to stderr is for the one who runs it.
  expect(servers['crashing']!.reason).toMatch(/^crashing stopped with code 1 after \d+ ms$/);
  await expect(isthmus('status', 'crashing')).rejects.toMatchObject({
    stdout: expect.stringContaining('missing API key'),
  });
  expect(await isthmus('status', 'everything')).toContain('everything');
  await expect(isthmus('status', 'broken')).rejects.toMatchObject({ code: 1 });
});

it('isthmus restart gives a server a fresh process under its clients, and kill -9 does no worse', async () => {
  const clients = await Promise.all(
    (['v1', 'v2-modern'] as const).map((kind) => official(kind, house().gateway.url)),
  );
  for (const session of clients) expect(await echo(session, 'a')).toBe('Echo: a');
  const [first, files] = [await pidOf('everything'), await pidOf('files')];
  await isthmus('restart', 'everything');
  for (const session of clients) expect(await echo(session, 'b')).toBe('Echo: b');
  const second = await pidOf('everything');
  expect(second).not.toBe(first);
  process.kill(second, 'SIGKILL');
  await eventually(async () => expect(await pidOf('everything')).not.toBe(second));
  for (const session of clients) expect(await echo(session, 'c')).toBe('Echo: c');
  expect(await pidOf('files')).toBe(files);
  await allGone([first]);
});

it('isthmus stop and start take a server away and give it back, and its clients hear of it', async () => {
  const { gateway } = house();
  const session = await official('v1', gateway.url);
  await session.tools();
  await isthmus('stop', 'fragile');
  await eventually(() => expect(told(session, 'notifications/tools/list_changed')).not.toEqual([]));
  expect((await session.tools()).filter((name) => name.startsWith('fragile'))).toEqual([]);
  expect((await gateway.get('/readyz')).status).toBe(200);
  await isthmus('start', 'fragile');
  await eventually(async () => expect(await session.tools()).toContain('fragile__echo'));
});

it('a change of the file touches only what has changed; a broken file changes nothing, and is told of', async () => {
  const { gateway, servers } = house();
  const [old, modern] = await Promise.all([official('v1', gateway.url), official('v2-modern', gateway.url)]);
  const listening = await modern.watch({ list: 'tools' });
  await old.tools();
  const [everything, files, fragile] = [
    await pidOf('everything'),
    await pidOf('files'),
    await pidOf('fragile'),
  ];
  const { fragile: _, broken: __, ...kept } = servers;
  const more = { command: process.execPath, args: [program('legacy-lines.mjs')] };
  gateway.rewrite({ ...kept, files: { ...kept['files'], timeoutMs: 5000, env: { CHANGED: 'yes' } }, more });
  await eventually(async () => {
    const { servers: now } = await gateway.status();
    expect(Object.keys(now)).toEqual(['everything', 'crashing', 'files', 'more']);
    expect([now['files']!.state, now['more']!.state]).toEqual(['ready', 'ready']);
  });
  expect(await pidOf('everything')).toBe(everything);
  expect(await pidOf('files')).not.toBe(files);
  await allGone([files, fragile]);
  for (const session of [old, modern]) {
    await eventually(() => expect(told(session, 'notifications/tools/list_changed')).not.toEqual([]));
    await eventually(async () => expect(await session.tools()).toContain('more__echo'));
    expect((await session.tools()).filter((name) => name.startsWith('fragile'))).toEqual([]);
    expect(await echo(session, 'd')).toBe('Echo: d');
    expect(textOf(await session.call('more__echo', { text: 'new' }))).toBe('new');
  }
  await listening.stop();

  gateway.rewrite('{ "mcpServers": { "everything": ');
  await eventually(async () => expect((await gateway.status()).configProblem).toContain('servers.json:1'));
  expect(await pidOf('everything')).toBe(everything);
  expect(await echo(old, 'e')).toBe('Echo: e');
  gateway.rewrite(servers);
  await eventually(async () => {
    const { configProblem, servers: now } = await gateway.status();
    expect([configProblem, now['fragile']?.state]).toEqual([undefined, 'ready']);
  });
});

it('SIGTERM finishes the call that is under way, ends every process, and exits with 0', async () => {
  const { gateway } = house();
  const session = await official('v1', gateway.at('/mcp/everything'));
  const pids = [await pidOf('everything'), await pidOf('files')];
  let hasBegun = false;
  const onprogress = () => {
    hasBegun = true;
  };
  const call = session.call('trigger-long-running-operation', { duration: 1, steps: 5 }, { onprogress });
  await eventually(() => expect(hasBegun).toBe(true));
  gateway.kill('SIGTERM');
  expect(textOf(await call)).toContain('Long running operation completed');
  expect(await gateway.ended).toEqual([0, null]);
  await allGone(pids);
});
