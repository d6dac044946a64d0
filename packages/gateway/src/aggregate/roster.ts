import { type Clock, within } from '@isthmus/sdk/internal/async/clock.js';
import { ProtocolError } from '@isthmus/sdk/internal/errors.js';
import { ByPrincipal } from '@isthmus/sdk/internal/exchange/by-principal.js';
import type { EarlyMessage, Peer } from '@isthmus/sdk/internal/exchange/call.js';
import { ErrorCode } from '@isthmus/sdk/internal/wire/error-codes.js';
import type { ServerCapabilities } from '@isthmus/sdk/internal/wire/model.js';
import type { AggregateMember, Audience } from './members.js';

/** How long a server that does not answer is waited for. */
export interface Wait {
  readonly clock: Clock;
  readonly ms: number;
}

/** Which servers there are, which of them have answered once, and which are away. The audience hears of changes. */
export class Roster {
  readonly waits: MemberPatience;
  readonly #wait: Wait;
  readonly #audience: Audience;
  #parts: readonly AggregateMember[] = [];
  /** Those that have answered once: what they can do is known. */
  readonly #known = new Set<AggregateMember>();
  /** Those whose absence the clients know of, or will with their next list. */
  readonly #absent = new Set<AggregateMember>();

  constructor(wait: Wait, audience: Audience) {
    this.#wait = wait;
    this.#audience = audience;
    this.waits = new MemberPatience(wait.ms);
  }

  /** All of them, in order. */
  get parts(): readonly AggregateMember[] {
    return this.#parts;
  }

  /** The servers are these from now on. Returns those that are not among them any more. */
  replace(parts: readonly AggregateMember[]): readonly AggregateMember[] {
    const gone = this.#parts.filter((part) => !parts.includes(part));
    this.#parts = parts;
    for (const part of gone) {
      this.#known.delete(part);
      this.#absent.delete(part);
    }
    return gone;
  }

  isKnown(part: AggregateMember): boolean {
    return this.#known.has(part);
  }

  /** A list is answered without it: when it comes back, the clients are told. */
  miss(part: AggregateMember): void {
    this.#absent.add(part);
  }

  /** Something happened to this server: it may have come, or gone. */
  review(part: AggregateMember): void {
    if (!this.#parts.includes(part)) return;
    const wasAbsent = this.#absent.has(part);
    if (part.absence() !== undefined) {
      this.#absent.add(part);
      if (!wasAbsent) this.#audience.announceLists();
      return;
    }
    this.#absent.delete(part);
    if (!this.#known.has(part)) {
      if (this.#audience.size > 0) this.meet(part, NOTHING, undefined).catch(() => {});
    } else if (wasAbsent) this.#readmit(part);
  }

  /** A server that has not answered yet is waited for, but not for long. When it answers later, its audience hears of it. */
  async meet(
    part: AggregateMember,
    opening: EarlyMessage,
    principal: string | undefined,
    ms = this.#wait.ms,
  ): Promise<void> {
    if (this.#known.has(part)) return;
    const ready = part.service.ready?.({ method: opening.method, params: opening.params }, principal);
    const met = Promise.resolve(ready).then(() => this.#welcome(part));
    if (!(await within(this.#wait.clock, ms, met))) {
      const message = `${part.name} is still starting; try again later`;
      throw new ProtocolError(ErrorCode.InternalError, message, { reason: 'TIMED_OUT', sent: 'no' });
    }
    await met;
  }

  /** Waits for the servers that can be asked and have not answered yet; one that is late does not hold up the others. */
  meetAll(opening: EarlyMessage, principal: string | undefined): Promise<void> | undefined {
    const unknown = this.#parts.filter(
      (part) => !this.#known.has(part) && part.absence({ principal }) === undefined,
    );
    if (unknown.length === 0) return undefined;
    const meetings = unknown.map((part) =>
      this.meet(part, opening, principal, this.waits.msFor(part, principal)).catch(() =>
        this.waits.wasLate(part, principal),
      ),
    );
    return Promise.all(meetings).then(() => {});
  }

  /** Those that have answered once. */
  present(): AggregateMember[] {
    return this.#parts.filter((part) => this.#known.has(part));
  }

  /** Those that have it, or have yet to say. */
  with(capability: keyof ServerCapabilities): AggregateMember[] {
    return this.#parts.filter(
      (part) => !this.#known.has(part) || part.service.capabilities()[capability] !== undefined,
    );
  }

  /** Without those that are known to be away and have never been there. */
  askable(capability: keyof ServerCapabilities, asker: Peer): AggregateMember[] {
    return this.with(capability).filter((part) => this.#known.has(part) || part.absence(asker) === undefined);
  }

  #welcome(part: AggregateMember): void {
    if (this.#known.has(part) || !this.#parts.includes(part)) return;
    this.#known.add(part);
    this.#readmit(part);
  }

  #readmit(part: AggregateMember): void {
    this.waits.forget(part);
    this.#audience.adopt(part);
    this.#audience.announceLists();
  }
}

const NOTHING: EarlyMessage = { method: '', params: undefined };

/**
 * How long a list waits for a server. After each list in which a server did not answer in time, the next one of the
 * same principal waits half as long for it, so that a server that hangs does not cost every list the whole time. An
 * answer in time makes it the whole time again.
 */
class MemberPatience {
  readonly #wholeMs: number;
  #parts = new WeakMap<AggregateMember, ByPrincipal<{ ms: number }>>();

  constructor(wholeMs: number) {
    this.#wholeMs = wholeMs;
  }

  msFor(part: AggregateMember, principal: string | undefined): number {
    return this.#parts.get(part)?.get(principal)?.ms ?? this.#wholeMs;
  }

  wasLate(part: AggregateMember, principal: string | undefined): void {
    const known = this.#parts.get(part) ?? new ByPrincipal(() => ({ ms: this.#wholeMs }));
    this.#parts.set(part, known);
    const entry = known.of(principal);
    entry.ms = Math.max(entry.ms / 2, this.#wholeMs / SHORTEST);
  }

  answered(part: AggregateMember, principal: string | undefined): void {
    this.#parts.get(part)?.delete(principal);
  }

  /** It has been started anew: nothing from before counts. */
  forget(part: AggregateMember): void {
    this.#parts.delete(part);
  }
}

/** 5 s become no less than 250 ms. */
const SHORTEST = 20;
