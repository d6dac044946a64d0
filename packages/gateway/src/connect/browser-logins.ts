import type { Clock } from '@isthmus/sdk/internal/async/clock.js';
import type { PendingAuthorization } from '@isthmus/sdk/internal/oauth/authorization-code.js';
import type { ConnectTicket } from './connect-tickets.js';

/** A login at a server that a page has begun. */
export interface BegunLogin {
  /** The page of the authorization server of that server. Undefined: the login is there, and only the consent was missing. */
  readonly page: URL | undefined;
  readonly state: string;
  finish(response: URLSearchParams): void;
  /** Settles when the tokens are stored; rejects with what went wrong. */
  readonly done: Promise<unknown>;
}

/** What a person agrees to on the page. */
export interface ConsentPlan {
  /** The authorization server whose page comes next. Undefined: the person is logged in there. */
  readonly issuer: string | undefined;
  readonly scopes: readonly string[];
}

/** What the page shows of the scopes: the server names them, so they may be anything, and any number. */
export function shownScopes({ scopes }: ConsentPlan): readonly string[] {
  return scopes.slice(0, MAX_SCOPES).map((each) => each.slice(0, MAX_SCOPE));
}

const MAX_SCOPES = 50;
const MAX_SCOPE = 200;

/** What a browser is doing for a ticket. It goes on only in the browser that has the cookie. */
export type BrowserLogin = { readonly ticket: ConnectTicket; readonly cookie: string } & (
  | { readonly kind: 'identity'; readonly pending: PendingAuthorization }
  | { readonly kind: 'consent'; readonly plan: ConsentPlan | undefined }
  | { readonly kind: 'login'; readonly begun: BegunLogin; readonly plan: ConsentPlan | undefined }
);

/**
 * The logins of browsers, by the state that they come back with, or by the form that they send. Each lives for 10 minutes (AUTH-G-008).
 * Bounded for all and for each ticket: opening one page again and again ends no login of others.
 */
export class BrowserLogins {
  readonly #clock: Clock;
  readonly #byKey = new Map<string, { readonly login: BrowserLogin; readonly until: number }>();
  /** The keys of each ticket, by its id, the oldest first. */
  readonly #ofTicket = new Map<string, string[]>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get size(): number {
    return this.#byKey.size;
  }

  keep(key: string, login: BrowserLogin): void {
    this.#byKey.set(key, { login, until: this.#clock.now() + LIFE_MS });
    const own = this.#ofTicket.get(login.ticket.id) ?? [];
    this.#ofTicket.set(login.ticket.id, own);
    own.push(key);
    if (own.length > MAX_OF_TICKET) this.delete(own[0]!);
    if (this.#byKey.size > MAX_LOGINS) this.delete(this.#byKey.keys().next().value!);
  }

  /** Undefined: there is none, or its time is up. */
  find(key: string): BrowserLogin | undefined {
    const kept = this.#byKey.get(key);
    if (!kept || this.#clock.now() < kept.until) return kept?.login;
    this.delete(key);
    return undefined;
  }

  delete(key: string): void {
    const id = this.#byKey.get(key)?.login.ticket.id;
    this.#byKey.delete(key);
    if (id === undefined) return;
    const left = (this.#ofTicket.get(id) ?? []).filter((each) => each !== key);
    if (left.length > 0) this.#ofTicket.set(id, left);
    else this.#ofTicket.delete(id);
  }
}

const LIFE_MS = 600_000;
const MAX_LOGINS = 10_000;
const MAX_OF_TICKET = 8;
