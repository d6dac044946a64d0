import { within } from '../../../async/clock.js';
import type { Cluster } from '../../../cluster/cluster.js';
import type { Member } from '../../../cluster/member-list.js';
import { mintSessionId, openerOf } from '../../../cluster/session-id.js';
import type { HttpRoute } from '../../../era/classify/classify-http.js';
import { memberOfState } from '../../../era/modern/sealed-state.js';
import type { JsonObject } from '../../../wire/json-rpc.js';
import { PeerExchange } from '../../peers/peer-exchange.js';
import type { Peers } from '../../peers/peers.js';
import { RequestLimiter } from '../admission/request-limits.js';
import { type AdmittedRequest, busy, respondInternalError } from '../exchange/admitted-request.js';
import { NO_HEADERS } from '../exchange/event-writer.js';
import type { SessionConnection } from '../sessions/session-connection.js';
import type { SessionContinuity } from '../sessions/session-options.js';
import type { AdoptedSession } from '../sessions/sessions.js';
import type { EndpointReplicas, ReplicatedEndpoint, WholeRequest } from './endpoint-replicas.js';
import { Homes, NEW_SESSION } from './find-home.js';
import { HOLD_MS, OwnerSearch, type RoutedRequest } from './find-owner.js';
import { Handover } from './handover.js';
import { keepSession } from './keep-session.js';
import { endLostCalls, eventEpoch, isForCall, questionEpoch } from './session-messages.js';

/**
 * Decides for each request of an endpoint whether this process serves it. The id of a session names the member that opened
 * it, and the state of a parked call names the member that has the call.
 */
export class ReplicaRouter implements EndpointReplicas {
  readonly #cluster: Cluster;
  readonly #endpoint: ReplicatedEndpoint;
  readonly #handover: Handover;
  readonly #search: OwnerSearch;
  readonly #homes: Homes;
  /** For requests of clients of this process that other members work on, or that wait for one. */
  readonly #limiter: RequestLimiter;
  readonly #stop: () => void;
  #isStopped = false;

  constructor(cluster: Cluster, peers: Peers, endpoint: ReplicatedEndpoint) {
    const service = `http ${endpoint.place}`;
    this.#cluster = cluster;
    this.#endpoint = endpoint;
    const handover = new Handover({ cluster, peers, service, clock: endpoint.settings.clock });
    this.#handover = handover;
    const homes = new Homes({ cluster, endpoint, handover });
    this.#homes = homes;
    this.#search = new OwnerSearch({ cluster, endpoint, handover, homes, isStopped: () => this.#isStopped });
    this.#limiter = new RequestLimiter(endpoint.settings.maxRequests);
    this.#stop = peers.server.handle(service, (exchange) => this.#receive(exchange));
  }

  stop(): void {
    this.#isStopped = true;
    this.#handover.stop();
  }

  idle(): Promise<void> {
    return this.#handover.idle();
  }

  close(): void {
    this.#stop();
  }

