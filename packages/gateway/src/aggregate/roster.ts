import { within } from '@isthmus/sdk/internal/async/clock.js';
import { ProtocolError } from '@isthmus/sdk/internal/errors.js';
import type { EarlyMessage, Peer } from '@isthmus/sdk/internal/exchange/call.js';
import { ErrorCode } from '@isthmus/sdk/internal/wire/error-codes.js';
import type { ServerCapabilities } from '@isthmus/sdk/internal/wire/model.js';
import type { AggregateMember, MemberObservers } from './members.js';
import { gather, MemberPatience, type Wait } from './patience.js';

/** Which servers there are, which have answered once, and which are absent. Observers are told of changes. */
export class Roster {
  readonly patience = new MemberPatience();
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

  /** A server has answered a list of this principal. Earlier lists may have gone on without it. */
  answered(member: AggregateMember, principal: string | undefined, isInTime: boolean): void {
    if (this.patience.answered(member, principal, isInTime)) this.#observers.announceLists({ principal });
  }

  /** Waits for a server that has not answered yet, for a bounded time. When it answers later, the observers are told. */
  async meet(member: AggregateMember, opening: EarlyMessage, principal: string | undefined): Promise<void> {
    if (this.#known.has(member)) return;
    const { clock, ms } = this.#wait;
    const ready = member.service.ready?.({ method: opening.method, params: opening.params }, principal);
    const met = Promise.resolve(ready).then(() => this.#welcome(member));
    if (!(await within(clock, ms, met))) {
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
    const meetings = unknown.map((member) => ({
      work: this.meet(member, opening, principal),
      holding: this.patience.of(member, principal),
    }));
    // The servers that are known have answered already, so a late one can hold up nothing but this message.
    const others = this.#known.size > 0 ? [{ work: Promise.resolve(), holding: 'briefly' as const }] : [];
    return gather(this.#wait, [...meetings, ...others]).then((answers) => {
      for (const [at, member] of unknown.entries())
        if (answers[at]?.status !== 'fulfilled') this.patience.wasLate(member, principal, false);
    });
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
    this.patience.forget(member);
    this.#observers.adopt(member);
    this.#observers.announceLists();
  }
}

const NOTHING: EarlyMessage = { method: '', params: undefined };
