import { type Clock, within } from '../../../async/clock.js';
import { createDeferred } from '../../../async/deferred.js';
import { type Cluster, PEER_PROTOCOL } from '../../../cluster/cluster.js';
import type { Member } from '../../../cluster/members.js';
import type { PeerFailure } from '../../peers/peer-client.js';
import { PeerExchange } from '../../peers/peer-exchange.js';
import type { Peers } from '../../peers/peers.js';
import type { WholeRequest } from './endpoint-replicas.js';
import { forwardRequest } from './forward.js';

export interface HandoverOptions {
  readonly cluster: Cluster;
  readonly peers: Peers;
  /** The name of the endpoint for the other members. */
  readonly service: string;
  readonly clock: Clock;
}

/** Hands the requests of one endpoint to the same endpoint of other members. */
export class Handover {
  readonly #options: HandoverOptions;

  constructor(options: HandoverOptions) {
    this.#options = options;
  }

  /** Undefined: the request was answered. A failure: nothing was sent to the client. */
  async to(member: Member, whole: WholeRequest, isOpen = false): Promise<PeerFailure | undefined> {
    if (member.protocol !== PEER_PROTOCOL) {
      const why = `it speaks version ${member.protocol} of the protocol between members`;
      return { kind: 'unreachable', why };
    }
    const { cluster, peers, service } = this.#options;
    cluster.counts.handedOn += 1;
    return forwardRequest(peers.client, member, service, whole, isOpen);
  }

  /** The same, with a second attempt. A member that refuses connections twice in a row is dead. */
  async twice(member: Member, whole: WholeRequest, isOpen = false): Promise<PeerFailure | undefined> {
    const first = await this.to(member, whole, isOpen);
    if (first?.kind !== 'refused') return first;
    await this.pause(FIRST_PAUSE_MS);
    const second = await this.to(member, whole, isOpen);
    if (second?.kind === 'refused') await this.#options.cluster.members.fence(member.id);
    return second;
  }

  /** Hands a request to any member that is ready, as if the client had sent it there. False: there is none. */
  async toAny(whole: WholeRequest): Promise<boolean> {
    const { members } = this.#options.cluster;
    // Two processes that both end must not send it to and fro.
    if (whole.admitted.exchange instanceof PeerExchange) return false;
    const ready = members.all.filter(({ id, state }) => state === 'ready' && !members.isSelf(id));
    for (const member of shuffled(ready)) if (!(await this.to(member, whole, true))) return true;
    return false;
  }

  /** Waits for a while, or until members have come or gone. */
  async pause(ms: number): Promise<void> {
    const { cluster, clock } = this.#options;
    const changed = createDeferred<void>();
    const stop = cluster.members.onChange(() => changed.resolve());
    await within(clock, ms, changed.promise);
    stop();
  }
}

function shuffled<T>(items: readonly T[]): T[] {
  return items
    .map((item) => ({ item, at: Math.random() }))
    .sort((a, b) => a.at - b.at)
    .map(({ item }) => item);
}

export const FIRST_PAUSE_MS = 50;
