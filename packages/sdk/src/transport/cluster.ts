/**
 * Many processes that clients cannot tell apart: `isthmus/cluster`.
 * @module
 */
import { hostname } from 'node:os';
import { checkedOptions, invalidArgument, type OptionNames } from '../arguments.js';
import { type Clock, systemClock } from '../async/clock.js';
import { assembleCluster, type Cluster } from '../cluster/cluster.js';
import type { ClusterStore } from '../cluster/store.js';
import { VERSION } from '../version.js';
import { registerReplicas } from './http-server/replicas/endpoint-replicas.js';
import { ReplicaRouter } from './http-server/replicas/replica-router.js';
import { PeerClient } from './peers/peer-client.js';
import { PeerServer, type PeerTls, readListen } from './peers/peer-server.js';
import { registerPeers } from './peers/peers.js';

export type { Cluster } from '../cluster/cluster.js';
export { memoryStore } from '../cluster/memory-store.js';
export type { ClusterStore } from '../cluster/store.js';
export type { PeerTls } from './peers/peer-server.js';

/** How a process joins a cluster. */
export interface JoinClusterOptions {
  /** Redis 7 or Valkey: `redis://`, `rediss://`, `redis+sentinel://HOST1,HOST2/NAME`, `redis+cluster://HOST1,HOST2`. */
  readonly url?: string;
  /** Instead of `url`: a store of your own, or `memoryStore()` for members in one process. */
  readonly store?: ClusterStore;
  /** At least 32 random characters, the same for all members. Of several the first seals, and all open. */
  readonly secret: string | readonly string[];
  /** Members with the same name belong together. Default `default`. */
  readonly name?: string;
  /** Where this member listens for the others: `http://HOST:PORT`. Default `http://0.0.0.0:0`, with `store` on 127.0.0.1. */
  readonly listen?: string;
  /** The address that the others use for it. Default: the first address of this machine, with the real port. */
  readonly advertise?: string;
  /** Members talk to each other over TLS. */
  readonly tls?: PeerTls;
  /** `shared` (default): a stream can be resumed after its member has died. `owner`: only while it lives. */
  readonly events?: 'shared' | 'owner';
  readonly clock?: Clock;
}

/**
 * Joins a cluster, so that this process and the others serve as one, behind any balancer. Rejects when the store does not
 * answer within ten seconds.
 *
 * @example
 * ```ts
 * import { createServer, http, serve } from '@isthmus/sdk';
 * import { joinCluster, memoryStore } from '@isthmus/sdk/cluster';
 *
 * const secret = process.env['ISTHMUS_CLUSTER_SECRET'] ?? 'only-for-this-example-0123456789';
 * const cluster = await joinCluster({ store: memoryStore(), secret }); // in production: { url: 'redis://…', secret }
 * const server = createServer({ name: 'hello', version: '1.0.0' });
 * const served = await serve(server, http({ port: 0 }), { cluster });
 *
 * console.log(cluster.members.all.length); // prints: 1
 * await served.close();
 * await cluster.leave();
 * ```
 */
export async function joinCluster(given: JoinClusterOptions): Promise<Cluster> {
  const options = checkedOptions('joinCluster', given, JOIN_OPTIONS);
  const { clock = systemClock, name = 'default', tls, events = 'shared' } = options;
  if (!/^[\w.-]{1,64}$/.test(name)) {
    throw invalidArgument('joinCluster: name has up to 64 letters, digits, dots, dashes and underscores');
  }
  if (events !== 'shared' && events !== 'owner') {
    throw invalidArgument(`joinCluster: events must be shared or owner, got ${String(events)}`);
  }
  const listen = options.listen ?? (options.store ? 'http://127.0.0.1:0' : 'http://0.0.0.0:0');
  readListen(listen);
  if (options.advertise !== undefined) readListen(options.advertise);
  const store = await openStore(options, name);
  const peers: { client?: PeerClient; server?: PeerServer } = {};
  const cluster = await assembleCluster({
    name,
    secrets: options.secret,
    store,
    ownsStore: options.store === undefined,
    events: events === 'shared',
    clock,
    facts: { version: VERSION, host: hostname() },
    async openPeers(keys, members) {
      const client = await PeerClient.load({ keys, members, tls, clock });
      const isSelf = (id: string) => members().isSelf(id);
      const server = new PeerServer({ listen, tls, keys, clock, isSelf, now: () => members().now });
      const address = await server.open();
      Object.assign(peers, { client, server });
      return {
        address: options.advertise ?? address,
        async close(isTold) {
          await client.close();
          await server.close(isTold);
        },
      };
    },
  }).catch(async (error: unknown) => {
    if (!options.store) await store.close();
    throw error;
  });
  const client = peers.client!;
  cluster.members.onChange(() => client.reviewMembers());
  const both = { client, server: peers.server! };
  registerPeers(cluster, both);
  registerReplicas(cluster, (endpoint) => new ReplicaRouter(cluster, both, endpoint));
  return cluster;
}

async function openStore({ url, store, clock }: JoinClusterOptions, name: string): Promise<ClusterStore> {
  if (store && url === undefined) return store;
  if (url === undefined || store) throw invalidArgument('joinCluster needs either a url or a store');
  const { redisStore } = await import('../cluster/redis/redis-store.js');
  return redisStore({ url, name, ...(clock && { clock }) });
}

const JOIN_OPTIONS: OptionNames<JoinClusterOptions> = {
  url: true,
  store: true,
  secret: true,
  name: true,
  listen: true,
  advertise: true,
  tls: true,
  events: true,
  clock: true,
};