  mint(principal: string | undefined): string {
    const { keys, members } = this.#cluster;
    return mintSessionId(keys, members.self, { place: this.#endpoint.place, principal });
  }

  passUnknown(admitted: AdmittedRequest): boolean {
    return refusedAsNotHere(admitted);
  }

  keep(id: string, session: () => SessionConnection, adopted: AdoptedSession | undefined): SessionContinuity {
    const { settings } = this.#endpoint;
    return keepSession({ id, cluster: this.#cluster, settings, session, adopted });
  }

  serveSession(id: string, whole: WholeRequest, serve: () => void): void {
    const { admitted } = whole;
    if (this.#isStopped) return this.#serveLast(id, whole, serve);
    const session = this.#endpoint.sessions.find(id, admitted.principal);
    if (session && eventEpoch(admitted) > session.epoch) {
      return void this.#passToLaterOwner(id, whole, serve).catch(() =>
        respondInternalError(admitted.exchange),
      );
    }
    if (this.#has(id, admitted.principal)) return serve();
    this.#away(whole, id, async () => {
      const routed = await this.#route(id, whole);
      // An unknown session is refused in the same way as in a single process.
      return routed === 'here' || (routed === 'unknown' && !this.#endLost(id, admitted)) ? serve : undefined;
    });
  }

  /**
   * Something for other members. What waits for them, and what they work on, is bounded as what runs here. `work` returns
   * what follows it.
   */
  #away(whole: WholeRequest, part: string | undefined, work: () => Promise<(() => void) | undefined>): void {
    const { admitted, body } = whole;
    const slot = body ? this.#limiter.enterUnread(admitted, body, part) : 'uncounted';
    if (!slot) return;
    const leave = () => {
      if (slot !== 'uncounted') this.#limiter.leave(slot);
    };
    work()
      .finally(leave)
      .then((follow) => follow?.())
      .catch(() => respondInternalError(admitted.exchange));
  }

  serve(route: HttpRoute, whole: WholeRequest, serve: () => void): void {
    const { exchange } = whole.admitted;
    const epoch = route.kind === 'legacy' ? questionEpoch(route.message) : undefined;
    if (epoch !== undefined) {
      const id = exchange.header('mcp-session-id') ?? '';
      const session = this.#endpoint.sessions.find(id, whole.admitted.principal);
      if (!session || epoch <= session.epoch) return serve();
      return void this.#passToLaterOwner(id, whole, serve).catch(() => respondInternalError(exchange));
    }
    const state = route.kind === 'modern' ? route.request.params?.['requestState'] : undefined;
    if (typeof state === 'string' && memberOfState(state) !== undefined) {
      return this.#away(whole, undefined, async () =>
        (await this.#routeRound(state, whole)) ? undefined : serve,
      );
    }
    const placed = this.#endpoint.home && requestOf(route);
    if (placed && this.#homes.find(whole, placed)) {
      return this.#away(whole, undefined, async () => {
        await this.#homes.route(whole, placed, serve);
        return undefined;
      });
    }
    const goesAway =
      route.kind === 'initialize' ? this.#isDraining : route.kind === 'modern' && this.#isStopped;
    if (goesAway) this.#routeAway(whole, serve);
    else serve();
  }

  serveStream(admitted: AdmittedRequest, serve: () => void): void {
    const whole = { admitted, body: undefined };
    if (!this.#homes.find(whole, NEW_SESSION)) return serve();
    this.#homes.route(whole, NEW_SESSION, serve).catch(() => respondInternalError(admitted.exchange));
  }

  /** A message of a connection of 2024-11-05, which ends with its process. It can wait, so it is counted. */
  async routeStream(id: string, whole: WholeRequest): Promise<RoutedRequest> {
    const { admitted, body } = whole;
    const opener = this.#openerOf(id, admitted);
    if (opener === undefined) return 'unknown';
    const slot = body ? this.#limiter.enterUnread(admitted, body, id) : 'uncounted';
    if (!slot) return 'answered';
    try {
      return await this.#routeToOpener(opener, whole);
    } finally {
      if (slot !== 'uncounted') this.#limiter.leave(slot);
    }
  }

  async #routeToOpener(opener: string, whole: WholeRequest): Promise<RoutedRequest> {
    const { members } = this.#cluster;
    if (!members.isSelf(opener) && refusedAsNotHere(whole.admitted)) return 'answered';
    const member = await this.#memberOf(opener, whole);
    if (member === 'unsure') return 'answered';
    if (!member || members.isSelf(member.id)) return 'unknown';
    const failure = await this.#handover.twice(member, whole);
    if (failure?.kind === 'not-here' || failure?.kind === 'refused') return 'unknown';
    if (failure) busy(whole.admitted, 'The process of this connection cannot be reached');
    return 'answered';
  }

  /**
   * While the process ends, calls that run here still get answers and cancellations. Everything else is for other
   * members: they wait until this one has released the session. That can take as long as a call takes, so what has waited
   * for long is served here.
   */
  #serveLast(id: string, whole: WholeRequest, serve: () => void): void {
    const { admitted } = whole;
    const session = this.#endpoint.sessions.find(id, admitted.principal);
    const isLast = admitted.exchange instanceof PeerExchange && admitted.exchange.as === 'last';
    if (session && (isForCall(whole, session) || (isLast && session.hasCalls))) return serve();
    if (!refusedAsNotHere(admitted)) this.#routeAway(whole, undefined);
  }

