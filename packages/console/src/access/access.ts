import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { type Clock, systemClock } from '@isthmus/sdk/internal/async/clock.js';
import type { AccessLevel, Entered, EnterRequest } from '../contract.js';
import { ConsoleError } from '../http/console-error.js';
import { TryLimit } from './try-limit.js';

/** A person, and what that person may do. */
export interface Visitor {
  /** For logs: `link`, `key:ada`, `jwt:…`. */
  readonly who: string;
  readonly levels: readonly AccessLevel[];
  /** When what let the person in ends, in milliseconds since 1970. */
  readonly until?: number;
}

export interface AccessControlOptions {
  readonly clock?: Clock;
  /** Finds the owner of a key or a token of the operator. Undefined: only links are accepted. */
  readonly authenticate?:
    | ((given: { apiKey?: string; jwt?: string }) => Promise<Visitor | undefined>)
    | undefined;
  /** A person with a key has asked for something. */
  onVisit?(): void;
  /** A link was used a second time: the first use may have been that of somebody else. */
  onSecondUse?(who: string): void;
}

/**
 * Lets people in: by a link that works once, or by a key or token of the operator. Both are exchanged for a session key,
 * which the page sends as a header. There are no cookies: a browser would send them to every port of the machine.
 */
export class AccessControl {
  readonly #clock: Clock;
  readonly #options: AccessControlOptions;
  readonly #links = new Map<string, Link>();
  readonly #sessions = new Map<string, Session>();
  readonly #tries: TryLimit;

  constructor(options: AccessControlOptions = {}) {
    this.#clock = options.clock ?? systemClock;
    this.#options = options;
    this.#tries = new TryLimit(this.#clock);
  }

  /** A new link for this visitor. It is the fragment of an address, which browsers do not send to servers. */
  mintLink(visitor: Visitor): string {
    this.#sweep();
    if (this.#links.size >= MAX_LINKS) this.#links.delete(this.#links.keys().next().value!);
    const link = randomBytes(32).toString('base64url');
    this.#links.set(digest(link), { visitor, until: this.#clock.now() + LINK_MS, isUsed: false });
    return link;
  }

  /** Exchanges what was given for a session. Throws a `ConsoleError` when it is refused. */
  async enter(given: EnterRequest, remote = ''): Promise<Entered> {
    const visitor = await this.#visitorOf(given, remote);
    const key = randomBytes(32).toString('base64url');
    const now = this.#clock.now();
    this.#sweep();
    if (this.#sessions.size >= MAX_SESSIONS) this.#endLongestUnused();
    const until = Math.min(now + SESSION_MS, visitor.until ?? Number.POSITIVE_INFINITY);
    this.#sessions.set(digest(key), { visitor, until, usedAt: now, onEnd: new Set() });
    this.#options.onVisit?.();
    return { key, who: visitor.who, levels: visitor.levels, until };
  }

  /** The visitor with this session key. Undefined: the key is unknown, or has expired. */
  visitorWith(key: string | undefined): Visitor | undefined {
    const session = this.#sessionOf(key);
    if (!session) return undefined;
    session.usedAt = this.#clock.now();
    this.#options.onVisit?.();
    return session.visitor;
  }

  /** Calls back when the session ends. A stream keeps its session in use, so only the end of its life counts. */
  onEnd(key: string, callback: () => void): () => void {
    const session = this.#sessionOf(key);
    if (!session) {
      callback();
      return () => {};
    }
    session.onEnd.add(callback);
    return () => session.onEnd.delete(callback);
  }

  leave(key: string): void {
    const found = digest(key);
    const session = this.#sessions.get(found);
    this.#sessions.delete(found);
    for (const callback of session?.onEnd ?? []) callback();
  }

  /** Ends all sessions and links. Returns how many sessions there were. */
  endAll(): number {
    const all = [...this.#sessions.values()];
    this.#sessions.clear();
    this.#links.clear();
    for (const { onEnd } of all) for (const callback of onEnd) callback();
    return all.length;
  }

  async #visitorOf(given: EnterRequest, remote: string): Promise<Visitor> {
    const { link, apiKey, jwt } = given;
    if ([link, apiKey, jwt].filter((each) => each !== undefined).length !== 1)
      throw new ConsoleError(400, 'INVALID_OPTION', 'Give exactly one of link, apiKey and jwt');
    // A link cannot be guessed, so wrong ones are not counted: otherwise anybody could keep others out.
    if (link !== undefined) return this.#take(link);
    if (!this.#tries.mayTry(remote))
      throw new ConsoleError(429, 'BUSY', 'Too many wrong keys from this address; try again in a minute');
    const visitor = await this.#options.authenticate?.({
      ...(apiKey !== undefined && { apiKey }),
      ...(jwt !== undefined && { jwt }),
    });
    if (visitor) return visitor;
    this.#tries.fail(remote);
    throw new ConsoleError(401, 'UNAUTHORIZED', 'This key or token does not open the console', {
      hint: 'isthmus console prints a link for the user who runs the gateway',
    });
  }

  /** Uses a link up. */
  #take(text: string): Visitor {
    // The map is keyed by digests, so the time of a look-up says nothing about a link.
    const link = this.#links.get(digest(text));
    if (link?.isUsed) {
      this.#options.onSecondUse?.(link.visitor.who);
      throw new ConsoleError(401, 'LINK_USED', 'This link was used already', {
        hint: 'If it was not you, end the program with Ctrl-C and start it again',
      });
    }
    if (!link || link.until < this.#clock.now()) {
      throw new ConsoleError(401, 'LINK_EXPIRED', 'This link is unknown, or older than 60 s', {
        hint: 'Ask for a new link: isthmus console, or start isthmus inspect again',
      });
    }
    link.isUsed = true;
    return link.visitor;
  }

