import type { Cluster } from '../../../cluster/cluster.js';
import type { Member } from '../../../cluster/member-list.js';
import type { HomeRequest } from '../../../exchange/connection.js';
import { PeerExchange } from '../../peers/peer-exchange.js';
import { busy } from '../exchange/admitted-request.js';
import type { ReplicatedEndpoint, WholeRequest } from './endpoint-replicas.js';
import type { Handover } from './handover.js';

export interface HomesOptions {
  readonly cluster: Cluster;
  readonly endpoint: ReplicatedEndpoint;
  readonly handover: Handover;
}

/** Hands requests to the member that is their home, where an endpoint has homes. */
export class Homes {
  readonly #options: HomesOptions;

  constructor(options: HomesOptions) {
    this.#options = options;
  }

  /** The home of a request, if it is another member. A request that was handed on is served where it has come. */
  find({ admitted }: WholeRequest, request: Omit<HomeRequest, 'principal'>): Member | undefined {
    const { home } = this.#options.endpoint;
    if (!home || admitted.exchange instanceof PeerExchange) return undefined;
    const { method, params, except } = request;
    const id = home({ method, params, principal: admitted.principal, except });
    if (id === undefined) return undefined;
    const { members } = this.#options.cluster;
    const member = members.find(id);
    return member && !members.isSelf(member.id) ? member : undefined;
  }

  /**
   * Hands a request to its home. A home that is dead is replaced by the next one. Calls `serve` if that is this process.
   * A home that lives and cannot be reached is not replaced: what it remembers is there.
   */
  async route(
    whole: WholeRequest,
    request: Omit<HomeRequest, 'principal'>,
    serve: () => void,
  ): Promise<void> {
    const { handover } = this.#options;
    const except = new Set<string>();
    for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt += 1) {
      const member = this.find(whole, { ...request, except });
      if (!member) return serve();
      const failure = await handover.twice(member, whole, 'client');
      if (!failure) return;
      // A process that listens refuses no connection.
      if (failure.kind === 'refused') except.add(member.id);
      else await handover.pause(PAUSE_MS * attempt);
    }
    busy(whole.admitted, 'The process that has what this server remembers cannot be reached');
  }
}

/** Sessions of a principal have the same home, whatever their requests are. */
export const NEW_SESSION = { method: 'initialize', params: undefined } as const;
const MAX_ATTEMPTS = 5;
const PAUSE_MS = 100;
