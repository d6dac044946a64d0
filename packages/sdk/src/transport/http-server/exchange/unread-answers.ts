import type { ServerResponse } from 'node:http';
import type { Clock } from '../../../async/clock.js';
import { clientKey } from '../../../exchange/client-key.js';

export interface UnreadLimits {
  /** A connection whose client has read nothing of its answer for so long is closed. */
  readonly answerTimeoutMs: number;
  /**
   * What may wait to be read on all connections together. Beyond it those that do not read are closed earlier: of the
   * client that leaves most unread, the one that has not read for longest.
   */
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

  /**
   * Call when an answer is being written; `leftOf` says how much the system has yet to take, `takenOf` goes up
   * whenever it takes something. `onRead` is told when nothing is left: an answer that goes on is then to be watched
   * anew.
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
    this.#callOff?.();
    this.#callOff = undefined;
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
    if (this.#unread.size > 0) this.#callOff = clock.after(LOOK_MS, () => this.#look(), { background: true });
  }

  #drop(unread: Unread): void {
    this.#unread.delete(unread);
    unread.response.destroy();
  }
}

/** Of the client that leaves most unread, among those that did not read since then: the one that is still for longest. */
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
  /** The address that it goes to. */
  readonly who: string;
  readonly leftOf: () => number;
  readonly takenOf: (() => number) | undefined;
  readonly onRead: (() => void) | undefined;
  readonly onClose: () => void;
  left: number;
  taken: number;
  /** When something of it was read last. */
  movedAt: number;
}

/** How long a client may pause when there is no room. */
const STILL_MS = 2000;
const LOOK_MS = 1000;
