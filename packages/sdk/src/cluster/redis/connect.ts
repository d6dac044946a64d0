import { invalidArgument } from '../../arguments.js';
import { IsthmusError, messageOf } from '../../errors.js';
import type { RedisScript } from './scripts.js';

/** A connection to Redis, a group of Redis servers with sentinels, or a Redis cluster. */
export interface RedisConnection {
  /** Where it is, for people. It shows no password. */
  readonly place: string;
  /** Why there is no connection at the moment. */
  readonly problem: string | undefined;
  run(script: RedisScript, keys: readonly string[], args: readonly (string | Uint8Array)[]): Promise<unknown>;
  publish(channel: string, value: Uint8Array): Promise<void>;
  /** The library subscribes again by itself when the connection was lost. */
  subscribe(channel: string, onValue: (value: Uint8Array) => void): Promise<void>;
  unsubscribe(channel: string): Promise<void>;
  close(): void;
}

/** Opens a connection. Settles at once: while there is none, the library goes on trying, and commands fail. */
export async function connectRedis(url: string): Promise<RedisConnection> {
  const target = readRedisUrl(url);
  const library = await loadLibrary();
  const commands = clientFor(library, target);
  const subscriber = clientFor(library, target);
  let problem: string | undefined;
  const onError = (error: unknown) => {
    problem = messageOf(error);
  };
  for (const client of [commands, subscriber]) {
    // Failures are reported by the commands that fail.
    client.on('error', onError);
    client.connect().then(() => {
      problem = undefined;
    }, onError);
  }
  commands.on('ready', () => {
    problem = undefined;
  });
  return {
    place: target.nodes
      .map(({ host, port }) => `${host.includes(':') ? `[${host}]` : host}:${port}`)
      .join(', '),
    get problem() {
      return problem;
    },
    async run({ text, sha1 }, keys, args) {
      const options = { keys: [...keys], arguments: args.map(toArgument) };
      try {
        return await commands.evalSha(sha1, options);
      } catch (error) {
        if (!messageOf(error).startsWith('NOSCRIPT')) throw error;
        return commands.eval(text, options);
      }
    },
    async publish(channel, value) {
      await commands.sPublish(channel, toArgument(value));
    },
    async subscribe(channel, onValue) {
      await subscriber.sSubscribe(channel, onValue, true);
    },
    async unsubscribe(channel) {
      await subscriber.sUnsubscribe(channel);
    },
    close() {
      for (const client of [commands, subscriber]) {
        try {
          void Promise.resolve(client.destroy()).catch(() => {});
        } catch {
          // It is closed already.
        }
      }
    },
  };
}

/** What we use of the three kinds of clients. */
interface RedisClientLike {
  connect(): Promise<unknown>;
  on(event: 'error' | 'ready', listener: (error: Error) => void): unknown;
  evalSha(sha1: string, options: EvalOptions): Promise<unknown>;
  eval(text: string, options: EvalOptions): Promise<unknown>;
  sPublish(channel: string, value: string | Buffer): Promise<unknown>;
  sSubscribe(channel: string, onValue: (value: Buffer) => void, bufferMode: true): Promise<unknown>;
  sUnsubscribe(channel: string): Promise<unknown>;
  destroy(): unknown;
}

interface EvalOptions {
  readonly keys: string[];
  readonly arguments: (string | Buffer)[];
}

type RedisLibrary = typeof import('@redis/client');

async function loadLibrary(): Promise<RedisLibrary> {
  try {
    return await import('@redis/client');
  } catch (error) {
    throw new IsthmusError(
      'INVALID_OPTION',
      'A cluster on Redis needs the package @redis/client, which is not installed: npm install @redis/client',
      { cause: error },
    );
  }
}

