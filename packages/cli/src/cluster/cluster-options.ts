import { existsSync, readFileSync } from 'node:fs';
import { systemClock } from '@isthmus/sdk/internal/async/clock.js';
import { channelStore } from '@isthmus/sdk/internal/cluster/channel/channel-store.js';
import { IsthmusError, messageOf, reasonWithoutPath } from '@isthmus/sdk/internal/errors.js';
import type { Cluster, JoinClusterOptions } from '@isthmus/sdk/internal/transport/cluster.js';
import { type Command, Option } from 'commander';
import { CliError, EXIT, usageError } from '../cli-error.js';
import { toMs } from '../common-options.js';
import { env } from '../serve/option-values.js';
import type { WorkerLink } from '../workers/worker-link.js';
import { checkWorkerCluster, type WorkerFlags } from '../workers/worker-options.js';
import { type ClusterFlag, nameOfOption } from './cluster-of-file.js';

/** The options of `isthmus serve` about a cluster. */
export interface ClusterFlags {
  readonly cluster?: string;
  readonly clusterSecretFile?: string;
  readonly clusterName?: string;
  readonly clusterListen?: string;
  readonly clusterAdvertise?: string;
  readonly clusterTlsCert?: string;
  readonly clusterTlsKey?: string;
  readonly clusterTlsCa?: string;
  readonly clusterEvents?: 'shared' | 'owner';
  readonly drainDelay?: number;
  /** Those that a file has set. */
  readonly clusterOfFile?: ReadonlySet<string>;
}

export function addClusterOptions(command: Command): void {
  command
    .addOption(
      env(
        '--cluster <url>',
        'serve as one of many processes that share a Redis: redis://, rediss://, redis+sentinel://, redis+cluster://',
        'CLUSTER_URL',
      ),
    )
    .addOption(
      env(
        '--cluster-secret-file <file>',
        'a file with the secret that all processes share, or ISTHMUS_CLUSTER_SECRET; several, one a line: the first seals, all open',
        'CLUSTER_SECRET_FILE',
      ),
    )
    .addOption(
      env(
        '--cluster-name <name>',
        'processes with the same name belong together (default: default)',
        'CLUSTER_NAME',
      ),
    )
    .addOption(
      env(
        '--cluster-listen <address>',
        'where the other processes reach this one (default: http://0.0.0.0:0, a free port)',
        'CLUSTER_LISTEN',
      ),
    )
    .addOption(
      env(
        '--cluster-advertise <address>',
        'the address that the others use for it (default: the first address of this machine)',
        'CLUSTER_ADVERTISE',
      ),
    )
    .addOption(
      env('--cluster-tls-cert <file>', 'TLS between the processes: the certificate', 'CLUSTER_TLS_CERT'),
    )
    .addOption(env('--cluster-tls-key <file>', 'its key', 'CLUSTER_TLS_KEY'))
    .addOption(
      env(
        '--cluster-tls-ca <file>',
        'the authority that has signed the certificates of all',
        'CLUSTER_TLS_CA',
      ),
    )
    .addOption(
      new Option(
        '--cluster-events <where>',
        'shared: streams can be resumed after their process has died; owner: only while it lives (default: shared)',
      ).choices(['shared', 'owner']),
    )
    .option(
      '--drain-delay <ms>',
      'how long it goes on serving after SIGTERM, while balancers turn to the other processes (default: 5000)',
      toMs,
    );
}

/** What the command line says about the cluster. */
export interface ClusterPlan {
  readonly join: JoinClusterOptions;
  readonly drainMs: number;
  /** What must not be shown anywhere. */
  readonly secrets: readonly string[];
  /** Set in a worker of `--workers`. */
  readonly worker?: WorkerLink | undefined;
}

/** A cluster that this process has joined, and how it leaves. */
export interface JoinedCluster {
  readonly cluster: Cluster;
  readonly drainMs: number;
  /** Set in a worker of `--workers`. */
  readonly worker?: WorkerLink | undefined;
}

/** Undefined: no cluster is asked for. */
export function readClusterPlan(options: ClusterFlags & WorkerFlags): ClusterPlan | undefined {
  const given = process.env['ISTHMUS_CLUSTER_SECRET'];
  // Child processes must not inherit them.
  for (const name of ['SECRET', 'URL']) delete process.env[`ISTHMUS_CLUSTER_${name}`];
  const { cluster: url, worker } = options;
  if (url === undefined) {
    const idle = ABOUT_CLUSTER.find((name) => options[name] !== undefined);
    if (idle === undefined) return worker && planOfWorker(worker);
    const [what, hint] = options.clusterOfFile?.has(idle)
      ? ['gateway.cluster.url, --cluster or ISTHMUS_CLUSTER_URL', 'Leave it out, or say where the Redis is']
      : ['--cluster', 'Leave it out, or add --cluster redis://HOST:6379'];
    throw usageError(`${nameOfOption(options, idle)} needs ${what}`, hint);
  }
  if (worker) checkWorkerCluster(options);
  const secret = readSecrets(options, given);
  const tls = readTls(options);
  return {
    join: {
      url,
      secret,
      ...(options.clusterName !== undefined && { name: options.clusterName }),
      ...(options.clusterListen !== undefined && { listen: options.clusterListen }),
      ...(options.clusterAdvertise !== undefined && { advertise: options.clusterAdvertise }),
      ...(options.clusterEvents !== undefined && { events: options.clusterEvents }),
      ...(tls && { tls }),
    },
    drainMs: options.drainDelay ?? DRAIN_MS,
    secrets: [...secret, ...passwordsIn(url)],
    worker,
  };
}

