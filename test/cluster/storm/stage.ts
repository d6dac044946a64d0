import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Child, fixture } from '../../support/child.js';
import { startNginx } from '../../support/nginx.js';
import { freePort, type RunningRedis, startRedis } from '../../support/redis.js';
import { startTcpProxy, type TcpProxy } from '../../support/tcp-proxy.js';
import { CLUSTER_SECRET, roundRobin } from '../support.js';

/** Replicas at addresses that nginx knows, and one Redis. Each of them can end and come back. */
export interface Stage {
  readonly url: string;
  /** By place. Undefined while there is none. */
  readonly replicas: (Child | undefined)[];
  redis: RunningRedis;
  /** The network between the replicas and Redis. */
  readonly link: TcpProxy;
  /** Starts the replica of a place again, and waits until it answers. */
  revive(place: number): Promise<void>;
  /** Ends Redis and starts it again at the same port. It has forgotten everything. */
  restartRedis(): Promise<void>;
  /** What should not be in Redis: keys without an end, and channels with more subscribers than replicas. */
  leftovers(): Promise<readonly string[]>;
  /** How often each token was run. */
  runs(): ReadonlyMap<string, number>;
  /** Keeps what the replicas have noted, for people: ISTHMUS_CHAOS_TRACE is a folder. */
  keepTrace(name: string): void;
  close(): Promise<void>;
}

export async function openStage(count: number): Promise<Stage> {
  const folder = mkdtempSync(join(tmpdir(), 'isthmus-storm-'));
  const diary = join(folder, 'diary');
  writeFileSync(diary, '');
  const kept = process.env['ISTHMUS_CHAOS_TRACE'];
  const trace = join(folder, 'trace');
  const ports = await Promise.all(Array.from({ length: count }, () => freePort()));
  const redis = await startRedis();
  const link = await startTcpProxy(redis.port);
  const start = async (place: number) => {
    const child = new Child(fixture('replica-with-diary.mjs'), {
      args: [String(ports[place]), diary],
      env: {
        PATH: process.env['PATH'] ?? '',
        REDIS_URL: `redis://127.0.0.1:${link.port}`,
        CLUSTER_SECRET,
        ...(kept !== undefined && { TRACE: trace }),
      },
    });
    await child.until('its address', () => child.messages.length > 0);
    return child;
  };
  const replicas: (Child | undefined)[] = await Promise.all(ports.map((_, place) => start(place)));
  // What happens to Redis must not keep them from that.
  await Promise.all(replicas.map((child) => child!.until('all members', () => membersOf(child!) === count)));
  const nginx = await startNginx(roundRobin(ports.map((port) => `127.0.0.1:${port}`)));
  const stage: Stage = {
    url: `${nginx.origin}/mcp`,
    replicas,
    redis,
    link,
    async revive(place) {
      replicas[place] = await start(place);
    },
    async restartRedis() {
      await stage.redis.stop();
      stage.redis = await startRedis({ port: redis.port });
    },
    async leftovers() {
      const { command } = stage.redis;
      const keys = linesOf(await command('KEYS', '*'));
      const ends = await Promise.all(keys.map((key) => command('PTTL', key)));
      const channels = linesOf(await command('PUBSUB', 'SHARDCHANNELS'));
      const counts = await Promise.all(
        channels.map(async (channel) => linesOf(await command('PUBSUB', 'SHARDNUMSUB', channel))[1]),
      );
      return [
        ...keys.flatMap((key, at) => (ends[at] === '-1' ? [`${key} never expires`] : [])),
        ...channels.flatMap((channel, at) =>
          Number(counts[at]) > count ? [`${channel} has ${counts[at]} subscribers`] : [],
        ),
      ];
    },
    runs: () => countEach(readFileSync(diary, 'utf8').split('\n').filter(Boolean)),
    keepTrace: (name) => void (kept !== undefined && copyFileSync(trace, join(kept, name))),
    async close() {
      await nginx.stop();
      await Promise.all(replicas.map((child) => child?.reap()));
      await link.close();
      await stage.redis.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
  return stage;
}

/** How many members a replica knows. */
function membersOf({ messages }: Child): unknown {
  return messages.findLast((message) => 'members' in message)?.['members'];
}

function linesOf(text: string): readonly string[] {
  return text.split('\n').filter(Boolean);
}

function countEach(tokens: readonly string[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const token of tokens) counts.set(token, (counts.get(token) ?? 0) + 1);
  return counts;
}
