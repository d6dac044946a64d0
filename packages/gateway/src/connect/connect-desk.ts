import type { Clock } from '@isthmus/sdk/internal/async/clock.js';
import { messageOf } from '@isthmus/sdk/internal/errors.js';
import type { PendingAuthorization } from '@isthmus/sdk/internal/oauth/authorization-code.js';
import type { HttpExchange } from '@isthmus/sdk/internal/transport/http-server/exchange/exchange.js';
import { codeForm, consentForm, escapeHtml, sendTo, showPage } from './connect-html.js';
import { type ConnectTicket, ConnectTickets, newTicketId } from './connect-tickets.js';
import type { IdentityProof } from './prove-identity.js';

/** A login at a server that a page has begun. */
export interface BegunLogin {
  /** The page of the authorization server of that server. Undefined: the login is there, and only the consent was missing. */
  readonly page: URL | undefined;
  readonly state: string;
  finish(response: URLSearchParams): void;
  /** Settles when the tokens are stored; rejects with what went wrong. */
  readonly done: Promise<unknown>;
}

/** A server whose callers log in themselves. */
export interface ConnectServer {
  readonly host: string;
  begin(ticket: ConnectTicket): Promise<BegunLogin>;
}

export interface ConnectDeskOptions {
  readonly clock: Clock;
  /** The address of the gateway as browsers know it, without a path. */
  readonly base: () => string;
  /** The name of this member of a cluster. */
  readonly member?: (() => string) | undefined;
  /** Undefined: the person types a code that the application shows. */
  readonly identity?: IdentityProof | undefined;
}

/** The pages at which callers log in to servers. A visit begins only for the person that the ticket is for (AUTH-G-009). */
export class ConnectDesk {
  readonly tickets: ConnectTickets;
  readonly #options: ConnectDeskOptions;
  readonly #servers = new Map<string, ConnectServer>();
  /** Visits of browsers, by the state that they come back with, or by their cookie before that. */
  readonly #visits = new Map<string, Visit>();

  constructor(options: ConnectDeskOptions) {
    this.#options = options;
    this.tickets = new ConnectTickets(options.clock, options.member);
  }

  get redirectUri(): string {
    return `${this.#options.base()}/connect/callback`;
  }

  /** Ends every state, so that a browser that comes back to another member is given to this one. */
  get stateSuffix(): string | undefined {
    const member = this.#options.member?.();
    return member === undefined ? undefined : `.${member}`;
  }

  serve(name: string, server: ConnectServer): void {
    this.#servers.set(name, server);
  }

  /** Where the person has to go, and what the application says about it. */
  invite(ticket: ConnectTicket): { readonly url: string; readonly message: string } {
    const url = `${this.#options.base()}/connect/${encodeURIComponent(ticket.server)}?t=${ticket.id}`;
    const code = `${ticket.code.slice(0, 4)}-${ticket.code.slice(4)}`;
    const message = `${ticket.server} needs you to log in. Open the page${this.#options.identity ? '' : ` and enter the code ${code}`}.`;
    return { url, message };
  }

  /** Answers the paths below `/connect`. */
  answer(path: string, exchange: HttpExchange, query: URLSearchParams, form: URLSearchParams): void {
    const failed = (error: unknown) => showPage(exchange, 502, `<p>${escapeHtml(messageOf(error))}</p>`);
    if (exchange.method === 'POST') void this.#post(path, exchange, form).catch(failed);
    else if (exchange.method === 'GET') {
      const work =
        path === '/connect/callback' ? this.#callback(exchange, query) : this.#open(exchange, query);
      void work.catch(failed);
    } else exchange.respond(405, { allow: 'GET, POST' });
  }

  async #open(exchange: HttpExchange, query: URLSearchParams): Promise<void> {
    const ticket = this.tickets.find(query.get('t') ?? '');
    if (!ticket) return showPage(exchange, 404, OVER);
    const { identity } = this.#options;
    if (!identity) return showPage(exchange, 200, codeForm(ticket.id, ticket.server, ''));
    const cookie = this.#newId();
    const pending = await identity.begin(this.redirectUri, this.stateSuffix);
    this.#keep(pending.state, { kind: 'identity', ticket, cookie, pending });
    sendTo(exchange, pending.url.href, this.#cookie(cookie));
  }

  async #post(path: string, exchange: HttpExchange, form: URLSearchParams): Promise<void> {
    if (!this.#isOwnForm(exchange)) {
      return showPage(exchange, 403, '<p>This form belongs to another site.</p>');
    }
    if (path === '/connect/consent') return this.#consented(exchange, form.get('visit') ?? '');
    const ticket = path === '/connect/code' && this.tickets.find(form.get('t') ?? '');
    if (!ticket || this.#options.identity) return showPage(exchange, 404, OVER);
    if (!this.tickets.isRight(ticket, form.get('code') ?? '')) {
      return showPage(exchange, 403, codeForm(ticket.id, ticket.server, 'That is not the code. '));
    }
    this.#askConsent(exchange, ticket);
  }

