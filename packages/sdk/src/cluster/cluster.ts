import type { Clock } from '../async/clock.js';
import { IsthmusError } from '../errors.js';
import { type ClusterKeys, createClusterKeys } from './cluster-keys.js';
import { EventLogs } from './event-log.js';
import { type GuardedStore, guardStore } from './guard-store.js';
import type { MemberFacts } from './member-list.js';
import { Members } from './members.js';
import { News } from './news.js';
import { OwnedSessions } from './owned-sessions.js';
import type { ClusterStore } from './store.js';

/** Several processes that clients cannot tell apart. `joinCluster` makes one. */
export interface Cluster extends AsyncDisposable {
  readonly name: string;
  readonly keys: ClusterKeys;
  readonly store: GuardedStore;
  /** `given`: the store was given to `joinCluster`. For a worker it is that of its parent process. */
  readonly storeKind: 'redis' | 'given';
  readonly members: Members;
  readonly sessions: OwnedSessions;
  readonly news: News;
  /** Undefined: events are kept by the owner of a session only. */
  readonly events: EventLogs | undefined;
  /** What this member has done for the cluster. */
  readonly counts: ClusterCounts;
  /**
   * Called for each request that was handed to another member: when its answer begins (`isDone`), or when there will be
   * none.
   */
  onHandedOn: ((ms: number, isDone: boolean) => void) | undefined;
  /** Tells the others that this member is about to go: it gets no new sessions and is no home any more. */
  drain(): Promise<void>;
  /** Leaves the cluster. A second call is harmless. */
  leave(): Promise<void>;
}

export interface ClusterCounts {
  /** Sessions that this member has taken over, and those that it could not. */
  adopted: number;
  notAdopted: number;
  /** Requests that were handed to other members, and requests that other members have handed to this one. */
  handedOn: number;
  received: number;
  /** Requests whose session could not be reached in time. */
  notReached: number;
}

export interface AssembleOptions {
  readonly name: string;
  readonly secrets: string | readonly string[];
  readonly store: ClusterStore;
  /** Whether the store ends with the cluster. */
  readonly ownsStore: boolean;
  readonly events: boolean;
  readonly clock: Clock;
  /** Opens the private listener of this member, and returns its address for the others. */
  openPeers(keys: ClusterKeys, members: () => Members): Promise<PeerListener>;
  readonly facts: Omit<
    MemberFacts,
    'formerly' | 'address' | 'protocol' | 'state' | 'servers' | 'secrets' | 'startedAt'
  >;
}

/** The private listener of a member. */
export interface PeerListener {
  /** As the others reach it. */
  readonly address: string;
  /** `isTold`: the others hear that this member has left. */
  close(isTold: boolean): Promise<void>;
}

/** Puts a cluster together and joins it. Rejects when the store cannot be reached. */
export async function assembleCluster(options: AssembleOptions): Promise<Cluster> {
  const { name, clock } = options;
  const keys = createClusterKeys(options.secrets);
  const store = guardStore(options.store, clock);
  let members: Members | undefined;
  const peers = await options.openPeers(keys, () => members!);
  const facts: Omit<MemberFacts, 'formerly' | 'startedAt'> = {
    ...options.facts,
    address: peers.address,
    protocol: PEER_PROTOCOL,
    state: 'ready',
    servers: {},
    secrets: keys.names,
  };
  members = new Members({ store, keys, clock, facts });
  const sessions = new OwnedSessions({ store, keys, members, clock });
  const known = members;
  let leaving: Promise<void> | undefined;
  const leave = async () => {
    await sessions.settled();
    const isTold = await known.leave();
    sessions.close();
    await peers.close(isTold);
    if (options.ownsStore) await store.close();
  };
  const cluster: Cluster = {
    name,
    keys,
    store,
    storeKind: options.ownsStore ? 'redis' : 'given',
    members,
    sessions,
    news: new News({ store, keys, members, clock }),
    events: options.events ? new EventLogs({ store, keys, clock }) : undefined,
    counts: { adopted: 0, notAdopted: 0, handedOn: 0, received: 0, notReached: 0 },
    onHandedOn: undefined,
    drain: () => known.say({ state: 'draining' }),
    leave() {
      leaving ??= leave();
      return leaving;
    },
    [Symbol.asyncDispose]: () => cluster.leave(),
  };
  const until = clock.now() + JOIN_MS;
  let hasJoined = await members.join();
  while (!hasJoined && clock.now() < until) {
    await new Promise<void>((resolve) => void clock.after(JOIN_PAUSE_MS, resolve));
    hasJoined = await members.refresh();
  }
  if (hasJoined) return cluster;
  const why = members.problem ?? 'its store does not answer';
  await cluster.leave();
  throw new IsthmusError('ADDRESS_UNAVAILABLE', `The cluster ${name} cannot be joined: ${why}`);
}

/** Members of another version of this number do not talk to each other. */
export const PEER_PROTOCOL = 1;
const JOIN_MS = 10_000;
const JOIN_PAUSE_MS = 250;
