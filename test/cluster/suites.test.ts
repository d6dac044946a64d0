import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { runProgram } from '../package/run-program.js';
import { ISTHMUS } from '../support/child.js';
import { startRedis } from '../support/redis.js';
import { hasClusterTools, startCluster } from './support.js';

/** Suites that were written for one process. Each request goes to the next of three. */
const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const HTTP_SERVER = 'packages/sdk/test/transport/http-server';

/** What these tests are about holds for each process, or their own surroundings are of one process. */
const OF_ONE_PROCESS = [
  // Limits of a process.
  ...['ends its listen, and the place is free again', 'has a limit that ordinary calls do not share'],
  ...['calls beyond the limit are refused', 'their number is limited; the next is refused'],
  'calls of sessions count, too',
  // Without a cluster, replicas have no key in common.
  'without a shared key refuse each other',
  // Their clock stands still while a member looks for another one.
  ...['one that is not used expires', 'one with an open stream or a running call is in use'],
  // All three members share one server here, so each change comes three times.
  'never brings what belongs to another stream',
];

function vitest(args: readonly string[], env: Readonly<Record<string, string>>) {
  return runProgram(process.execPath, ['node_modules/vitest/vitest.mjs', 'run', ...args], {
    cwd: ROOT,
    env: { ...process.env, ISTHMUS_REPLICAS: '3', NO_COLOR: '1', ...env },
    limitMs: 400_000,
  });
}

describe.skipIf(!hasClusterTools)('with three replicas (skipped without redis-server and nginx)', () => {
  it('clients see no difference that is not in the list of docs/bridge.md', async () => {
    const args = ['test/transparency', '--maxConcurrency=1', '-t', 'over http'];
    const { code, stdout, stderr } = await vitest(args, { ISTHMUS_LONG: '1' });
    expect(code, `${stdout}\n${stderr}`).toBe(0);
    expect(stdout).toMatch(/Tests +12 passed/);
  }, 420_000);

  it('sessions, streams, resumption, authentication and 2024-11-05 are as with one process', async () => {
    const redis = await startRedis();
    try {
      const folders = ['sessions', 'posts', 'admission/authentication.test.ts', 'exchange/streams.test.ts'];
      const left = `^(?!.*(${OF_ONE_PROCESS.join('|')}))`;
      const args = [...folders.map((each) => `${HTTP_SERVER}/${each}`), '-t', left];
      const env = { ISTHMUS_LONG: '', ISTHMUS_REPLICAS_REDIS: redis.url };
      const { code, stdout, stderr } = await vitest(args, env);
      expect(code, `${stdout}\n${stderr}`).toBe(0);
      expect(stdout).toMatch(/Tests +205 passed/);
    } finally {
      await redis.stop();
    }
  }, 420_000);

  it('isthmus check --call-tools finds nothing', async () => {
    const cluster = await startCluster();
    try {
      const args = [ISTHMUS, 'check', '--call-tools', cluster.url];
      const { code, stdout, stderr } = await runProgram(process.execPath, args, {
        cwd: ROOT,
        env: { ...process.env, NO_COLOR: '1' },
        limitMs: 200_000,
      });
      expect(code, `${stdout}\n${stderr}`).toBe(0);
      expect(stdout).toMatch(/^PASSED\n/m);
    } finally {
      await cluster.stop();
    }
  }, 240_000);
});
