import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { type Clock, systemClock } from '@isthmus/sdk/internal/async/clock.js';
import type { CredentialState } from '@isthmus/sdk/internal/transport/http-server/options.js';
import type { AccessLevel, Entered, EnterRequest } from '../contract.js';
import { ConsoleError } from '../http/console-error.js';
import { ConsoleSessions } from './console-sessions.js';
import { type RequestSource, TryLimit } from './try-limit.js';

/** A person at the console, and what that person may do. */
export interface ConsoleUser {
  /** For logs: `link`, `key:ada`, `jwt:…`. */
  readonly who: string;
  readonly levels: readonly AccessLevel[];
  /** When what let the person in ends, in milliseconds since 1970. */
  readonly until?: number;
  /** Whether what let the person in is still good. Asked with each request, and from time to time while a stream is open. */
  standing?(): CredentialState | Promise<CredentialState>;
}

export interface AccessControlOptions {
  readonly clock?: Clock;
  /** Finds the owner of a key or a token of the operator. Undefined: only links are accepted. */
  readonly authenticate?:
    | ((given: { apiKey?: string; jwt?: string }) => Promise<ConsoleUser | undefined>)
    | undefined;
  /** A person came in, or was refused: then it is not known who that is. */
  onEntry?(who: string | undefined, address: string): void;
  /** A person with a key has asked for something. */
  onUse?(): void;
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
  readonly #sessions: ConsoleSessions;
  readonly #tries: TryLimit;

  constructor(options: AccessControlOptions = {}) {
    this.#clock = options.clock ?? systemClock;
    this.#options = options;
    this.#sessions = new ConsoleSessions(this.#clock);
    this.#tries = new TryLimit(this.#clock);
  }

  /** A new link for this user. It is the fragment of an address, which browsers do not send to servers. */
  mintLink(user: ConsoleUser): string {
    this.#sweep();
    if (this.#links.size >= MAX_LINKS) this.#links.delete(this.#links.keys().next().value!);
    const link = randomBytes(32).toString('base64url');
    this.#links.set(digest(link), { user, until: this.#clock.now() + LINK_MS, isUsed: false });
    return link;
  }

  /** Exchanges what was given for a session. Throws a `ConsoleError` when it is refused. */
  async enter(given: EnterRequest, source: RequestSource = NOWHERE): Promise<Entered> {
    const user = await this.#userOf(given, source);
    this.#options.onEntry?.(user.who, source.address);
    const key = randomBytes(32).toString('base64url');
    this.#sweep();
    const until = this.#sessions.add(digest(key), user);
    this.#options.onUse?.();
    return { key, who: user.who, levels: user.levels, until };
  }

  /** The user with this session key. Undefined: the key is unknown, or has ended. */
  async userWith(key: string | undefined): Promise<ConsoleUser | undefined> {
    const user = key === undefined ? undefined : await this.#sessions.use(digest(key));
    if (user) this.#options.onUse?.();
    return user;
  }

  /** Calls back when the session ends. A stream keeps its session in use, so only the end of its life counts. */
  onEnd(key: string, callback: () => void): () => void {
    return this.#sessions.onEnd(digest(key), callback);
  }

  leave(key: string): void {
    this.#sessions.end(digest(key));
  }

  async #userOf(given: EnterRequest, source: RequestSource): Promise<ConsoleUser> {
    const { link, apiKey, jwt } = given;
    if ([link, apiKey, jwt].filter((each) => each !== undefined).length !== 1)
      throw new ConsoleError(400, 'INVALID_OPTION', 'Give exactly one of link, apiKey and jwt');
    // A link cannot be guessed, so wrong ones are not counted: otherwise anybody could keep others out.
    if (link !== undefined) return this.#take(link);
    if (!this.#tries.mayTry(source))
      throw new ConsoleError(429, 'BUSY', 'Too many wrong keys from this address; try again in a minute', {
        hint: 'isthmus console prints a link, which works at once',
      });
    const user = await this.#options.authenticate?.({
      ...(apiKey !== undefined && { apiKey }),
      ...(jwt !== undefined && { jwt }),
    });
    if (user) return user;
    this.#tries.fail(source);
    this.#options.onEntry?.(undefined, source.address);
    throw new ConsoleError(401, 'UNAUTHORIZED', 'This key or token does not open the console', {
      hint: 'isthmus console prints a link for the user who runs the gateway',
    });
  }

  /** Uses a link up. */
  #take(text: string): ConsoleUser {
    // The map is keyed by digests, so the time of a look-up says nothing about a link.
    const link = this.#links.get(digest(text));
    if (link?.isUsed) {
      this.#options.onSecondUse?.(link.user.who);
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
    return link.user;
  }

  /** Used links are kept for a while, so that a second use can be told from a guess. */
  #sweep(): void {
    const now = this.#clock.now();
    for (const [key, { until }] of this.#links) if (until + KEEP_USED_MS < now) this.#links.delete(key);
  }
}

interface Link {
  readonly user: ConsoleUser;
  readonly until: number;
  isUsed: boolean;
}

/** Whether two secrets are the same, in a time that does not depend on where they differ. */
export function isSameSecret(one: string, other: string): boolean {
  return timingSafeEqual(Buffer.from(digest(one)), Buffer.from(digest(other)));
}

function digest(secret: string): string {
  return createHash('sha256').update(secret).digest('base64url');
}

const NOWHERE: RequestSource = { address: '', isShared: false };
const LINK_MS = 60_000;
const KEEP_USED_MS = 12 * 60 * 60_000;
const MAX_LINKS = 100;
