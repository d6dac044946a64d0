import { type Clock, within } from '../../../async/clock.js';
import { createDeferred, type Deferred } from '../../../async/deferred.js';
import { type Cluster, PEER_PROTOCOL } from '../../../cluster/cluster.js';
import type { Member } from '../../../cluster/member-list.js';
import { decodeLine } from '../../../wire/codec.js';
import type { ServeAs } from '../../peers/envelope.js';
import type { PeerFailure } from '../../peers/peer-call.js';
import { PeerExchange } from '../../peers/peer-exchange.js';
import type { Peers } from '../../peers/peers.js';
import type { WholeRequest } from './endpoint-replicas.js';
import { type ForwardedRequest, forwardRequest } from './forward.js';

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
  readonly #underWay = new Set<ForwardedRequest>();
  /** Set while somebody waits for the last request. */
  #idle: Deferred<void> | undefined;
  #isStopped = false;

  constructor(options: HandoverOptions) {
    this.#options = options;
  }

  /** Undefined: the request was answered. A failure: nothing was sent to the client. */
  async to(member: Member, whole: WholeRequest, as?: ServeAs): Promise<PeerFailure | undefined> {
    if (member.protocol !== PEER_PROTOCOL) {
      const why = `it speaks version ${member.protocol} of the protocol between members`;
      return { kind: 'unreachable', why };
    }
    const { cluster, peers, service } = this.#options;
    cluster.counts.handedOn += 1;
    const began = performance.now();
    let hasBegun = false;
    const onBegin = () => {
      hasBegun = true;
      cluster.onHandedOn?.(performance.now() - began, true);
    };
    const forwarded = forwardRequest(peers.client, member, service, whole, { as, onBegin });
    this.#underWay.add(forwarded);
    try {
      return await forwarded.over;
    } finally {
      if (!hasBegun) cluster.onHandedOn?.(performance.now() - began, false);
      this.#underWay.delete(forwarded);
      if (this.#underWay.size === 0) this.#tellIdle();
    }
  }

  #tellIdle(): void {
    this.#idle?.resolve();
    this.#idle = undefined;
  }

  /** This process ends: streams that would not end by themselves are ended. */
  stop(): void {
    if (this.#isStopped) return;
    this.#isStopped = true;
    for (const forwarded of [...this.#underWay]) if (isEndless(forwarded.whole)) forwarded.end();
  }

  /** Settles when no other member works on a request of a client of this process. */
  async idle(): Promise<void> {
    if (this.#underWay.size === 0) return;
    this.#idle ??= createDeferred();
    await this.#idle.promise;
  }

  /** The same, with a second attempt. A member that refuses connections twice in a row is dead. */
  async twice(member: Member, whole: WholeRequest, as?: ServeAs): Promise<PeerFailure | undefined> {
    const first = await this.to(member, whole, as);
    if (first?.kind !== 'refused') return first;
    await this.pause(FIRST_PAUSE_MS);
    const second = await this.to(member, whole, as);
    if (second?.kind === 'refused') await this.#options.cluster.members.fence(member.id);
    return second;
  }

  /** Hands a request to any member that is ready, as if the client had sent it there. False: there is none. */
  async toAny(whole: WholeRequest): Promise<boolean> {
    const { members } = this.#options.cluster;
    // Two processes that both end must not send it to and fro.
    if (whole.admitted.exchange instanceof PeerExchange) return false;
    const ready = members.all.filter(({ id, state }) => state === 'ready' && !members.isSelf(id));
    for (const member of shuffled(ready)) if (!(await this.to(member, whole, 'client'))) return true;
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

/** A stream that its client opens again elsewhere, or a subscription. */
function isEndless({ admitted, body }: WholeRequest): boolean {
  if (admitted.exchange.method === 'GET') return true;
  const message = body && decodeLine(body);
  return message?.kind === 'request' && message.method === 'subscriptions/listen';
}

function shuffled<T>(items: readonly T[]): T[] {
  return items
    .map((item) => ({ item, at: Math.random() }))
    .sort((a, b) => a.at - b.at)
    .map(({ item }) => item);
}

export const FIRST_PAUSE_MS = 50;
