import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { type Client, connect, http } from '@isthmus/sdk';
import { expect, it } from 'vitest';
import { type Child, ISTHMUS, startChild } from '../support/child.js';
import { freePort, hasRedis, startRedis } from '../support/redis.js';

const program = fileURLToPath(new URL('../programs/server-with-tasks.mjs', import.meta.url));
const OWNERS = ['ada', 'eve'] as const;
const TASKS = 200;
/** A start takes half a second, and much more on a machine that is busy with other tests. */
const START_MS = 90_000;

const SEEDS = process.env['ISTHMUS_CHAOS_SEED']?.split(',').map(Number) ?? [20];

/** One task never ends by itself, so that at least this one is running at a kill. The first kill comes after 20 tasks. */
function durationOf(count: number, random: number): number {
  return count === 10 ? 600_000 : Math.floor(random);
}

/** The same numbers in every run. */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

it.runIf(hasRedis).each(SEEDS)(
  'of 200 tasks of a server that is killed again and again, each ends once, and only its owner sees it (ISTHMUS_CHAOS_SEED=%i)',
  async (seed) => {
    const folder = mkdtempSync(join(tmpdir(), 'isthmus-chaos-'));
    const runs = join(folder, 'runs');
    const redis = await startRedis();
    const random = seeded(seed);
    const port = await freePort();
    const start = async () => {
      const child = startChild(program, { args: ['redis', redis.url, `http:${port}`, runs] });
      await child.until('ready', () => child.stderr.includes('ready'), START_MS);
      return child;
    };
    let server = await start();
    const clients = new Map<string, Client>();
    for (const owner of OWNERS) {
      const connector = http(`http://127.0.0.1:${port}/mcp`, {
        headers: { authorization: `Bearer ${owner}` },
      });
      clients.set(owner, await connect(connector, { cache: false, mode: 'modern' }));
    }
    const started: { id: string; key: string; owner: string }[] = [];
    let isOver = false;
    const killing = (async () => {
      for (let kills = 0; kills < 4 && !isOver; kills += 1) {
        const seen = started.length;
        while (!isOver && started.length < seen + 20) await sleep(10);
        server.kill('SIGKILL');
        await server.ended;
        server = await start();
      }
    })();
    // It is awaited below. A failure of the tasks before that must be the one that is reported.
    killing.catch(() => {});
    try {
      for (let count = 0; started.length < TASKS; count += 1) {
        const owner = OWNERS[count % 2]!;
        const key = `k${count}`;
        const ms = durationOf(started.length, random() * 200);
        try {
          const { id } = await clients.get(owner)!.startTask('soon', { key, ms });
          started.push({ id: id!, key, owner });
        } catch {
          // The server is down: nobody knows of this task.
          await sleep(20);
        }
      }
      isOver = true;
      await killing;
      const ends = new Map<string, string>();
      for (const { id, key, owner } of started) {
        const task = clients.get(owner)!.task(id);
        const end = await task.result().then(
          ({ content }) => (content[0] as { text: string }).text,
          (error: { data?: { reason?: string } }) => String(error.data?.reason ?? error),
        );
        expect([`done ${key}`, 'SERVER_ENDED']).toContain(end);
        ends.set(id, (await task.get()).status);
        const stranger = clients.get(owner === 'ada' ? 'eve' : 'ada')!;
        await expect(stranger.task(id).get()).rejects.toMatchObject({
          code: -32602,
          message: 'Unknown task',
        });
      }
      expect(new Set(ends.values())).toEqual(new Set(['completed', 'failed']));
      // What has ended stays as it is.
      for (const { id, owner } of started) {
        expect((await clients.get(owner)!.task(id).get()).status).toBe(ends.get(id));
      }
      const ran = readFileSync(runs, 'utf8').trim().split('\n');
      expect(new Set(ran).size).toBe(ran.length);
      // A kill can come between the answer with the id and the first step: such a task has failed, and did not run.
      const unrun = started.filter(({ key }) => !ran.includes(key));
      expect(new Set(unrun.map(({ id }) => ends.get(id)))).not.toContain('completed');
    } finally {
      isOver = true;
      await killing.catch(() => {});
      await Promise.all([...clients.values()].map((client) => client.close()));
      await redis.stop();
      rmSync(folder, { recursive: true, force: true });
    }
  },
  300_000,
);

/** A program that can be killed and started again. */
interface Mortal {
  readonly what: string;
  start(): Promise<Child>;
  child: Child;
}

async function killAndStart(mortal: Mortal): Promise<void> {
  mortal.child.kill('SIGKILL');
  await mortal.child.ended;
  mortal.child = await mortal.start();
}

