import type { Clock } from '../../../async/clock.js';
import type { Cluster } from '../../../cluster/cluster.js';
import { isJsonObject } from '../../../wire/json-rpc.js';
import { type AdmittedRequest, busy } from '../exchange/admitted-request.js';
import type { ReplicatedEndpoint, WholeRequest } from './endpoint-replicas.js';
import { type Homes, NEW_SESSION } from './find-home.js';
import { FIRST_PAUSE_MS, type Handover } from './handover.js';
import { recordTtl } from './keep-session.js';

/** What happens to a request of a session. */
export type RoutedRequest =
  /** It is for this process. */
  | 'here'
  /** It was answered, or will be. */
  | 'answered'
  /** The session does not exist. */
  | 'unknown';

export interface OwnerSearchOptions {
  readonly cluster: Cluster;
  readonly endpoint: ReplicatedEndpoint;
  readonly handover: Handover;
  readonly homes: Homes;
  /** Whether this process ends, so that it takes nothing over. */
  isStopped(): boolean;
}

/**
 * Looks for the owner of a session that is not here, and hands the request to it. When the owner is gone, this process
 * takes the session over.
 */
export class OwnerSearch {
  readonly #options: OwnerSearchOptions;
  readonly #clock: Clock;
  /** Sessions that are not with the member that opened them. */
  readonly #moved = new Map<string, string>();
  readonly #takingOver = new Map<string, Promise<TakeOver>>();

  constructor(options: OwnerSearchOptions) {
    this.#options = options;
    this.#clock = options.endpoint.settings.clock;
  }

  /** Until the owner is found, or too much time has passed. */
  async route(id: string, opener: string, whole: WholeRequest): Promise<RoutedRequest> {
    const { cluster, endpoint, handover, isStopped } = this.#options;
    const { principal, exchange } = whole.admitted;
    let isWanted = true;
    exchange.onGone(() => {
      isWanted = false;
    });
    const until = this.#clock.now() + HOLD_MS;
    const trail: Trail = { owner: this.#moved.get(id) ?? opener, refusals: 0, until };
    for (let pauseMs = FIRST_PAUSE_MS; isWanted && this.#clock.now() < trail.until; ) {
      if (isStopped() && (await handover.toAny(whole))) return 'answered';
      if (endpoint.sessions.find(id, principal)) return 'here';
      const step = await this.#step(id, trail, whole);
      if (step === 'busy') break;
      if (step !== 'again' && step !== 'wait') return step;
      if (step === 'wait') await handover.pause(pauseMs);
      pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS);
    }
    if (isWanted) busy(whole.admitted, 'The process of this session cannot be reached');
    cluster.counts.notReached += isWanted ? 1 : 0;
    return 'answered';
  }

  async #step(id: string, trail: Trail, whole: WholeRequest): Promise<Step> {
    const { members } = this.#options.cluster;
    const { owner } = trail;
    const isElsewhere = owner !== undefined && !members.isSelf(owner);
    const member = isElsewhere ? members.find(owner) : undefined;
    if (member) {
      // It ends, and a call of the session still runs there: the request need not wait for that call.
      const as = trail.isHeld && this.#clock.now() > trail.until - HOLD_MS / 2 ? 'last' : undefined;
      const failure = await this.#options.handover.to(member, whole, as);
      if (!failure) return 'answered';
      // A member that is stopped keeps a request for as long as it counts as alive.
      if (this.#clock.now() > trail.until - HOLD_MS / 2 && !trail.isExtended) {
        trail.until = this.#clock.now() + HOLD_MS / 2;
        trail.isExtended = true;
      }
      if (failure.kind === 'not-here') trail.owner = undefined;
      if (failure.kind !== 'refused') return 'wait';
      // A process that listens refuses no connection. Twice in a row it is not a moment of its start or its end.
      trail.refusals += 1;
      if (trail.refusals < 2) return 'wait';
      return (await members.fence(member.id)) ? 'again' : 'wait';
    }
    if (isElsewhere && (await members.review(owner)) !== 'gone') return 'wait';
    const home = this.#options.homes.find(whole, NEW_SESSION);
    // The session goes on where the processes are that it needs.
    if (home) return (await this.#options.handover.twice(home, whole, 'client')) ? 'wait' : 'answered';
    const found = await this.#takeOver(id, owner, whole.admitted);
    if (found === 'unsure') return 'wait';
    if (found === 'unknown') return this.#withoutRecord(owner, whole);
    if (typeof found !== 'object') return found;
    trail.owner = found.by;
    trail.isHeld = true;
    if (!members.find(found.by)) return 'wait';
    this.#remember(id, found.by);
    return 'again';
  }

