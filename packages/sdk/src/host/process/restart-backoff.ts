import type { Clock } from '../../async/clock.js';
import { countFailure, decideRestart, type Restart, type RestartPolicy } from './process-state.js';

/** Counts the failures in a row of a process, and waits before the next start. */
export class RestartBackoff {
  readonly #clock: Clock;
  readonly #random: () => number;
  #failures = 0;
  #nextAttemptAt: number | undefined;
  #cancelPause = () => {};

  constructor(clock: Clock, random: () => number) {
    this.#clock = clock;
    this.#random = random;
  }

  get failures(): number {
    return this.#failures;
  }

  get nextAttemptAt(): number | undefined {
    return this.#nextAttemptAt;
  }

  /** Whether a crash loop still forbids an attempt. */
  get isTooEarly(): boolean {
    return this.#clock.now() < (this.#nextAttemptAt ?? 0);
  }

  /** Counts the failure of a process and decides what follows. After a crash loop a use may start it `stableMs` later. */
  fail(policy: RestartPolicy, life: { readonly ranMs: number; readonly served: number }): Restart {
    this.#failures = countFailure(policy, this.#failures, life);
    const decision = decideRestart(policy, this.#failures, this.#random());
    const waitMs = decision.kind === 'give-up' ? policy.stableMs : decision.delayMs;
    this.#nextAttemptAt = this.#clock.now() + waitMs;
    return decision;
  }

  /** `background`: the pause does not keep the program alive. */
  pause(delayMs: number, onOver: () => void, background: boolean): void {
    this.#cancelPause = this.#clock.after(delayMs, onOver, { background });
  }

  cancelPause(): void {
    this.#cancelPause();
  }

  /** No attempt is planned any more. */
  clearPlan(): void {
    this.#nextAttemptAt = undefined;
  }

  /** A restart that was requested starts a new count. */
  resetCount(): void {
    this.#failures = 0;
  }
}