it.runIf(hasRedis).each(SEEDS)(
  'of 200 tasks through a gateway, which is killed again and again as its server is, each ends once for its owner (ISTHMUS_CHAOS_SEED=%i)',
  async (seed) => {
    const folder = mkdtempSync(join(tmpdir(), 'isthmus-chaos-'));
    const runs = join(folder, 'runs');
    const tokens = join(folder, 'tokens');
    writeFileSync(tokens, OWNERS.map((owner) => `${owner}: token-of-${owner}-0123456789\n`).join(''));
    const redis = await startRedis();
    const random = seeded(seed);
    const port = await freePort();
    const socket = join(folder, 'server.sock');
    const startServer = async () => {
      rmSync(socket, { force: true });
      const child = startChild(program, { args: ['redis', redis.url, socket, runs] });
      await child.until('ready', () => child.stderr.includes('ready'), START_MS);
      return child;
    };
    const startGateway = async () => {
      const listen = ['--listen', `http://127.0.0.1:${port}/mcp`, '--no-control', '--json', '-q'];
      const keep = ['--task-store', redis.url, '--bearer-file', tokens];
      const child = startChild(ISTHMUS, {
        args: ['serve', ...listen, ...keep, '--upstream', `unix:${socket}`],
      });
      await child.until('the address', () => child.messages.length > 0, START_MS);
      return child;
    };
    const server: Mortal = { what: 'server', start: startServer, child: await startServer() };
    const gateway: Mortal = { what: 'gateway', start: startGateway, child: await startGateway() };
    const clients = new Map<string, Client>();
    for (const owner of OWNERS) {
      const connector = http(`http://127.0.0.1:${port}/mcp`, {
        headers: { authorization: `Bearer token-of-${owner}-0123456789` },
      });
      clients.set(owner, await connect(connector, { cache: false, mode: 'modern' }));
    }
    const started: { id: string; key: string; owner: string }[] = [];
    let isOver = false;
    const killed: string[] = [];
    const killing = (async () => {
      for (let kills = 0; kills < 6 && !isOver; kills += 1) {
        const seen = started.length;
        while (!isOver && started.length < seen + 25) await sleep(10);
        const victim = kills % 3 === 2 ? [server, gateway] : [random() < 0.5 ? server : gateway];
        killed.push(...victim.map(({ what }) => what));
        await Promise.all(victim.map(killAndStart));
      }
    })();
    // It is awaited below. A failure of the tasks before that must be the one that is reported.
    killing.catch(() => {});
    try {
      for (let count = 0; started.length < TASKS; count += 1) {
        const owner = OWNERS[count % 2]!;
        const key = `k${count}`;
        const ms = durationOf(started.length, random() * 400);
        try {
          const { id } = await clients.get(owner)!.startTask('soon', { key, ms });
          if (id !== undefined) started.push({ id, key, owner });
        } catch {
          // Something is down: nobody has been told of this task.
          await sleep(20);
        }
      }
      isOver = true;
      await killing;
      expect(new Set(killed)).toEqual(new Set(['server', 'gateway']));
      const ends = new Map<string, { readonly status: string; readonly end: string }>();
      await inLanes(started, 20, async ({ id, key, owner }) => {
        const task = clients.get(owner)!.task(id);
        const end = await task.result().then(
          ({ content }) => (content[0] as { text: string }).text,
          (error: { code?: unknown; data?: { reason?: string } }) => `${error.code} ${error.data?.reason}`,
        );
        const { status } = await task.get();
        expect([`done ${key}`, ...HONEST_ENDS]).toContain(end);
        expect(status).toBe(end === `done ${key}` ? 'completed' : 'failed');
        ends.set(id, { status, end });
        const stranger = clients.get(owner === 'ada' ? 'eve' : 'ada')!;
        await expect(stranger.task(id).get()).rejects.toMatchObject({
          code: -32602,
          message: 'Unknown task',
        });
        await expect(stranger.task(id).cancel()).rejects.toMatchObject({
          code: -32602,
          message: 'Unknown task',
        });
      });
      expect(new Set([...ends.values()].map(({ status }) => status))).toEqual(
        new Set(['completed', 'failed']),
      );
      // What has ended stays as it is, with the same end.
      await inLanes(started, 20, async ({ id, owner }) => {
        expect((await clients.get(owner)!.task(id).get()).status).toBe(ends.get(id)!.status);
      });
      const ran = readFileSync(runs, 'utf8').trim().split('\n');
      expect(new Set(ran).size).toBe(ran.length);
      const unrun = started.filter(({ key }) => !ran.includes(key));
      expect(new Set(unrun.map(({ id }) => ends.get(id)!.status))).not.toContain('completed');
    } finally {
      isOver = true;
      await killing.catch(() => {});
      await Promise.all([...clients.values()].map((client) => client.close()));
      await Promise.all([gateway.child.reap(), server.child.reap()]);
      await redis.stop();
      rmSync(folder, { recursive: true, force: true });
    }
  },
  300_000,
);

/** The server or the gateway ended, or the connection between them did. */
const HONEST_ENDS = ['SERVER_ENDED', 'CONNECTION_CLOSED', 'ADDRESS_UNAVAILABLE', 'TIMED_OUT'].map(
  (reason) => `-32603 ${reason}`,
);

async function inLanes<T>(
  items: readonly T[],
  lanes: number,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const left = [...items];
  const lane = async () => {
    for (let item = left.shift(); item !== undefined; item = left.shift()) await work(item);
  };
  await Promise.all(Array.from({ length: lanes }, lane));
}
