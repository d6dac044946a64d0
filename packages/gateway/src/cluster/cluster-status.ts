import type { Cluster } from '@isthmus/sdk/internal/cluster/cluster.js';
import type { ServerPlacement } from '../placement/placement.js';
import type { GatewayServerSpec } from '../server-definition.js';
import { digestDefinition } from './definition-digest.js';

/** The cluster as one of its processes sees it. */
export interface ClusterStatus {
  readonly name: string;
  /** The id of this process, another one after each start. */
  readonly replica: string;
  readonly state: 'ready' | 'draining';
  /** Legacy sessions of this process. */
  readonly sessions: number;
  /** Requests that this process has handed to others, and that others have handed to it. */
  readonly handedOn: number;
  readonly received: number;
  /** Sessions that this process has taken over from others. */
  readonly adopted: number;
  readonly store: {
    /** `given`: that of the parent process, with `--workers`. */
    readonly kind: 'redis' | 'given';
    readonly up: boolean;
    readonly latencyMs: number | undefined;
    readonly failures: number;
  };
  readonly members: readonly ClusterMemberStatus[];
  /** Processes with the same name of the cluster in the same Redis, and another secret. */
  readonly strangers: readonly string[];
  /** A digest of the definition of each server. Processes with the same configuration have the same digests. */
  readonly definitions: Readonly<Record<string, string>>;
  /** Where the processes of each server are. */
  readonly placements: Readonly<Record<string, ServerPlacement>>;
}

export interface ClusterMemberStatus {
  readonly replica: string;
  readonly host: string;
  readonly address: string;
  readonly version: string;
  readonly state: 'ready' | 'draining';
  /** ISO 8601. */
  readonly startedAt: string;
}

export function clusterStatus(
  cluster: Cluster,
  specs: readonly GatewayServerSpec[],
  placements: ClusterStatus['placements'],
): ClusterStatus {
  const { name, keys, members, sessions, counts, store, storeKind } = cluster;
  const { isUp, latencyMs, failures } = store.health;
  const { handedOn, received, adopted } = counts;
  return {
    name,
    replica: members.self,
    state: members.own.state,
    sessions: sessions.size,
    handedOn,
    received,
    adopted,
    store: { kind: storeKind, up: isUp, latencyMs, failures },
    members: members.all
      .map(({ id, host, address, version, state, startedAt }) => ({
        replica: id,
        host,
        address,
        version,
        state,
        startedAt: new Date(startedAt).toISOString(),
      }))
      .sort((a, b) => a.startedAt.localeCompare(b.startedAt)),
    strangers: members.strangers,
    definitions: Object.fromEntries(specs.map((spec) => [spec.name, digestDefinition(keys, spec)])),
    placements,
  };
}