  #sessionOf(key: string | undefined): Session | undefined {
    if (key === undefined) return undefined;
    const found = digest(key);
    const session = this.#sessions.get(found);
    if (!session) return undefined;
    const now = this.#clock.now();
    const isIdle = session.onEnd.size === 0 && session.usedAt + IDLE_MS < now;
    if (session.until >= now && !isIdle) return session;
    this.leave(key);
    return undefined;
  }

  /** One of the person who has the most: a person cannot push others out. */
  #endLongestUnused(): void {
    const counts = new Map<string, number>();
    for (const { visitor } of this.#sessions.values())
      counts.set(visitor.who, (counts.get(visitor.who) ?? 0) + 1);
    const most = Math.max(...counts.values());
    let oldest: [string, Session] | undefined;
    for (const entry of this.#sessions)
      if (counts.get(entry[1].visitor.who) === most && (!oldest || entry[1].usedAt < oldest[1].usedAt))
        oldest = entry;
    if (!oldest) return;
    this.#sessions.delete(oldest[0]);
    for (const callback of oldest[1].onEnd) callback();
  }

  /** Used links are kept for a while, so that a second use can be told from a guess. */
  #sweep(): void {
    const now = this.#clock.now();
    for (const [key, { until }] of this.#links) if (until + KEEP_USED_MS < now) this.#links.delete(key);
    for (const [key, { until, onEnd }] of this.#sessions) {
      if (until >= now) continue;
      this.#sessions.delete(key);
      for (const callback of onEnd) callback();
    }
  }
}

interface Link {
  readonly visitor: Visitor;
  readonly until: number;
  isUsed: boolean;
}

interface Session {
  readonly visitor: Visitor;
  readonly until: number;
  usedAt: number;
  readonly onEnd: Set<() => void>;
}

/** Whether two secrets are the same, in a time that does not depend on where they differ. */
export function isSameSecret(one: string, other: string): boolean {
  return timingSafeEqual(Buffer.from(digest(one)), Buffer.from(digest(other)));
}

function digest(secret: string): string {
  return createHash('sha256').update(secret).digest('base64url');
}

const LINK_MS = 60_000;
const KEEP_USED_MS = 12 * 60 * 60_000;
const SESSION_MS = 12 * 60 * 60_000;
const IDLE_MS = 60 * 60_000;
const MAX_SESSIONS = 20;
const MAX_LINKS = 100;