  /**
   * The store has no record of the session. It may have lost all records a moment ago: owners write them again. Or the
   * owner has lost the store, counts as gone, and works: a process that was stopped for long opens sessions before it has
   * connected to the store again.
   */
  async #withoutRecord(owner: string | undefined, whole: WholeRequest): Promise<Step> {
    const { members } = this.#options.cluster;
    await members.refresh();
    if (members.isUnsure) return 'wait';
    if (owner === undefined || members.isSelf(owner)) return 'unknown';
    if (members.find(owner)) return 'again';
    const past = members.findPast(owner);
    if (!past) return 'unknown';
    return (await this.#options.handover.to(past, whole)) ? 'unknown' : 'answered';
  }

  /** Several requests of a session may find at the same time that its owner is gone. */
  #takeOver(id: string, from: string | undefined, admitted: AdmittedRequest): Promise<TakeOver> {
    const known = this.#takingOver.get(id);
    if (known) return known;
    const taking = this.#claim(id, from, admitted).finally(() => this.#takingOver.delete(id));
    this.#takingOver.set(id, taking);
    return taking;
  }

  async #claim(id: string, from: string | undefined, admitted: AdmittedRequest): Promise<TakeOver> {
    const { cluster, endpoint, isStopped } = this.#options;
    const claimed = await cluster.sessions.claim(id, from, recordTtl(endpoint.settings));
    if (claimed.kind === 'held') return { by: claimed.by };
    if (claimed.kind !== 'mine') return claimed.kind;
    const { epoch, record } = claimed;
    if (isStopped()) {
      await cluster.sessions.giveBack(id, epoch);
      return 'unsure';
    }
    const revision = String(record['revision']);
    const memory = isJsonObject(record['memory']) ? record['memory'] : {};
    this.#moved.delete(id);
    const session = await endpoint.sessions.adopt({ id, epoch, revision, memory }, admitted, endpoint.accept);
    // This process has begun to end meanwhile, and has given the session back.
    if (!session && isStopped()) return 'unsure';
    if (session) cluster.counts.adopted += 1;
    else cluster.counts.notAdopted += 1;
    return session ? 'here' : 'busy';
  }

  #remember(id: string, member: string): void {
    this.#moved.delete(id);
    this.#moved.set(id, member);
    const [oldest] = this.#moved.keys();
    if (this.#moved.size > MAX_MOVED) this.#moved.delete(oldest!);
  }
}

/** What is known of the owner so far. */
interface Trail {
  /** Undefined: only the store knows. */
  owner: string | undefined;
  refusals: number;
  /** When the request is given up. */
  until: number;
  isExtended?: boolean;
  /** The store says that a member has it which has said that it does not serve it. */
  isHeld?: boolean;
}

type Step = RoutedRequest | 'busy' | 'again' | 'wait';

/** What has become of a session whose owner is gone. */
type TakeOver = 'here' | 'unknown' | 'unsure' | 'busy' | { readonly by: string };

/** How long a request waits for the owner of its session. Official clients give up for good when they get an error. */
export const HOLD_MS = 8000;
const LONGEST_PAUSE_MS = 400;
const MAX_MOVED = 100_000;
