import type { Clock } from '@isthmus/sdk/internal/async/clock.js';
import type { ConsoleUser } from './access.js';

/** Who is in: sessions by the digest of their key. */
export class ConsoleSessions {
  readonly #clock: Clock;
  readonly #all = new Map<string, ConsoleSession>();
  #isReviewDue = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Returns when the session ends. */
  add(digest: string, user: ConsoleUser): number {
    const now = this.#clock.now();
    for (const [each, { until }] of this.#all) if (until < now) this.end(each);
    if (this.#all.size >= MAX_SESSIONS) this.#endLongestUnused();
    const until = Math.min(now + SESSION_MS, user.until ?? Number.POSITIVE_INFINITY);
    this.#all.set(digest, { user, until, usedAt: now, onEnd: new Set() });
    return until;
  }

  /** The user of a session, which counts as used. A session whose credential was taken away ends. */
  async use(digest: string): Promise<ConsoleUser | undefined> {
    const session = this.#find(digest);
    if (!session || !(await this.#isGood(digest, session))) return undefined;
    session.usedAt = this.#clock.now();
    return session.user;
  }

  onEnd(digest: string, callback: () => void): () => void {
    const session = this.#find(digest);
    if (!session) {
      callback();
      return () => {};
    }
    session.onEnd.add(callback);
    if (session.user.standing) this.#reviewSoon();
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

  async #isGood(digest: string, { user }: ConsoleSession): Promise<boolean> {
    if (!user.standing) return true;
    let standing: string;
    try {
      standing = await user.standing();
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
    const streaming = () => [...this.#all].filter(([, { user, onEnd }]) => user.standing && onEnd.size > 0);
    await Promise.all(streaming().map(([digest, session]) => this.#isGood(digest, session)));
    this.#isReviewDue = false;
    if (streaming().length > 0) this.#reviewSoon();
  }

  /** One of the person who has the most: a person cannot push others out. */
  #endLongestUnused(): void {
    const counts = new Map<string, number>();
    for (const { user } of this.#all.values()) counts.set(user.who, (counts.get(user.who) ?? 0) + 1);
    const most = Math.max(...counts.values());
    let oldest: [string, ConsoleSession] | undefined;
    for (const entry of this.#all)
      if (counts.get(entry[1].user.who) === most && (!oldest || entry[1].usedAt < oldest[1].usedAt))
        oldest = entry;
    if (oldest) this.end(oldest[0]);
  }
}

interface ConsoleSession {
  readonly user: ConsoleUser;
  readonly until: number;
  usedAt: number;
  readonly onEnd: Set<() => void>;
}

const SESSION_MS = 12 * 60 * 60_000;
const IDLE_MS = 60 * 60_000;
const MAX_SESSIONS = 20;
const REVIEW_MS = 2000;