  #routeAway(whole: WholeRequest, serve: (() => void) | undefined): void {
    this.#away(whole, undefined, async () => {
      if (await this.#handover.toAny(whole)) return undefined;
      if (serve && !this.#isStopped) return serve;
      busy(whole.admitted, 'The server is stopping');
      return undefined;
    });
  }

  /** The session that a request belongs to, by its id: here, with another member, or nowhere. */
  async #route(id: string, whole: WholeRequest): Promise<RoutedRequest> {
    const { admitted } = whole;
    const find = () => this.#endpoint.sessions.find(id, admitted.principal);
    if (find()) {
      // This process may have been stopped for so long that another one has taken the session over.
      await this.#cluster.members.confirm();
      const { clock } = this.#endpoint.settings;
      await within(clock, CONFIRM_MS, this.#cluster.sessions.confirm(id) ?? Promise.resolve());
      if (find()) return 'here';
    }
    const opener = this.#openerOf(id, admitted);
    if (opener === undefined) return 'unknown';
    if (refusedAsNotHere(admitted)) return 'answered';
    return this.#search.route(id, opener, whole);
  }

  #endLost(id: string, admitted: AdmittedRequest): boolean {
    return (
      this.#openerOf(id, admitted) !== undefined && endLostCalls(admitted, this.#endpoint.settings.clock)
    );
  }

  /**
   * The question was asked, or the stream begun, by a process that has taken the session over from this one, which does not
   * know that yet. This process cannot serve it: an answer would be accepted and help no call. Where the store does not
   * answer (a process that was stopped for long has to connect to it again), the request waits.
   */
  async #passToLaterOwner(id: string, whole: WholeRequest, serve: () => void): Promise<void> {
    const { admitted } = whole;
    const { clock } = this.#endpoint.settings;
    let isWanted = true;
    admitted.exchange.onGone(() => {
      isWanted = false;
    });
    for (const until = clock.now() + HOLD_MS; isWanted && clock.now() < until; ) {
      let found: 'ours' | 'lost' | 'unsure' = 'unsure';
      const asked = this.#cluster.sessions.doubt(id).then((answer) => {
        found = answer;
      });
      await within(clock, CONFIRM_MS, asked);
      switch (found as 'ours' | 'lost' | 'unsure') {
        case 'ours':
          return serve();
        case 'lost':
          return this.serveSession(id, whole, serve);
      }
      // The member that has handed it on asks the store itself.
      if (refusedAsNotHere(admitted)) return;
      if (this.#isStopped) return this.#routeAway(whole, undefined);
      await this.#handover.pause(CONFIRM_MS);
    }
    if (isWanted) busy(admitted, 'The process of this session cannot be found');
  }

  /** Hands the next round of a parked call to the member that has the call. False: it is for this process. */
  async #routeRound(requestState: string, whole: WholeRequest): Promise<boolean> {
    const id = memberOfState(requestState);
    const { members } = this.#cluster;
    if (id === undefined || members.isSelf(id) || isHandedOn(whole.admitted)) return false;
    const member = await this.#memberOf(id, whole);
    if (member === 'unsure') return true;
    if (!member) return false;
    const failure = await this.#handover.twice(member, whole);
    if (!failure) return true;
    if (failure.kind === 'not-here' || failure.kind === 'refused') return false;
    busy(whole.admitted, 'The process that works on this call cannot be reached');
    return true;
  }

  /**
   * The member with this id. One that the store has forgotten may only have lost the store, and still work. One that has
   * come while the store cannot be asked is not known here yet, so the request waits for the store. `unsure`: it has waited
   * for too long, and was answered.
   */
  async #memberOf(id: string, { admitted }: WholeRequest): Promise<Member | 'unsure' | undefined> {
    const { members } = this.#cluster;
    const { clock } = this.#endpoint.settings;
    const find = () => members.find(id) ?? members.findPast(id);
    if (members.isSelf(id)) return find();
    let isWanted = true;
    admitted.exchange.onGone(() => {
      isWanted = false;
    });
    for (const until = clock.now() + HOLD_MS; isWanted && clock.now() < until; ) {
      if (!members.find(id)) await within(clock, CONFIRM_MS, members.review(id));
      const member = find();
      if (member || !members.isUnsure || this.#isStopped) return member;
      await this.#handover.pause(CONFIRM_MS);
    }
    if (isWanted) busy(admitted, 'The process that works on this call cannot be found');
    return 'unsure';
  }

  #receive(exchange: PeerExchange): void {
    const { principal, scopes, requiredScopes, claims, clientId } = exchange.caller;
    const grant =
      principal !== undefined && (scopes || claims || clientId !== undefined)
        ? {
            principal,
            ...(scopes && { scopes }),
            ...(requiredScopes && { requiredScopes }),
            ...(claims && { claims: claims as JsonObject }),
            ...(clientId !== undefined && { clientId }),
          }
        : undefined;
    this.#cluster.counts.received += 1;
    this.#endpoint.serve({ exchange, headers: NO_HEADERS, principal, grant });
  }

  /** Whether a session is here, without a doubt. */
  #has(id: string, principal: string | undefined): boolean {
    return (
      this.#endpoint.sessions.find(id, principal) !== undefined &&
      this.#cluster.members.confirm() === undefined &&
      this.#cluster.sessions.confirm(id) === undefined
    );
  }

  #openerOf(id: string, { principal }: AdmittedRequest): string | undefined {
    return openerOf(this.#cluster.keys, id, { place: this.#endpoint.place, principal });
  }

  /** Whether this process is about to end, so that new sessions begin elsewhere. */
  get #isDraining(): boolean {
    return this.#cluster.members.isDraining;
  }
}

/** A request that may have a home: a call, or the beginning of a session. */
function requestOf(route: HttpRoute): { method: string; params: JsonObject | undefined } | undefined {
  if (route.kind === 'modern' || route.kind === 'initialize') return route.request;
  return route.kind === 'legacy' && route.message.kind === 'request' ? route.message : undefined;
}

/** Another member has handed it on because it must be here. */
function isHandedOn({ exchange }: AdmittedRequest): boolean {
  return exchange instanceof PeerExchange && exchange.as !== 'client';
}

/** A request that another member has handed on is not handed on again: that member looks elsewhere. */
function refusedAsNotHere({ exchange }: AdmittedRequest): boolean {
  if (!(exchange instanceof PeerExchange) || exchange.as === 'client') return false;
  exchange.refuseAsNotHere();
  return true;
}

/** How long a request waits for the store to say whether another member has its session by now. */
const CONFIRM_MS = 250;