  async #callback(exchange: HttpExchange, query: URLSearchParams): Promise<void> {
    const state = query.get('state') ?? '';
    const visit = this.#visits.get(state);
    if (!visit || visit.kind === 'consent' || !this.#cookiesOf(exchange).includes(visit.cookie)) {
      return showPage(exchange, 400, OVER);
    }
    this.#visits.delete(state);
    if (visit.kind === 'identity') {
      const principal = await this.#options.identity!.finish(visit.pending, query);
      if (principal !== visit.ticket.principal) {
        return showPage(
          exchange,
          403,
          '<p>This page was opened for somebody else. Nothing was connected.</p>',
        );
      }
      return this.#askConsent(exchange, visit.ticket);
    }
    visit.begun.finish(query);
    return this.#end(exchange, visit.ticket, visit.begun);
  }

  async #end(exchange: HttpExchange, ticket: ConnectTicket, begun: BegunLogin): Promise<void> {
    const problem = await begun.done.then(
      () => undefined,
      (error: unknown) => messageOf(error),
    );
    this.tickets.end(ticket, problem === undefined);
    if (problem !== undefined) return showPage(exchange, 502, `<p>${escapeHtml(problem)}</p>`);
    showPage(exchange, 200, `<p>${escapeHtml(ticket.server)} is connected. You can close this page.</p>`);
  }

  #askConsent(exchange: HttpExchange, ticket: ConnectTicket): void {
    const server = this.#servers.get(ticket.server);
    if (!server) return showPage(exchange, 404, OVER);
    const [visit, cookie] = [this.#newId(), this.#newId()];
    this.#keep(visit, { kind: 'consent', ticket, cookie });
    const { principal, clientId } = ticket;
    const facts = { visit, server: ticket.server, host: server.host, principal, clientId };
    const { redirectUri } = this;
    showPage(exchange, 200, consentForm({ ...facts, redirectUri }), this.#cookie(cookie));
  }

  /** AUTH-G-008: the state is made after the consent, right before the redirect. */
  async #consented(exchange: HttpExchange, id: string): Promise<void> {
    const visit = this.#visits.get(id);
    if (visit?.kind !== 'consent' || !this.#cookiesOf(exchange).includes(visit.cookie)) {
      return showPage(exchange, 403, OVER);
    }
    this.#visits.delete(id);
    const { ticket, cookie } = visit;
    const begun = await this.#servers.get(ticket.server)!.begin(ticket);
    if (!begun.page) return this.#end(exchange, ticket, begun);
    this.#keep(begun.state, { kind: 'login', ticket, cookie, begun });
    sendTo(exchange, begun.page.href);
  }

  #keep(key: string, visit: Visit): void {
    this.#visits.set(key, visit);
    if (this.#visits.size > MAX_VISITS) this.#visits.delete(this.#visits.keys().next().value!);
  }

  /** A form of another site has another origin. Browsers send it with every form; `null` says that they hide it. */
  #isOwnForm(exchange: HttpExchange): boolean {
    const origin = exchange.header('origin');
    if (origin === undefined) return true;
    if (!URL.canParse(origin)) return false;
    // A proxy may change the host.
    return (
      origin === new URL(this.#options.base()).origin || new URL(origin).host === exchange.header('host')
    );
  }

  /** AUTH-G-006. Each visit has a cookie of its own: a person may have several pages open. */
  #cookie(value: string): string {
    const secure = this.#isSecure ? '; Secure' : '';
    return `${this.#cookieName}${value.slice(0, 8)}=${value}; Path=/; HttpOnly; SameSite=Lax; Max-Age=600${secure}`;
  }

  /** The visits that the browser has begun. */
  #cookiesOf(exchange: HttpExchange): readonly string[] {
    const all = (exchange.header('cookie') ?? '').split(';').map((each) => each.trim());
    const own = all.filter((each) => each.startsWith(this.#cookieName));
    return own.map((each) => each.slice(each.indexOf('=') + 1));
  }

  /** A cookie of `http` cannot be secure: that is only for this machine. */
  get #isSecure(): boolean {
    return this.#options.base().startsWith('https:');
  }

  get #cookieName(): string {
    return `${this.#isSecure ? '__Host-' : ''}${COOKIE}-`;
  }

  #newId(): string {
    return newTicketId(this.#options.member?.());
  }
}

type Visit = { readonly ticket: ConnectTicket; readonly cookie: string } & (
  | { readonly kind: 'identity'; readonly pending: PendingAuthorization }
  | { readonly kind: 'consent' }
  | { readonly kind: 'login'; readonly begun: BegunLogin }
);

const OVER = '<p>This page is not open any more. Ask your application for a new one.</p>';
const COOKIE = 'isthmus-connect';
const MAX_VISITS = 10_000;
