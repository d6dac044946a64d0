import { type Clock, within } from '@isthmus/sdk/internal/async/clock.js';
import { ProtocolError } from '@isthmus/sdk/internal/errors.js';
import { ByPrincipal } from '@isthmus/sdk/internal/exchange/by-principal.js';
import type { EarlyMessage, Peer } from '@isthmus/sdk/internal/exchange/call.js';
import { ErrorCode } from '@isthmus/sdk/internal/wire/error-codes.js';
import type { ServerCapabilities } from '@isthmus/sdk/internal/wire/model.js';
import type { AggregateMember, MemberObservers } from './members.js';

/** How long to wait for a server that does not answer. */
export interface Wait {
  readonly clock: Clock;
  readonly ms: number;
}

/** Which servers there are, which have answered once, and which are absent. Observers are told of changes. */
export class Roster {
  readonly waits: MemberPatience;
  readonly #wait: Wait;
  readonly #observers: MemberObservers;
  #members: readonly AggregateMember[] = [];
  /** Servers that have answered once, so that their capabilities are known. */
  readonly #known = new Set<AggregateMember>();
  /** Servers whose absence the clients know, or will know with their next list. */
  readonly #absent = new Set<AggregateMember>();

  constructor(wait: Wait, observers: MemberObservers) {
    this.#wait = wait;
    this.#observers = observers;
    this.waits = new MemberPatience(wait.ms);
  }

  /** All servers, in order. */
  get members(): readonly AggregateMember[] {
    return this.#members;
  }

  /** Replaces the servers. Returns those that were removed. */
  replace(members: readonly AggregateMember[]): readonly AggregateMember[] {
    const gone = this.#members.filter((member) => !members.includes(member));
    this.#members = members;
    for (const member of gone) {
      this.#known.delete(member);
      this.#absent.delete(member);
    }
    return gone;
  }

  isKnown(member: AggregateMember): boolean {
    return this.#known.has(member);
  }

  /** A list was answered without this server. Clients are told when it is back. */
  miss(member: AggregateMember): void {
    this.#absent.add(member);
  }

  /** The state of this server has changed: it may have come or gone. */
  review(member: AggregateMember): void {
    if (!this.#members.includes(member)) return;
    const wasAbsent = this.#absent.has(member);
    if (member.absence() !== undefined) {
      this.#absent.add(member);
      if (!wasAbsent) this.#observers.announceLists();
      return;
    }
    this.#absent.delete(member);
    if (!this.#known.has(member)) {
      if (this.#observers.size > 0) this.meet(member, NOTHING, undefined).catch(() => {});
    } else if (wasAbsent) this.#readmit(member);
  }

  /** Waits for a server that has not answered yet, for a bounded time. When it answers later, the observers are told. */
  async meet(
    member: AggregateMember,
    opening: EarlyMessage,
    principal: string | undefined,
    ms = this.#wait.ms,
  ): Promise<void> {
    if (this.#known.has(member)) return;
    const ready = member.service.ready?.({ method: opening.method, params: opening.params }, principal);
    const met = Promise.resolve(ready).then(() => this.#welcome(member));
    if (!(await within(this.#wait.clock, ms, met))) {
      const message = `${member.name} is still starting; try again later`;
      throw new ProtocolError(ErrorCode.InternalError, message, { reason: 'TIMED_OUT', sent: 'no' });
    }
    await met;
  }

  /** Waits for the servers that have not answered yet and are not absent. A late server does not hold up the others. */
  meetAll(opening: EarlyMessage, principal: string | undefined): Promise<void> | undefined {
    const unknown = this.#members.filter(
      (member) => !this.#known.has(member) && member.absence({ principal }) === undefined,
    );
    if (unknown.length === 0) return undefined;
    const meetings = unknown.map((member) =>
      this.meet(member, opening, principal, this.waits.msFor(member, principal)).catch(() =>
        this.waits.wasLate(member, principal),
      ),
    );
    return Promise.all(meetings).then(() => {});
  }

  /** The servers that have answered once. */
  present(): AggregateMember[] {
    return this.#members.filter((member) => this.#known.has(member));
  }

  /** The servers that have this capability, or are not known yet. */
  with(capability: keyof ServerCapabilities): AggregateMember[] {
    return this.#members.filter(
      (member) => !this.#known.has(member) || member.service.capabilities()[capability] !== undefined,
    );
  }

  /** The same, without servers that are absent and have never answered. */
  askable(capability: keyof ServerCapabilities, viewer: Peer): AggregateMember[] {
    return this.with(capability).filter(
      (member) => this.#known.has(member) || member.absence(viewer) === undefined,
    );
  }

  #welcome(member: AggregateMember): void {
    if (this.#known.has(member) || !this.#members.includes(member)) return;
    this.#known.add(member);
    this.#readmit(member);
  }

  #readmit(member: AggregateMember): void {
    this.waits.forget(member);
    this.#observers.adopt(member);
    this.#observers.announceLists();
  }
}

const NOTHING: EarlyMessage = { method: '', params: undefined };

/**
 * How long a list waits for a server. After a list in which a server did not answer in time, the next list of the same
 * principal waits half as long for it, so that a hanging server does not cost every list the whole time. An answer in
 * time restores the whole time.
 */
class MemberPatience {
  readonly #wholeMs: number;
  #members = new WeakMap<AggregateMember, ByPrincipal<{ ms: number }>>();

  constructor(wholeMs: number) {
    this.#wholeMs = wholeMs;
  }

  msFor(member: AggregateMember, principal: string | undefined): number {
    return this.#members.get(member)?.get(principal)?.ms ?? this.#wholeMs;
  }

  wasLate(member: AggregateMember, principal: string | undefined): void {
    const known = this.#members.get(member) ?? new ByPrincipal(() => ({ ms: this.#wholeMs }));
    this.#members.set(member, known);
    const entry = known.of(principal);
    entry.ms = Math.max(entry.ms / 2, this.#wholeMs / SHORTEST);
  }

  answered(member: AggregateMember, principal: string | undefined): void {
    this.#members.get(member)?.delete(principal);
  }

  /** The server was started again, so earlier delays do not count. */
  forget(member: AggregateMember): void {
    this.#members.delete(member);
  }
}

/** 5 s become 250 ms at least. */
const SHORTEST = 20;
