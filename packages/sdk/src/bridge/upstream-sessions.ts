import type { Clock } from '../async/clock.js';
import type { Upstream, UpstreamSessionOptions, UpstreamTenant } from '../client/connect.js';
import type { ReconnectingCaller } from '../client/reconnecting-caller.js';
import { IsthmusError } from '../errors.js';
import type { Call, Era, Peer } from '../exchange/call.js';
import { clientKey } from '../exchange/client-key.js';
import { FairShare } from '../exchange/fair-share.js';
import type { ClientCapabilities } from '../wire/model.js';
import { conversationOf } from './forwarded-call.js';
import type { OfferedSession } from './pending-first-session.js';

/** A place at the far side, for one client or for all of a principal. */
export interface UpstreamSession {
  readonly session: ReconnectingCaller;
  /** Set where the seat is one client's, which can be asked whatever call it is about. */
  readonly owner: object | undefined;
  /** Calls in flight. */
  uses: number;
}

export interface UpstreamSessionsOptions {
  readonly upstream: Upstream;
  readonly clock: Clock;
  /** The server keeps nothing for anybody: principals may share it. */
  readonly stateless: boolean;
  /** Of both kinds. Undefined: as many as there are sessions, and a bound for what modern callers make up. */
  readonly maxSeats: number | undefined;
  readonly idleMs: number;
  readonly onReopened: (session: ReconnectingCaller) => void;
}

/**
 * Who is served by which session of the far side. A legacy session has a seat of its own; calls that stand for
 * themselves are told apart by their principal, and by the conversation that they name. Never by a guess.
 */
export class UpstreamSessions {
  readonly #options: UpstreamSessionsOptions;
  readonly #ofSessions = new Map<Peer, UpstreamSession>();
  readonly #shared = new Map<string, SharedSeat>();
  readonly #shares = new FairShare<SharedSeat>();
  /** Whose process it is, where there is one for everybody. */
  #only: { readonly principal: string | undefined } | undefined;
  #sweeping: (() => void) | undefined;
  #offered: OfferedSession | undefined;
  #closed = false;

  constructor(options: UpstreamSessionsOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#ofSessions.size + this.#shared.size;
  }

  /** Whether each seat is a process or a session of its own. */
  get areOwn(): boolean {
    return this.#options.upstream.serves === 'one';
  }

  /** The seat that a call is made from. */
  of(call: Call, far: Era): UpstreamSession {
    return this.#ofSessions.get(call.peer) ?? this.#sharedSeat(call.peer, conversationOf(call), far);
  }

  /** The session of the client that listens. */
  ofPeer(peer: Peer, far: Era): UpstreamSession {
    return this.#ofSessions.get(peer) ?? this.#sharedSeat(peer, undefined, far);
  }

  /** The session of the first client, which has yet to take its seat. */
  offer(offered: OfferedSession): void {
    this.#offered = offered;
    this.#options.clock.after(OFFER_MS, () => this.#withdraw(offered), { background: true });
  }

  /** A seat of its own, for a legacy session. */
  take(peer: Peer, given: UpstreamTenant): UpstreamSession {
    this.#admit(peer.principal);
    const { maxSeats } = this.#options;
    // Sessions are bounded where they are opened, fairly. A seat of one costs little until it is used.
    this.#checkRoom(maxSeats, this.size, peer);
    const own = this.areOwn;
    const seat: UpstreamSession = {
      session: this.#open(peer, own ? toldOf(peer) : EVERYTHING, given, own ? peer.info : undefined),
      owner: peer,
      uses: 0,
    };
    this.#ofSessions.set(peer, seat);
    return seat;
  }

  leave(peer: Peer): void {
    const seat = this.#ofSessions.get(peer);
    this.#ofSessions.delete(peer);
    void seat?.session.close();
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#sweeping?.();
    const seats = [...this.#shared.values()];
    const all: Pick<UpstreamSession, 'session'>[] = [...this.#ofSessions.values(), ...this.#shared.values()];
    if (this.#offered) all.push(this.#offered);
    this.#offered = undefined;
    this.#ofSessions.clear();
    this.#shared.clear();
    for (const seat of seats) this.#shares.delete(seat.who, seat);
    await Promise.all(all.map(({ session }) => session.close()));
  }

  #sharedSeat(peer: Peer, conversation: string | undefined, far: Era): UpstreamSession {
    const { clock } = this.#options;
    // A legacy server is told once, when the session is opened, what its client can do.
    const exact = this.areOwn && far === 'legacy';
    const capabilities = this.areOwn ? toldOf(peer) : EVERYTHING;
    const key =
      exact || conversation !== undefined || peer.principal !== undefined
        ? JSON.stringify([peer.principal, conversation, exact ? capabilities : 0])
        : '';
    let seat = this.#shared.get(key);
    if (!seat) {
      this.#admit(peer.principal);
      const { maxSeats } = this.#options;
      if (maxSeats === undefined) {
        this.#checkRoom(this.areOwn ? MAX_OWN : MAX_SHARED, this.#shared.size, peer);
      } else this.#checkRoom(maxSeats, this.size, peer);
      const session = this.#open(
        peer,
        capabilities,
        { answers: {}, onLog: undefined, onElicited: undefined },
        undefined,
      );
      seat = { session, owner: undefined, uses: 0, usedAt: 0, key, who: clientKey(peer) };
      this.#shared.set(key, seat);
      this.#shares.set(seat.who, seat);
      this.#sweeping ??= this.#sweepLater();
    }
    seat.usedAt = clock.now();
    return seat;
  }

  #open(
    peer: Peer,
    capabilities: ClientCapabilities,
    given: UpstreamTenant,
    info: UpstreamSessionOptions['info'],
  ): ReconnectingCaller {
    const { upstream, onReopened } = this.#options;
    const offered = this.#accept(toldKey(peer, capabilities));
    if (offered) {
      offered.seat.take(given);
      return offered.session;
    }
    const session: ReconnectingCaller = upstream.open({
      name: peer.principal ?? peer.info?.name ?? 'a client',
      principal: peer.principal,
      info,
      capabilities,
      answers: given.answers,
      onLog: given.onLog,
      onElicited: given.onElicited,
      onReopened: () => onReopened(session),
    });
    return session;
  }