/** Workers of one machine need no Redis: their parent has the store. All of them end together, so none of them waits. */
function planOfWorker(worker: WorkerLink): ClusterPlan {
  const { secret, stores } = worker;
  return {
    join: { store: channelStore(stores), secret, name: 'workers' },
    drainMs: 0,
    secrets: [secret],
    worker,
  };
}

export async function joinPlanned(
  plan: ClusterPlan | undefined,
  say: (line: string) => void,
): Promise<JoinedCluster | undefined> {
  if (!plan) return undefined;
  const stopTelling = systemClock.after(
    SLOW_MS,
    () => say('isthmus: the Redis of --cluster does not answer yet; it is tried for 10 s'),
    { background: true },
  );
  const { joinCluster } = await import('@isthmus/sdk/internal/transport/cluster.js');
  try {
    const { drainMs, worker } = plan;
    const cluster = await joinCluster(plan.join);
    if (worker) await cluster.members.say({ parent: worker.parent });
    const exposed = exposureOf(plan);
    if (exposed) say(exposed);
    return { cluster, drainMs, worker };
  } catch (error) {
    if (!(error instanceof IsthmusError)) throw error;
    if (error.code === 'INVALID_OPTION') throw usageError(messageOf(error));
    throw new CliError(EXIT.cannotConnect, messageOf(error), { hint: NOT_JOINED });
  } finally {
    stopTelling();
  }
}

/**
 * A warning if other machines may read what the processes say to each other: requests of clients with their tokens. A plain
 * listener has no TLS, and one at all addresses is also in networks that are not meant. One worker says it for all.
 */
export function exposureOf({ join, worker }: ClusterPlan): string | undefined {
  const { listen = 'http://0.0.0.0:0', tls, store } = join;
  const isEverywhere = /^https?:\/\/(0\.0\.0\.0|\[::\]):/.test(listen);
  if (tls || store || !isEverywhere || worker?.speaks === false) return undefined;
  const what = `the other processes reach this one at all addresses of this machine, without TLS (--cluster-listen ${listen})`;
  const who =
    'Who can read the traffic of one of these networks can read the requests and the tokens of clients';
  const how = 'Set --cluster-listen to the address of a private network, or --cluster-tls-cert, -key and -ca';
  return `isthmus: warning: ${what}. ${who}. ${how}`;
}

/** How long joining may take before a person is told what it waits for. */
const SLOW_MS = 2000;

/** A flag wins over a variable, and a variable over a file. */
function readSecrets(options: ClusterFlags, given: string | undefined): readonly string[] {
  const { clusterSecretFile, clusterOfFile } = options;
  const file = given && clusterOfFile?.has('clusterSecretFile') ? undefined : clusterSecretFile;
  const name = nameOfOption(options, 'clusterSecretFile');
  const where = file === undefined ? 'ISTHMUS_CLUSTER_SECRET' : `The file of ${name}`;
  const text = file === undefined ? given : readPem(name, file);
  if (text === undefined || (file === undefined && text === '')) {
    throw usageError('A cluster needs a secret that all processes share', SECRET_HINT);
  }
  const lines = text.split('\n').map((line) => line.trim());
  const secrets = lines
    .filter((line) => !line.startsWith('#'))
    .flatMap((line) => line.split(/[\s,]+/).filter(Boolean));
  const wrong = secrets.findIndex((secret) => secret.length < 32);
  if (secrets.length > 0 && wrong === -1) return secrets;
  const what =
    secrets.length === 0 ? 'holds no secret' : `holds a secret that is too short (number ${wrong + 1})`;
  throw usageError(`${where} ${what}: a secret has at least 32 characters`, SECRET_HINT);
}

function readTls(options: ClusterFlags): { cert: string; key: string; ca: string } | undefined {
  const flags = ['clusterTlsCert', 'clusterTlsKey', 'clusterTlsCa'] as const;
  const missing = flags.find((name) => options[name] === undefined);
  if (missing && flags.every((name) => options[name] === undefined)) return undefined;
  if (missing) throw usageError(`TLS between the processes needs ${nameOfOption(options, missing)}, too`);
  const [cert, key, ca] = flags.map((name) => readPem(nameOfOption(options, name), options[name]!)) as [
    string,
    string,
    string,
  ];
  return { cert, key, ca };
}

function readPem(flag: string, file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    // A secret that was typed instead of a path is not shown.
    const what = existsSync(file) ? ` ${file}` : '';
    throw usageError(`The file of ${flag}${what} cannot be read: ${reasonWithoutPath(error)}`);
  }
}

function passwordsIn(url: string): readonly string[] {
  const [, password] = /^[^/]*\/\/[^/@]*:([^/@]+)@/.exec(url) ?? [];
  if (password === undefined) return [];
  try {
    return [password, decodeURIComponent(password)];
  } catch {
    return [password];
  }
}

const ABOUT_CLUSTER: readonly ClusterFlag[] = [
  'clusterSecretFile',
  'clusterName',
  'clusterListen',
  'clusterAdvertise',
  'clusterTlsCert',
  'clusterTlsKey',
  'clusterTlsCa',
  'clusterEvents',
  'drainDelay',
];
const DRAIN_MS = 5000;
const SECRET_HINT =
  'Make one with: openssl rand -base64 32. Put it into a file for --cluster-secret-file, or into ISTHMUS_CLUSTER_SECRET';
const NOT_JOINED =
  'Check that Redis runs at the address of --cluster, and that its user and password are right';
