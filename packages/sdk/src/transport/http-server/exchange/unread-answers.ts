import type { ServerResponse } from 'node:http';
import type { Clock } from '../../../async/clock.js';
import { clientKey } from '../../../exchange/client-key.js';

export interface UnreadLimits {
  /** A connection is closed when its client has read nothing of an answer for this long. */
  readonly answerTimeoutMs: number;
  /**
   * What clients may leave unread in all. Beyond it, connections whose clients do not read are closed earlier: of the
   * client that leaves most unread, the connection that was not read for longest.
   */
  readonly maxUnreadBytes: number;
  readonly clock: Clock;
}

/** Bounds the memory of answers that clients do not read. Their calls are over and count for no other limit. */
export class UnreadAnswers {
  readonly #limits: UnreadLimits;
  readonly #unread = new Set<Unread>();
  #stopTimer: (() => void) | undefined;

  constructor(limits: UnreadLimits) {
    this.#limits = limits;
  }

  /**
   * Watches an answer that is being written. `leftOf` returns how much the system has yet to take. `takenOf` grows
   * whenever the system takes something. `onRead` is called when nothing is left; then a stream has to be watched again
   * with its next write.
   */
  watch(response: ServerResponse, leftOf: () => number, takenOf?: () => number, onRead?: () => void): void {
    if (response.writableFinished || response.destroyed) return;
    const who = clientKey({ principal: undefined, remote: response.socket?.remoteAddress });
    const onClose = () => void this.#unread.delete(unread);
    const unread: Unread = {
      ...{ response, who, leftOf, takenOf, onRead, onClose },
      left: leftOf(),
      taken: takenOf?.() ?? 0,
      movedAt: this.#limits.clock.now(),
    };
    this.#unread.add(unread);
    response.once('close', onClose);
    this.#look();
  }

  #look(): void {
    const { clock, answerTimeoutMs, maxUnreadBytes } = this.#limits;
    this.#stopTimer?.();
    this.#stopTimer = undefined;
    const now = clock.now();
    let total = 0;
    for (const unread of this.#unread) {
      const left = unread.leftOf();
      const taken = unread.takenOf?.() ?? 0;
      if (left < unread.left || taken !== unread.taken) unread.movedAt = now;
      unread.left = left;
      unread.taken = taken;
      total += left;
      if (left > 0 || !unread.onRead) continue;
      this.#unread.delete(unread);
      unread.response.removeListener('close', unread.onClose);
      unread.onRead();
    }
    for (const unread of this.#unread) {
      if (now - unread.movedAt < answerTimeoutMs) continue;
      total -= unread.left;
      this.#drop(unread);
    }
    while (total > maxUnreadBytes) {
      const worst = worstOf(this.#unread, now - STILL_MS);
      if (!worst) break;
      total -= worst.left;
      this.#drop(worst);
    }
    if (this.#unread.size > 0)
      this.#stopTimer = clock.after(LOOK_MS, () => this.#look(), { background: true });
  }

  #drop(unread: Unread): void {
    this.#unread.delete(unread);
    unread.response.destroy();
  }
}

/** Among answers that were not read since then: of the client that leaves most unread, the one that waits longest. */
function worstOf(all: Iterable<Unread>, movedBefore: number): Unread | undefined {
  const left = new Map<string, number>();
  for (const { who, left: own } of all) left.set(who, (left.get(who) ?? 0) + own);
  let worst: Unread | undefined;
  for (const unread of all) {
    if (unread.movedAt > movedBefore) continue;
    const more = worst ? left.get(unread.who)! - left.get(worst.who)! : 1;
    if (more > 0 || (more === 0 && unread.movedAt < worst!.movedAt)) worst = unread;
  }
  return worst;
}

interface Unread {
  readonly response: ServerResponse;
  /** The client, by its address. */
  readonly who: string;
  readonly leftOf: () => number;
  readonly takenOf: (() => number) | undefined;
  readonly onRead: (() => void) | undefined;
  readonly onClose: () => void;
  left: number;
  taken: number;
  /** When the client last read something of it. */
  movedAt: number;
}

/** How long a client may pause while the limit is exceeded. */
const STILL_MS = 2000;
const LOOK_MS = 1000;