  #accept(told: string): OfferedSession | undefined {
    const offered = this.#offered;
    if (offered?.told !== told) return undefined;
    this.#offered = undefined;
    return offered;
  }

  #withdraw(offered: OfferedSession): void {
    if (this.#offered !== offered) return;
    this.#offered = undefined;
    void offered.session.close();
  }

  /** Two principals never share a process or a session, unless the server is declared to keep nothing. */
  #admit(principal: string | undefined): void {
    const { upstream, stateless } = this.#options;
    if (stateless || upstream.serves !== 'everybody') return;
    this.#only ??= { principal };
    if (this.#only.principal === principal) return;
    throw new IsthmusError(
      'INVALID_OPTION',
      `${upstream.label} has one process for everybody and serves another principal already: ` +
        'give each principal its own process, or declare the server stateless',
      { sent: 'no' },
    );
  }

  /** Makes room if there is none, or throws. */
  #checkRoom(max: number | undefined, taken: number, peer: Peer): void {
    const { upstream, maxSeats } = this.#options;
    if (this.#closed) throw new IsthmusError('CONNECTION_CLOSED', 'The bridge is closed', { sent: 'no' });
    if (max === undefined || taken < max) return;
    const who = clientKey(peer);
    const displaced = this.#displacedBy(who);
    if (displaced) return this.#release(displaced);
    // Another client has all of them in use: a client that has none gets one all the same.
    if (maxSeats === undefined && this.#shares.heldBy(who) === 0 && taken < 2 * max) return;
    const message = `${upstream.label} is busy: ${max} clients have a session there; try again later`;
    throw new IsthmusError('BUSY', message, { sent: 'no' });
  }

  /** The seat that was not used for longest, of the client that has most. */
  #displacedBy(who: string): SharedSeat | undefined {
    const displacement = this.#shares.displacedBy(who);
    const isFair = displacement.kind === 'from';
    const before = this.#options.clock.now() - (isFair ? 0 : MIN_IDLE_MS);
    let found: SharedSeat | undefined;
    for (const each of isFair ? [displacement.who] : displacement.of) {
      for (const seat of this.#shares.itemsOf(each)) {
        if (!isIdle(seat) || seat.usedAt > before) continue;
        if (!found || seat.usedAt < found.usedAt) found = seat;
      }
    }
    return found;
  }

  #release(seat: SharedSeat): void {
    this.#shared.delete(seat.key);
    this.#shares.delete(seat.who, seat);
    void seat.session.close();
  }

  #sweepLater(): () => void {
    const { clock, idleMs } = this.#options;
    return clock.after(idleMs, () => this.#sweep(), { background: true });
  }

  /** No call has used it for a while, and no subscription is open: the next call opens another one. */
  #sweep(): void {
    const { clock, idleMs } = this.#options;
    for (const seat of this.#shared.values()) {
      if (isIdle(seat) && clock.now() - seat.usedAt >= idleMs) this.#release(seat);
    }
    this.#sweeping = this.#shared.size > 0 ? this.#sweepLater() : undefined;
  }
}

/** Of callers that stand for themselves. */
interface SharedSeat extends UpstreamSession {
  readonly key: string;
  /** Whom limits count it for: the client that it was opened for. */
  readonly who: string;
  usedAt: number;
}

function isIdle({ uses, session }: SharedSeat): boolean {
  return uses === 0 && !session.isListening;
}

/** Declared to a server that serves all clients. When it asks a client that cannot answer, the call fails (META-008). */
export const EVERYTHING: ClientCapabilities = {
  elicitation: { form: {}, url: {} },
  sampling: { tools: {}, context: {} },
  roots: {},
};

/** What the one client can answer that a server is opened for. */
export function toldOf({ capabilities, era }: Peer): ClientCapabilities {
  const { elicitation, sampling, roots, experimental } = capabilities;
  const told: ClientCapabilities = {};
  if (elicitation) told.elicitation = elicitation;
  if (sampling) told.sampling = sampling;
  if (roots) told.roots = era === 'legacy' ? roots : {};
  if (experimental) told.experimental = experimental;
  return told;
}

/** What tells seats apart that were opened for one client. */
export function toldKey({ principal, era, info }: Peer, capabilities: ClientCapabilities): string {
  return JSON.stringify([principal, era === 'legacy' ? (info ?? '') : 0, capabilities]);
}

/** Seats that modern callers make by naming conversations: in one process that is shared, and with a process each. */
const MAX_SHARED = 10_000;
const MAX_OWN = 1000;
/** A seat that was used just now is not taken for an equal that comes now. */
const MIN_IDLE_MS = 1000;
/** How long the session of the first client waits for it. */
const OFFER_MS = 10_000;