function clientFor(
  { createClient, createSentinel, createCluster, RESP_TYPES }: RedisLibrary,
  to: RedisTarget,
) {
  const { isTls, username, password, database } = to;
  const common = {
    ...(username !== undefined && { username }),
    ...(password !== undefined && { password }),
    socket: {
      connectTimeout: CONNECT_TIMEOUT_MS,
      // A connection on which nothing arrives for so long is replaced. There is a ping in between.
      socketTimeout: SILENCE_MS,
      reconnectStrategy: (retries: number) => Math.min(50 * 2 ** Math.min(retries, 5), 1000),
      ...(isTls ? { tls: true as const } : {}),
    },
    pingInterval: PING_MS,
    // A command that cannot be sent now fails now.
    disableOfflineQueue: true,
    commandsQueueMaxLength: MAX_WAITING,
    commandOptions: { typeMapping: { [RESP_TYPES.BLOB_STRING]: Buffer } },
  };
  const [first] = to.nodes;
  if (to.kind === 'sentinel') {
    return createSentinel({
      name: to.name!,
      sentinelRootNodes: [...to.nodes],
      nodeClientOptions: { ...common, ...(database !== undefined && { database }) },
      sentinelClientOptions: { socket: common.socket },
      commandOptions: common.commandOptions,
    }) as unknown as RedisClientLike;
  }
  if (to.kind === 'cluster') {
    const { commandOptions, ...defaults } = common;
    return createCluster({
      rootNodes: to.nodes.map((node) => ({ socket: { ...node } })),
      defaults,
      commandOptions,
    }) as unknown as RedisClientLike;
  }
  return createClient({
    ...common,
    ...(database !== undefined && { database }),
    socket: { ...common.socket, ...first! },
  }) as unknown as RedisClientLike;
}

interface RedisTarget {
  readonly kind: 'single' | 'sentinel' | 'cluster';
  readonly isTls: boolean;
  readonly nodes: readonly { readonly host: string; readonly port: number }[];
  readonly username: string | undefined;
  readonly password: string | undefined;
  /** The name of the group, as its sentinels know it. */
  readonly name: string | undefined;
  readonly database: number | undefined;
}

/** Errors do not show the URL, since it may hold a password. */
export function readRedisUrl(url: string): RedisTarget {
  const [, scheme = '', form, credentials, hosts = '', path] =
    /^(rediss?)(?:\+(sentinel|cluster))?:\/\/(?:([^@/]*)@)?([^@/?#]+)(?:\/([^?#]*))?$/.exec(url) ?? [];
  if (scheme === '') throw invalidArgument(`The URL of the cluster is not valid; ${URL_FORMS}`);
  const kind = (form ?? 'single') as RedisTarget['kind'];
  const nodes = hosts.split(',').map((host) => readNode(host, kind === 'sentinel' ? 26_379 : 6379));
  if (kind === 'single' && nodes.length > 1) {
    throw invalidArgument(`Several hosts need redis+sentinel:// or redis+cluster://; ${URL_FORMS}`);
  }
  if (kind === 'sentinel' && !path) {
    throw invalidArgument(`redis+sentinel:// needs the name of the group after the hosts; ${URL_FORMS}`);
  }
  const database = kind === 'single' && path ? Number(path) : undefined;
  if (database !== undefined && !Number.isSafeInteger(database)) {
    throw invalidArgument(`The database in the URL of the cluster must be a number; ${URL_FORMS}`);
  }
  const [user, ...rest] = (credentials ?? '').split(':');
  return {
    kind,
    isTls: scheme === 'rediss',
    nodes,
    username: user ? decodeURIComponent(user) : undefined,
    password: rest.length > 0 ? decodeURIComponent(rest.join(':')) : undefined,
    name: kind === 'sentinel' ? decodeURIComponent(path!) : undefined,
    database,
  };
}

function readNode(text: string, defaultPort: number): { readonly host: string; readonly port: number } {
  const [, bracketed, plain, port] = /^(?:\[([^\]]+)\]|([^:[\]]+))(?::(\d{1,5}))?$/.exec(text) ?? [];
  const host = bracketed ?? plain;
  if (host === undefined)
    throw invalidArgument(`A host in the URL of the cluster is not valid; ${URL_FORMS}`);
  return { host, port: port === undefined ? defaultPort : Number(port) };
}

/** The library sends views of larger memory as they are only if they are buffers. */
function toArgument(value: string | Uint8Array): string | Buffer {
  if (typeof value === 'string') return value;
  return Buffer.isBuffer(value) ? value : Buffer.from(value.buffer, value.byteOffset, value.byteLength);
}

const URL_FORMS =
  'write redis://HOST:6379, rediss://USER:PASSWORD@HOST, redis+sentinel://HOST1,HOST2/NAME or redis+cluster://HOST1,HOST2';
const CONNECT_TIMEOUT_MS = 1000;
const PING_MS = 1000;
const SILENCE_MS = 3000;
/** Commands that wait for an answer. They are small. */
const MAX_WAITING = 10_000;
