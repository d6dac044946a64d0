import { Child, ISTHMUS } from '../support/child.js';
import { hasNginx, startNginx } from '../support/nginx.js';
import { hasRedis, type RunningRedis, startRedis } from '../support/redis.js';
import { eventually } from '../support/until.js';

/** A cluster needs both. In CI they are installed, and ISTHMUS_REDIS=required makes their absence a failure. */
export const hasClusterTools = hasRedis && hasNginx;

export const CLUSTER_SECRET = 'a-secret-for-tests-with-enough-characters';

/** One `isthmus serve` of a cluster. */
export interface Replica {
  readonly child: Child;
  /** `http://127.0.0.1:PORT/mcp`. */
  readonly url: string;
  readonly origin: string;
  status(): Promise<ReplicaStatus>;
}

export interface ReplicaStatus {
  readonly ready: boolean;
  readonly cluster: {
    readonly replica: string;
    readonly state: string;
    readonly sessions: number;
    readonly adopted: number;
    readonly handedOn: number;
    readonly members: readonly { readonly replica: string; readonly state: string }[];
  };
}

/** Replicas behind nginx, which sends each request to the next one. */
export interface RunningCluster {
  readonly url: string;
  readonly redis: RunningRedis;
  readonly replicas: Replica[];
  /** Starts one more, which the balancer does not know. */
  add(args?: readonly string[]): Promise<Replica>;
  stop(): Promise<void>;
}

export interface ClusterSetup {
  readonly count?: number;
  /** What is served, after the other options: `['--', 'node', 'server.js']`. Default: the demo. */
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

export async function startCluster({
  count = 3,
  args = [],
  env = {},
}: ClusterSetup = {}): Promise<RunningCluster> {
  const redis = await startRedis();
  const add = (more: readonly string[] = args) => startReplica(redis.url, more, env);
  const replicas = await Promise.all(Array.from({ length: count }, () => add()));
  await allKnown(replicas, count);
  const nginx = await startNginx(roundRobin(replicas.map(({ origin }) => new URL(origin).host)));
  return {
    url: `${nginx.origin}/mcp`,
    redis,
    replicas,
    add: async (more) => {
      const replica = await add(more);
      replicas.push(replica);
      return replica;
    },
    async stop() {
      await nginx.stop();
      await Promise.all(replicas.map(({ child }) => child.reap()));
      await redis.stop();
    },
  };
}

/** No connections are kept, so that each request goes to the next replica. */
export function roundRobin(hosts: readonly string[]): { readonly http: string; readonly server: string } {
  const servers = hosts.map((host) => `server ${host} max_fails=1 fail_timeout=1s;`).join(' ');
  return {
    http: `upstream isthmus { ${servers} }`,
    server: `location / {
      proxy_pass http://isthmus;
      proxy_http_version 1.1;
      proxy_set_header Connection "";
      proxy_set_header Host $host;
      proxy_buffering off;
      proxy_read_timeout 1h;
      proxy_connect_timeout 1s;
      client_max_body_size 4m;
    }`,
  };
}

/** Starts one `isthmus serve --cluster` on a free port. */
export async function startReplica(
  redisUrl: string,
  args: readonly string[] = [],
  env: Readonly<Record<string, string>> = {},
): Promise<Replica> {
  const own = [
    'serve',
    '--port',
    '0',
    '--json',
    '-q',
    '--cluster-listen',
    'http://127.0.0.1:0',
    // Where commands are to find it, the test has a folder for its socket.
    ...(env['ISTHMUS_RUNTIME_DIR'] === undefined ? ['--no-control'] : []),
  ];
  const child = new Child(ISTHMUS, {
    args: [...own, '--drain-delay', '300', ...args],
    env: {
      PATH: process.env['PATH'] ?? '',
      HOME: process.env['HOME'] ?? '',
      ISTHMUS_CLUSTER_URL: redisUrl,
      ISTHMUS_CLUSTER_SECRET: CLUSTER_SECRET,
      ...env,
    },
  });
  await child.until('the addresses', () => child.messages.length > 0);
  const [url] = (child.messages[0] as unknown as { addresses: [string] }).addresses;
  const { origin } = new URL(url);
  const status = async () => (await (await fetch(`${origin}/status`)).json()) as ReplicaStatus;
  return { child, url, origin, status };
}

export async function allKnown(replicas: readonly Replica[], count: number): Promise<void> {
  await eventually(async () => {
    const all = await Promise.all(replicas.map(({ status }) => status()));
    for (const { cluster } of all) {
      if (cluster.members.length !== count)
        throw new Error(`${cluster.members.length} members, not ${count}`);
    }
  });
}
