import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Client, connect, unixSocket } from '@isthmus/sdk';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ensureInstalled } from '../../scripts/setup.js';
import { runProgram } from '../package/run-program.js';
import { startChild } from '../support/child.js';
import { hasRedis, type RunningRedis, startRedis } from '../support/redis.js';

const root = fileURLToPath(new URL('../../', import.meta.url));
const program = join(root, 'test/programs/server-with-tasks.mjs');
/** Node 20 has no SQLite. The referee of test/conformance brings a Node that has it. */
const node22 = join(root, 'conformance/node_modules/node/bin/node');

beforeAll(() => ensureInstalled('conformance'), 300_000);

it('the SQLite store fulfils the contract of task stores, with the SQLite of Node 22', async () => {
  const args = [
    'node_modules/vitest/vitest.mjs',
    'run',
    'packages/sdk/test/server/tasks/sqlite-store.test.ts',
  ];
  const env = { ...process.env, ISTHMUS_LONG: undefined, NO_COLOR: '1', FORCE_COLOR: undefined };
  const { code, stdout } = await runProgram(node22, args, { cwd: root, limitMs: 110_000, env });
  expect(stdout).toMatch(/13 passed/);
  expect(code).toBe(0);
}, 120_000);

describe('after kill -9', () => {
  let redis: RunningRedis | undefined;
  beforeAll(async () => {
    if (hasRedis) redis = await startRedis();
  });
  afterAll(() => redis?.stop());

  it.runIf(hasRedis)('of a server with tasks in Redis, each task has ended once, and none is run again', () =>
    killed(process.execPath, 'redis', () => redis!.url),
  );

  it('of a server with tasks in SQLite, each task has ended once, and none is run again', () =>
    killed(node22, 'sqlite', (folder) => join(folder, 'tasks.db')));
});

async function killed(node: string, kind: string, placeIn: (folder: string) => string): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'isthmus-tasks-'));
  const runs = join(folder, 'runs');
  const open = async (name: string) => {
    const socket = join(folder, name);
    const child = startChild(program, { node, args: [kind, placeIn(folder), socket, runs] });
    await child.until('ready', () => child.stderr.includes('ready'));
    return { child, client: await connect(unixSocket(socket), { cache: false }) };
  };
  const start = async (client: Client, tool: string, key: string) => {
    const { id } = await client.startTask(tool, { key, ms: 1 });
    return { id: id!, key };
  };
  try {
    const first = await open('1');
    const finished = await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        start(first.client, index % 2 ? 'quick' : 'soon', `f${index}`),
      ),
    );
    for (const { id, key } of finished) {
      expect(await first.client.task(id).result()).toMatchObject({ content: [{ text: `done ${key}` }] });
    }
    const running = await Promise.all(
      Array.from({ length: 20 }, (_, index) => start(first.client, 'endless', `r${index}`)),
    );
    first.child.kill('SIGKILL');
    await first.client.close();

    const { client, child } = await open('2');
    for (const { id, key } of finished) {
      expect(await client.task(id).get()).toMatchObject({ status: 'completed' });
      expect(await client.task(id).result()).toMatchObject({ content: [{ text: `done ${key}` }] });
    }
    for (const { id } of running) {
      await expect(client.task(id).result()).rejects.toMatchObject({
        code: -32603,
        message: 'The server ended while it ran this task',
        data: { reason: 'SERVER_ENDED', sent: 'maybe' },
      });
      expect(await client.task(id).get()).toMatchObject({ status: 'failed' });
    }
    const all = [...finished, ...running].map(({ key }) => key).sort();
    expect(readFileSync(runs, 'utf8').trim().split('\n').sort()).toEqual(all);
    await client.close();
    child.kill('SIGKILL');
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
