import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { fixture } from '../../../test/support/child.js';
import { eventually } from '../../../test/support/until.js';
import { ask, modernCall } from '../../sdk/test/support/http-server.js';
import { controlClient } from '../src/control/control-client.js';
import { echoEntry, type ServedFile, serveFile } from './support/serve-file.js';

it('--workers is one gateway for status, stop, start, reload, logs and signals; a worker that ends is replaced', async () => {
  const served = await serveFile({ mcpServers: { a: echoEntry() } }, '--workers', '2', '--no-watch');
  const control = controlOf(served);
  const workers = await eventually(async () => {
    const { workers = [], ready } = await control.status();
    expect([workers.length, ready]).toEqual([2, true]);
    return workers.map(({ pid }) => pid);
  });
  const before = await control.status();
  expect(before.pid).toBe(served.child.pid);
  expect(before.listening).toEqual([`${served.origin}/mcp`]);

  await control.stop('a');
  expect((await control.status()).servers['a']!.state).toBe('off');
  // The parent of a worker that gets SIGTERM alone replaces it, and the new one knows what is switched off.
  process.kill(workers[0]!, 'SIGTERM');
  await eventually(async () => {
    const status = await control.status();
    expect(status.workers!.map(({ pid }) => pid)).toContain(workers[1]);
    expect(status.workers!.map(({ pid }) => pid)).not.toContain(workers[0]);
    expect([status.workers!.length, status.servers['a']!.state]).toEqual([2, 'off']);
  });
  await control.start('a');
  const call = () => ask(`${served.origin}/mcp`, modernCall(1, 'echo', { text: 'x' }));
  for (let round = 0; round < 3; round += 1) expect((await call()).status).toBe(200);

  served.write({ mcpServers: { a: echoEntry(), b: echoEntry() } });
  expect(await control.reload()).toMatchObject({ added: ['b'], unchanged: ['a'] });
  for (let round = 0; round < 3; round += 1)
    expect(await served.tools('/mcp')).toEqual(['a__echo', 'b__echo']);
  served.write({ mcpServers: { b: echoEntry() } });
  served.child.kill('SIGHUP');
  await eventually(async () => {
    for (let round = 0; round < 3; round += 1) expect(await served.tools('/mcp')).toEqual(['echo']);
  });
  const lines: string[] = [];
  for await (const { server } of control.logs(
    'b',
    { lines: 10, follow: false },
    new AbortController().signal,
  )) {
    lines.push(server);
  }
  expect(new Set(lines)).toEqual(new Set(['b']));

  const { workers: last = [], servers } = await control.status();
  served.child.kill('SIGTERM');
  expect(await served.child.exit()).toEqual({ code: 0, signal: null });
  const ended = [...last.map(({ pid }) => pid), ...servers['b']!.processes!.processes.map(({ pid }) => pid!)];
  for (const pid of ended) expect(() => process.kill(pid, 0)).toThrow('ESRCH');
}, 120_000);

it('a command that remembers has one process behind all workers, and another one when its worker is killed', async () => {
  const counter = { command: process.execPath, args: [fixture('server-that-counts.mjs')] };
  const served = await serveFile({ mcpServers: { counter } }, '--workers', '2');
  const control = controlOf(served);
  await eventually(async () => {
    const { workers = [], ready } = await control.status();
    expect([workers.length, ready]).toEqual([2, true]);
  });
  const count = async () => {
    const { json } = await ask(`${served.origin}/mcp`, modernCall(1, 'count'));
    return json.result.content[0].text as string;
  };
  const [, pid] = (await count()).split(' ');
  // Each call is a connection, and connections go to the workers in turn.
  expect([await count(), await count(), await count()]).toEqual([`2 ${pid}`, `3 ${pid}`, `4 ${pid}`]);
  const { workers = [], servers } = await control.status();
  expect(servers['counter']!.processes!.processes.map((each) => String(each.pid))).toEqual([pid]);
  const [home] = [...workers].sort((a, b) => a.startedAt.localeCompare(b.startedAt));
  process.kill(home!.pid, 'SIGKILL');
  const [calls, next] = (await eventually(count)).split(' ');
  expect([calls, next === pid]).toEqual(['1', false]);
  expect([await count(), await count()]).toEqual([`2 ${next}`, `3 ${next}`]);
}, 120_000);

/** The only socket of this gateway: those of its workers are elsewhere. */
function controlOf({ folder }: ServedFile) {
  const run = join(folder, 'run', 'isthmus');
  const [only, ...others] = readdirSync(run).filter((name) => name.endsWith('.sock'));
  expect(others).toEqual([]);
  return controlClient(join(run, only!));
}
