import type { Clock } from '@isthmus/sdk/internal/async/clock.js';
import { ByPrincipal } from '@isthmus/sdk/internal/exchange/by-principal.js';
import type { AggregateMember } from './members.js';

/** How long to wait for a server that does not answer. */
export interface Wait {
  readonly clock: Clock;
  readonly ms: number;
}

/**
 * How long the answer to a client is held for one server. `briefly`: while other servers still answer, see `gather`.
 * `fully`: for the whole patience. `not`: until the other servers have answered.
 */
export type Holding = 'briefly' | 'fully' | 'not';

/**
 * How long lists are held for each server. A server that was late is not waited for again. When its answer comes after
 * all, it is a slow server: lists are held for it from then on, so that they do not miss it each time. Each principal has
 * its own record of a server.
 */
export class MemberPatience {
  readonly #members = new WeakMap<AggregateMember, ByPrincipal<LateRecord>>();

  of(member: AggregateMember, principal: string | undefined): Holding {
    const known = this.#members.get(member)?.get(principal);
    if (!known) return 'briefly';
    return known.isSilent ? 'not' : 'fully';
  }

  /** Whether an earlier list still waits for its answer. Then it is not asked again. */
  isAsked(member: AggregateMember, principal: string | undefined): boolean {
    return this.#members.get(member)?.get(principal)?.isAsked === true;
  }

  /** A list was answered without it. `isAsked`: its answer may still come. */
  wasLate(member: AggregateMember, principal: string | undefined, isAsked: boolean): void {
    const known = this.#members.get(member) ?? new ByPrincipal(() => ({ isSilent: true, isAsked: false }));
    this.#members.set(member, known);
    Object.assign(known.of(principal), { isSilent: true, isAsked });
  }

  /** It has answered: in time, or after the list had gone on without it. True if it was taken for silent until now. */
  answered(member: AggregateMember, principal: string | undefined, isInTime: boolean): boolean {
    const records = this.#members.get(member);
    const known = records?.get(principal);
    if (!known?.isSilent) return false;
    if (isInTime) records!.delete(principal);
    else Object.assign(known, { isSilent: false, isAsked: false });
    return true;
  }

  /** The server was started again, so earlier delays do not count. */
  forget(member: AggregateMember): void {
    this.#members.delete(member);
  }
}

interface LateRecord {
  isSilent: boolean;
  isAsked: boolean;
}

export interface Gathered<T> {
  readonly work: Promise<T>;
  readonly holding: Holding;
}

/**
 * What several servers have answered; undefined for those that are late. It settles when all that it is held for have
 * answered, or when the others have answered and then no answer came for two fifths of the patience, or after the whole
 * patience. So one hanging server costs two seconds, and many servers that start on a slow machine are not cut off.
 */
export function gather<T>(
  { clock, ms }: Wait,
  all: readonly Gathered<T>[],
): Promise<(PromiseSettledResult<T> | undefined)[]> {
  return new Promise((resolve) => {
    const answers: (PromiseSettledResult<T> | undefined)[] = all.map(() => undefined);
    // When it would be held for none, there is nothing to show without them either.
    const isHeldForNone = all.every(({ holding }) => holding === 'not');
    const left = { briefly: 0, fully: 0, not: 0 };
    for (const { holding } of all) left[isHeldForNone ? 'fully' : holding] += 1;
    let callOffBrief = () => {};
    const end = () => {
      callOffBrief();
      callOffWhole();
      resolve(answers);
    };
    const callOffWhole = clock.after(ms, end);
    const settle = (at: number, answer: PromiseSettledResult<T>) => {
      answers[at] = answer;
      left[isHeldForNone ? 'fully' : all[at]!.holding] -= 1;
      callOffBrief();
      if (left.fully > 0) return;
      if (left.briefly === 0) end();
      else callOffBrief = clock.after(ms * BRIEFLY, end);
    };
    if (all.length === 0) end();
    for (const [at, { work }] of all.entries()) {
      work.then(
        (value) => settle(at, { status: 'fulfilled', value }),
        (reason: unknown) => settle(at, { status: 'rejected', reason }),
      );
    }
  });
}

/** 2 s of 5 s. Most servers start within that time. */
const BRIEFLY = 2 / 5;
