import type { ServerResponse } from 'node:http';
import type { Clock } from '../../async/clock.js';

export interface UnreadLimits {
  /** A connection whose client has read nothing of its answer for so long is closed. */
  readonly answerTimeoutMs: number;
  /** What may wait to be read on all connections together; beyond it those that do not read are closed earlier. */
  readonly maxUnreadBytes: number;
  readonly clock: Clock;
}

/** Answers that were given and are not read: the calls are over, and count for no limit, but their answers take room. */
export class UnreadAnswers {
  readonly #limits: UnreadLimits;
  readonly #unread = new Set<Unread>();
  #callOff: (() => void) | undefined;

  constructor(limits: UnreadLimits) {
    this.#limits = limits;
  }

  /** Call when an answer is being written; `leftOf` says how much the system has yet to take. */
  watch(response: ServerResponse, leftOf: () => number): void {
    if (response.writableFinished || response.destroyed) return;
    const unread: Unread = { response, leftOf, left: leftOf(), movedAt: this.#limits.clock.now() };
    this.#unread.add(unread);
    response.once('close', () => this.#unread.delete(unread));
    this.#look();
  }

  #look(): void {
    const { clock, answerTimeoutMs, maxUnreadBytes } = this.#limits;
    this.#callOff?.();
    this.#callOff = undefined;
    const now = clock.now();
    let total = 0;
    for (const unread of this.#unread) {
      const left = unread.leftOf();
      if (left < unread.left) unread.movedAt = now;
      unread.left = left;
      total += left;
    }
    // Those who have not read for longest come first.
    for (const unread of [...this.#unread].sort((a, b) => a.movedAt - b.movedAt)) {
      const stillMs = now - unread.movedAt;
      const isTooMuch = total > maxUnreadBytes && stillMs >= STILL_MS;
      if (stillMs < answerTimeoutMs && !isTooMuch) break;
      total -= unread.left;
      this.#unread.delete(unread);
      unread.response.destroy();
    }
    if (this.#unread.size > 0) this.#callOff = clock.after(LOOK_MS, () => this.#look(), { background: true });
  }
}

interface Unread {
  readonly response: ServerResponse;
  readonly leftOf: () => number;
  left: number;
  /** When something of it was read last. */
  movedAt: number;
}

/** How long a client may pause when there is no room. */
const STILL_MS = 2000;
const LOOK_MS = 1000;
