import { onTestFinished } from 'vitest';
import { eventually } from '../../../../test/support/until.js';
import type { HttpListenOptions, Served, ServeOptions, Server } from '../../src/index.js';
import { http, serve } from '../../src/index.js';
import {
  type Cluster,
  type ClusterStore,
  type JoinClusterOptions,
  joinCluster,
  memoryStore,
} from '../../src/transport/cluster.js';
import { type Answer, ask, initialize, legacy, open, type Stream } from './http-server.js';

export const SECRET = 'a secret of a test, with enough characters';

/** One process of a cluster, as far as a test can have several in one. */
export interface TestMember {
  readonly cluster: Cluster;
  readonly served: Served;
  readonly url: string;
  readonly id: string;
  /** Ends it as a killed process ends: it says nothing to anybody. */
  kill(): Promise<void>;
  /** Cuts it off from the store, and connects it again. */
  readonly store: CuttableStore;
}

export interface ClusterOptions {
  readonly join?: Partial<JoinClusterOptions>;
  readonly http?: HttpListenOptions;
  readonly serve?: ServeOptions;
}

/** Members with a server each, made by the same function. All know each other. */
export async function startMembers(
  count: number,
  create: () => Server,
  options: ClusterOptions = {},
): Promise<TestMember[]> {
  const store = options.join?.store ?? memoryStore();
  const members: TestMember[] = [];
  for (let index = 0; index < count; index += 1) {
    members.push(await startMember(create(), { ...options, join: { ...options.join, store } }));
  }
  await eventually(() => {
    for (const { cluster } of members)
      if (cluster.members.all.length < count) throw new Error('not all joined');
  });
  return members;
}

export async function startMember(server: Server, options: ClusterOptions): Promise<TestMember> {
  const store = cuttable(options.join?.store ?? memoryStore());
  const cluster = await joinCluster({ secret: SECRET, ...options.join, store });
  const served = await serve(server, http({ port: 0, ...options.http }), { ...options.serve, cluster });
  onTestFinished(async () => {
    await served.close({ graceMs: 0 });
    await cluster.leave();
  });
  return {
    cluster,
    served,
    url: served.addresses[0]!,
    get id() {
      return cluster.members.self;
    },
    store,
    async kill() {
      store.cut = true;
      await Promise.all([cluster.leave(), served.close({ graceMs: 0 })]);
    },
  };
}

export interface CuttableStore extends ClusterStore {
  cut: boolean;
  /** What was called while it was cut off. */
  readonly refused: readonly string[];
}

/** A store that can be out of reach for one member. */
function cuttable(store: ClusterStore): CuttableStore {
  const state = { cut: false, refused: [] as string[] };
  return new Proxy(store as CuttableStore, {
    get(_, name: keyof CuttableStore) {
      if (name === 'cut' || name === 'refused') return state[name];
      const member: unknown = store[name as keyof ClusterStore];
      if (typeof member !== 'function') return member;
      return (...args: unknown[]) => {
        if (state.cut && name !== 'subscribe' && name !== 'onBack') {
          state.refused.push(String(name));
          return Promise.reject(new Error('cut off'));
        }
        return member.apply(store, args);
      };
    },
    set(_, name, value: boolean) {
      if (name === 'cut') state.cut = value;
      return true;
    },
  });
}

/** A legacy session whose requests go to one address after the other, as a balancer without stickiness sends them. */
export interface WanderingSession {
  readonly id: string;
  readonly headers: Record<string, string>;
  /** `at`: the number of the address; otherwise the next one. */
  post(message: unknown, at?: number): Promise<Answer>;
  open(message: unknown, at?: number): Promise<Stream>;
  get(more?: Record<string, string>, at?: number): Promise<Stream>;
  delete(at?: number): Promise<Answer>;
}

export async function openWandering(
  urls: readonly string[],
  options: { revision?: string; capabilities?: object; headers?: Record<string, string> } = {},
): Promise<WanderingSession> {
  const { revision = '2025-11-25', capabilities = {}, headers = {} } = options;
  let turn = 0;
  const next = (at?: number) => {
    turn += 1;
    return urls[(at ?? turn) % urls.length]!;
  };
  const welcome = await ask(urls[0]!, legacy(initialize('init', revision, capabilities), headers));
  const id = String(welcome.headers['mcp-session-id']);
  const version: Record<string, string> =
    revision >= '2025-06-18' ? { 'mcp-protocol-version': revision } : {};
  const own: Record<string, string> = { ...headers, 'mcp-session-id': id, ...version };
  const session: WanderingSession = {
    id,
    headers: own,
    post: (message, at) => ask(next(at), legacy(message, own)),
    open: (message, at) => open(next(at), legacy(message, own)),
    get: (more, at) =>
      open(next(at), { method: 'GET', headers: { accept: 'text/event-stream', ...own, ...more } }),
    delete: (at) => ask(next(at), { method: 'DELETE', headers: own }),
  };
  await session.post({ jsonrpc: '2.0', method: 'notifications/initialized' });
  return session;
}
