import type { Clock } from '@isthmus/sdk/internal/async/clock.js';
import type { Visitor } from './access.js';

/** Who is in: sessions by the digest of their key. */
export class ConsoleSessions {
  readonly #clock: Clock;
  readonly #all = new Map<string, ConsoleSession>();
  #isReviewDue = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Returns when the session ends. */
  add(digest: string, visitor: Visitor): number {
    const now = this.#clock.now();
    for (const [each, { until }] of this.#all) if (until < now) this.end(each);
    if (this.#all.size >= MAX_SESSIONS) this.#endLongestUnused();
    const until = Math.min(now + SESSION_MS, visitor.until ?? Number.POSITIVE_INFINITY);
    this.#all.set(digest, { visitor, until, usedAt: now, onEnd: new Set() });
    return until;
  }

  /** The visitor of a session, which counts as used. A session whose credential was taken away ends. */
  async use(digest: string): Promise<Visitor | undefined> {
    const session = this.#find(digest);
    if (!session || !(await this.#isGood(digest, session))) return undefined;
    session.usedAt = this.#clock.now();
    return session.visitor;
  }

  onEnd(digest: string, callback: () => void): () => void {
    const session = this.#find(digest);
    if (!session) {
      callback();
      return () => {};
    }
    session.onEnd.add(callback);
    if (session.visitor.standing) this.#reviewSoon();
    return () => session.onEnd.delete(callback);
  }

  end(digest: string): void {
    const session = this.#all.get(digest);
    this.#all.delete(digest);
    for (const callback of session?.onEnd ?? []) callback();
  }

  #find(digest: string): ConsoleSession | undefined {
    const session = this.#all.get(digest);
    if (!session) return undefined;
    const now = this.#clock.now();
    const isIdle = session.onEnd.size === 0 && session.usedAt + IDLE_MS < now;
    if (session.until >= now && !isIdle) return session;
    this.end(digest);
    return undefined;
  }

  async #isGood(digest: string, { visitor }: ConsoleSession): Promise<boolean> {
    if (!visitor.standing) return true;
    let standing: string;
    try {
      standing = await visitor.standing();
    } catch {
      // A check that fails changes nothing.
      standing = 'good';
    }
    if (standing !== 'good') this.end(digest);
    // It may have ended while the file was read.
    return this.#all.has(digest);
  }

  /** A stream makes no requests, so its credential is looked at by time. Without a stream no timer runs. */
  #reviewSoon(): void {
    if (this.#isReviewDue) return;
    this.#isReviewDue = true;
    this.#clock.after(REVIEW_MS, () => void this.#review(), { background: true });
  }

  async #review(): Promise<void> {
    const streaming = () =>
      [...this.#all].filter(([, { visitor, onEnd }]) => visitor.standing && onEnd.size > 0);
    await Promise.all(streaming().map(([digest, session]) => this.#isGood(digest, session)));
    this.#isReviewDue = false;
    if (streaming().length > 0) this.#reviewSoon();
  }

  /** One of the person who has the most: a person cannot push others out. */
  #endLongestUnused(): void {
    const counts = new Map<string, number>();
    for (const { visitor } of this.#all.values()) counts.set(visitor.who, (counts.get(visitor.who) ?? 0) + 1);
    const most = Math.max(...counts.values());
    let oldest: [string, ConsoleSession] | undefined;
    for (const entry of this.#all)
      if (counts.get(entry[1].visitor.who) === most && (!oldest || entry[1].usedAt < oldest[1].usedAt))
        oldest = entry;
    if (oldest) this.end(oldest[0]);
  }
}

interface ConsoleSession {
  readonly visitor: Visitor;
  readonly until: number;
  usedAt: number;
  readonly onEnd: Set<() => void>;
}

const SESSION_MS = 12 * 60 * 60_000;
const IDLE_MS = 60 * 60_000;
const MAX_SESSIONS = 20;
const REVIEW_MS = 2000;
