import type { Clock } from '../../async/clock.js';

/** One principal with requests on a shared session. */
export interface QuestionScope {
  readonly principal: string | undefined;
  running: number;
  /** Until then the server may still ask or log about requests that have ended. */
  until: number;
}

/**
 * The principals that an unattributed question or log line may belong to: those that have a request on the session, and
 * those that had one recently, since servers also ask and log late. If there are several, the question is refused and the
 * log line is dropped. Calls without a principal count as one more principal.
 */
export class Scopes {
  readonly #clock: Clock;
  readonly #scopes = new Map<string | undefined, QuestionScope>();
  #last: QuestionScope | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  enter(principal: string | undefined): QuestionScope {
    const scope = this.#last?.principal === principal && this.#last ? this.#last : this.#of(principal);
    this.#last = scope;
    scope.running += 1;
    return scope;
  }

  leave(scope: QuestionScope): void {
    scope.running -= 1;
    if (scope.running === 0) this.#keep(scope, RECENT_MS);
  }

  /** A request was given up, and the server may go on with it. */
  linger(scope: QuestionScope): void {
    this.#keep(scope, LINGER_MS);
  }

  get areSeveral(): boolean {
    if (this.#scopes.size < 2) return false;
    const now = this.#clock.now();
    for (const [principal, { running, until }] of this.#scopes) {
      if (running > 0 || until > now) continue;
      this.#scopes.delete(principal);
      if (this.#last?.principal === principal) this.#last = undefined;
    }
    return this.#scopes.size > 1;
  }

  /** Whether a question or log line may belong to another principal than this one. */
  mayBeOther(principal: string | undefined): boolean {
    const now = this.#clock.now();
    for (const scope of this.#scopes.values()) {
      if (scope.principal !== principal && (scope.running > 0 || scope.until > now)) return true;
    }
    return false;
  }

  #of(principal: string | undefined): QuestionScope {
    const known = this.#scopes.get(principal);
    if (known) return known;
    // Reading it drops the expired scopes, so that the map stays small.
    void this.areSeveral;
    const scope: QuestionScope = { principal, running: 0, until: 0 };
    this.#scopes.set(principal, scope);
    return scope;
  }

  #keep(scope: QuestionScope, ms: number): void {
    scope.until = Math.max(scope.until, this.#clock.now() + ms);
  }
}

/** How late a server may ask or log about a call that it has answered. */
const RECENT_MS = 10_000;
/** The same for a call that was given up. */
const LINGER_MS = 60_000;
