import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Ended, runProgram } from '../package/run-program.js';
import { ISTHMUS } from '../support/child.js';
import { connectV1 } from '../support/official-v1.js';
import { eventually } from '../support/until.js';
import { hasClusterTools, type RunningCluster, startCluster } from './support.js';

interface Answered {
  readonly replica: string;
  readonly state: string;
  readonly problem?: string;
  readonly answer?: { readonly servers: Record<string, { processes: { restarts: number } }> };
}

describe.skipIf(!hasClusterTools)(
  'the operator of three replicas (skipped without redis-server and nginx)',
  () => {
    let folder: string;
    let cluster: RunningCluster;
    const sockets = () => join(folder, 'run');
    const isthmus = (...args: string[]): Promise<Ended> =>
      runProgram(process.execPath, [ISTHMUS, ...args, '--pid', String(cluster.replicas[0]!.child.pid)], {
        cwd: folder,
        env: { PATH: process.env['PATH'], HOME: folder, ISTHMUS_RUNTIME_DIR: sockets(), NO_COLOR: '1' },
        limitMs: 30_000,
      });
    const answers = async () => JSON.parse((await isthmus('status', '--all', '--json')).stdout) as Answered[];
    const replicaIds = () =>
      Promise.all(cluster.replicas.map(async ({ status }) => (await status()).cluster.replica));

    beforeAll(async () => {
      folder = mkdtempSync(join(tmpdir(), 'isthmus-operator-'));
      const config = join(folder, 'mcp.json');
      const notes = { command: process.execPath, args: [ISTHMUS, 'demo'], isthmus: { stateless: true } };
      writeFileSync(config, JSON.stringify({ mcpServers: { notes } }));
      cluster = await startCluster({
        args: ['--config', config, '--log-format', 'json', '--log-level', 'info'],
        env: { ISTHMUS_RUNTIME_DIR: sockets(), HOME: folder },
      });
    }, 60_000);
    afterAll(async () => {
      await cluster?.stop();
      rmSync(folder, { recursive: true, force: true });
    });

    it('sees all of them with status --all, from any one', async () => {
      await eventually(async () => {
        const { code, stdout } = await isthmus('status', '--all');
        expect(code, stdout).toBe(0);
      });
      const { stdout } = await isthmus('status', '--all');
      for (const replica of await replicaIds()) expect(stdout).toContain(`${replica}  `);
      expect(stdout).toMatch(/^notes {3}each {2}local {6}3 of 3 {2,}3 /m);
      expect(stdout).toContain('Everything is ok: 3 processes.');
      expect((await answers()).map(({ replica, state }) => [replica, state])).toEqual(
        expect.arrayContaining((await replicaIds()).map((replica) => [replica, 'ready'])),
      );
    });

    it('restarts a server in all of them with restart --all', async () => {
      const before = await answers();
      const { code, stdout } = await isthmus('restart', 'notes', '--all');
      expect({
        code,
        lines: stdout
          .trim()
          .split('\n')
          .map((line) => line.slice(8)),
      }).toEqual({
        code: 0,
        lines: [': done', ': done', ': done'],
      });
      const generations = (all: readonly Answered[]) =>
        all.map(
          ({ answer }) => JSON.stringify(answer!.servers['notes']!.processes).match(/"generation":(\d+)/)![1],
        );
      expect(generations(before)).toEqual(['1', '1', '1']);
      expect(generations(await answers())).toEqual(['2', '2', '2']);
    });

    it('stops a server with stop --all, also for processes that come later, until start --all', async () => {
      const states = async () =>
        (await answers()).map(({ answer }) => answer!.servers['notes'] as unknown as { state: string });
      expect((await isthmus('stop', 'notes', '--all')).code).toBe(0);
      const later = await cluster.add();
      await eventually(async () => {
        expect((await states()).map(({ state }) => state)).toEqual(['off', 'off', 'off', 'off']);
      });
      expect((await isthmus('start', 'notes', '--all')).code).toBe(0);
      await eventually(async () => {
        expect((await states()).map(({ state }) => state)).toEqual(['ready', 'ready', 'ready', 'ready']);
      });
      later.child.kill('SIGTERM');
      expect((await later.child.exit()).code).toBe(0);
      cluster.replicas.pop();
    });

    it('reads the lines of all of them with logs --all', async () => {
      const { code, stdout } = await isthmus('logs', 'notes', '--all', '--json', '-n', '1000');
      expect(code).toBe(0);
      const lines = stdout.trim().split('\n');
      const found = lines.map((text) => JSON.parse(text) as { replica: string; at: number });
      expect([...new Set(found.map(({ replica }) => replica))].sort()).toEqual((await replicaIds()).sort());
      expect(found.map(({ at }) => at)).toEqual(found.map(({ at }) => at).sort((a, b) => a - b));
      const [first] = await replicaIds();
      expect((await isthmus('logs', 'notes', '--all')).stdout).toContain(` ${first} -- ready after `);
    });

    it('is told which server does not exist, before anything is done', async () => {
      const { code, stderr } = await isthmus('stop', 'nots', '--all');
      expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining('Did you mean notes?') });
    });

    it('finds the cluster in /status and in the metrics of each', async () => {
      const ids = (await replicaIds()).sort();
      const { client } = await connectV1({ url: cluster.url });
      await client.callTool({ name: 'echo', arguments: { text: 'hello' } });
      await client.close();
      const pages = await Promise.all(
        cluster.replicas.map(async ({ origin, status }) => {
          const { members } = (await status()).cluster;
          expect(members.map(({ replica }) => replica).sort()).toEqual(ids);
          return (await fetch(`${origin}/metrics`)).text();
        }),
      );
      for (const page of pages) {
        expect(page).toContain('isthmus_cluster_members{state="ready"} 3\n');
        expect(page).toContain('isthmus_cluster_members{state="draining"} 0\n');
        expect(page).toContain('isthmus_cluster_store_up 1\n');
        expect(page).toMatch(/^isthmus_cluster_store_seconds_count\{op="beat",outcome="done"\} [1-9]/m);
        expect(page).toContain('isthmus_cluster_adoptions_total{outcome="adopted"} 0\n');
      }
      const sum = (name: string) =>
        pages.reduce((total, page) => total + Number(new RegExp(`^${name} (\\d+)$`, 'm').exec(page)?.[1]), 0);
      expect(sum('isthmus_cluster_sessions')).toBe(1);
      expect(sum('isthmus_cluster_handed_on_total')).toBeGreaterThan(0);
      expect(sum('isthmus_cluster_received_total')).toBe(sum('isthmus_cluster_handed_on_total'));
    });

    it('reads the name of the replica in each line of its log', async () => {
      const ids = await replicaIds();
      cluster.replicas.forEach(({ child }, at) => {
        const lines = child.stderr.split('\n').filter((line) => line.startsWith('{'));
        expect(lines.length).toBeGreaterThan(0);
        const named = lines.map(
          (line) => JSON.parse(line) as { replica?: string; event?: string; msg: string },
        );
        // On a busy machine Redis answers late, and before that a replica has no name.
        const own = named.filter(
          ({ event, msg }) => event !== 'serving' && !msg.includes('is tried for 10 s'),
        );
        expect(new Set(own.map(({ replica }) => replica))).toEqual(new Set([ids[at]]));
      });
    });

    it('is told of one that has another configuration', async () => {
      const other = join(folder, 'other.json');
      const notes = { command: process.execPath, args: [ISTHMUS, 'demo', '--era', 'modern'] };
      writeFileSync(other, JSON.stringify({ mcpServers: { notes } }));
      const odd = await cluster.add(['--config', other, '--log-format', 'json']);
      const { replica } = (await odd.status()).cluster;
      await eventually(async () => {
        const { code, stdout } = await isthmus('status', '--all');
        expect({ code, stdout }).toEqual({
          code: 1,
          stdout: expect.stringContaining(`notes: ${replica} has another definition than most.`),
        });
      });
      odd.child.kill('SIGTERM');
      expect((await odd.child.exit()).code).toBe(0);
      cluster.replicas.pop();
    });

    it('is told of one that has vanished, and not of one that was ended in order', async () => {
      const [, second, third] = cluster.replicas;
      const [, , gone] = await replicaIds();
      second!.child.kill('SIGTERM');
      expect((await second!.child.exit()).code).toBe(0);
      third!.child.kill('SIGKILL');
      await eventually(async () => {
        const problems = (await answers()).flatMap(({ replica, state, problem }) =>
          problem === undefined ? [] : [[replica, state, problem]],
        );
        expect(problems).toEqual([[gone, 'missing', 'it was there within the last minute, and is gone']]);
      });
      expect((await isthmus('status', '--all')).code).toBe(1);
    });
  },
);
