import type { Cluster } from '../../cluster/cluster.js';
import { IsthmusError } from '../../errors.js';
import type { PeerClient } from './peer-client.js';
import type { PeerServer } from './peer-server.js';

/** How a member of a cluster reaches the others, and is reached by them. */
export interface Peers {
  readonly client: PeerClient;
  readonly server: PeerServer;
}

/** The cluster itself knows nothing of HTTP. */
export function registerPeers(cluster: Cluster, peers: Peers): void {
  known.set(cluster, peers);
}

export function peersOf(cluster: Cluster): Peers {
  const peers = known.get(cluster);
  if (peers) return peers;
  throw new IsthmusError('INVALID_OPTION', 'cluster must be what joinCluster returned');
}

const known = new WeakMap<Cluster, Peers>();
