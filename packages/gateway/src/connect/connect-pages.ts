import type { Clock } from '@isthmus/sdk/internal/async/clock.js';
import { messageOf } from '@isthmus/sdk/internal/errors.js';
import type { PendingAuthorization } from '@isthmus/sdk/internal/oauth/authorization-code.js';
import type { HttpExchange } from '@isthmus/sdk/internal/transport/http-server/exchange/exchange.js';
import type { CallAudit } from '../audit/audit-record.js';
import { auditConnect, type ConnectEnding, type ConnectStep, failureOfLogin } from './audit-connect.js';
import { type BegunLogin, BrowserLogins, type ConsentPlan } from './browser-logins.js';
import { CLIENT_HEADERS, clientDocument } from './client-document.js';
import { codeForm, consentForm, escapeHtml, sendTo, showPage } from './connect-html.js';
import { CALLBACK, callbackOf, clientPathOf, describedAt, isCallback } from './connect-paths.js';
import { type ConnectTicket, ConnectTickets, newTicketId } from './connect-tickets.js';
import type { IdentityProof } from './prove-identity.js';

/** A server whose callers log in themselves. */
export interface ConnectServer {
  readonly host: string;
  /** `agreed`: what the person was told. Nothing else is asked for. */
  begin(ticket: ConnectTicket, agreed: ConsentPlan | undefined): Promise<BegunLogin>;
  /** What the person is asked to agree to. Undefined: it cannot be found out, and `begin` will say why. */
  plan(ticket: ConnectTicket): Promise<ConsentPlan | undefined>;
}

export interface ConnectPagesOptions {
  readonly clock: Clock;
  /** The address of the gateway as browsers know it, without a path. */
  readonly base: () => string;
  /** The name of this member of a cluster. */
  readonly member?: (() => string) | undefined;
  /** Undefined: the person types a code that the application shows. */
  readonly identity?: IdentityProof | undefined;
  readonly audit?: CallAudit | undefined;
}

/** The pages at which callers log in to servers. A login begins only for the person that the ticket is for (AUTH-G-009). */
export class ConnectPages {
  readonly tickets: ConnectTickets;
  readonly #options: ConnectPagesOptions;
  readonly #servers = new Map<string, ConnectServer>();
  readonly #logins: BrowserLogins;

  constructor(options: ConnectPagesOptions) {
    this.#options = options;
    this.tickets = new ConnectTickets(options.clock, options.member);
    this.#logins = new BrowserLogins(options.clock);
  }

  /**
   * Where browsers come back to from the login at a server. Each server has a URI of its own: an authorization server could
   * otherwise let a browser bring it the code of another one (mix-up, RFC 9700 §4.4).
   */
  redirectUriOf(server: string): string {
    return `${this.#options.base()}${callbackOf(server)}`;
  }

  /**
   * The address of a document that describes the gateway as a client of one server, for authorization servers that read it (CIMD).
   * Undefined: it needs https.
   */
  clientUrlOf(server: string): string | undefined {
    return this.#isSecure ? `${this.#options.base()}${clientPathOf(server)}` : undefined;
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
    const described = describedAt(path);
    if (exchange.method === 'POST') void this.#post(path, exchange, form).catch(failed);
    else if (exchange.method === 'GET' && described !== undefined) this.#describe(described, exchange);
    else if (exchange.method === 'GET') {
      const work = isCallback(path) ? this.#callback(path, exchange, query) : this.#open(exchange, query);
      void work.catch(failed);
    } else exchange.respond(405, { allow: 'GET, POST' });
  }

  #describe(server: string, exchange: HttpExchange): void {
    const id = this.clientUrlOf(server);
    if (id === undefined) return showPage(exchange, 404, '<p>There is nothing here.</p>');
    exchange.respond(200, CLIENT_HEADERS, clientDocument(id, this.redirectUriOf(server)));
  }

  async #open(exchange: HttpExchange, query: URLSearchParams): Promise<void> {
    const ticket = this.tickets.find(query.get('t') ?? '');
    if (!ticket) return showPage(exchange, 404, OVER);
    const { identity } = this.#options;
    if (!identity) return showPage(exchange, 200, codeForm(ticket.id, ticket.server, ''));
    const cookie = this.#newId();
    const pending = await identity.begin(`${this.#options.base()}${CALLBACK}`, this.stateSuffix);
    this.#logins.keep(pending.state, { kind: 'identity', ticket, cookie, pending });
    sendTo(exchange, pending.url.href, this.#cookie(cookie));
  }

  async #post(path: string, exchange: HttpExchange, form: URLSearchParams): Promise<void> {
    if (!this.#isOwnForm(exchange)) {
      return showPage(exchange, 403, '<p>This form belongs to another site.</p>');
    }
    if (path === '/connect/consent' || path === '/connect/refuse')
      return this.#decided(exchange, form.get('login') ?? '', path === '/connect/consent');
    const ticket = path === '/connect/code' && this.tickets.find(form.get('t') ?? '');
    if (!ticket || this.#options.identity) return showPage(exchange, 404, OVER);
    if (!this.tickets.isRight(ticket, form.get('code') ?? '')) {
      const error = 'A wrong code was typed';
      // The person who has opened the page is not known.
      this.#write('identity', ticket, exchange, { outcome: 'denied', error, principal: undefined });
      return showPage(exchange, 403, codeForm(ticket.id, ticket.server, 'That is not the code. '));
    }
    return this.#askConsent(exchange, ticket);
  }

  async #callback(path: string, exchange: HttpExchange, query: URLSearchParams): Promise<void> {
    const state = query.get('state') ?? '';
    const login = this.#logins.find(state);
    if (!login || login.kind === 'consent' || !this.#cookiesOf(exchange).includes(login.cookie)) {
      return showPage(exchange, 400, OVER);
    }
    this.#logins.delete(state);
    // The code is that of another authorization server than the one that the browser was sent to.
    if (path !== (login.kind === 'identity' ? CALLBACK : callbackOf(login.ticket.server))) {
      return showPage(exchange, 400, '<p>This page was left for another one. Nothing was connected.</p>');
    }
    if (login.kind === 'identity') {
      const principal = await this.#identify(exchange, login.ticket, login.pending, query);
      if (principal !== login.ticket.principal) {
        const error = 'The page was opened for another caller';
        this.#write('identity', login.ticket, exchange, { outcome: 'denied', error, principal });
        return showPage(
          exchange,
          403,
          '<p>This page was opened for somebody else. Nothing was connected.</p>',
        );
      }
      return this.#askConsent(exchange, login.ticket);
    }
    const { ticket, begun, plan } = login;
    begun.finish(query);
    const problem = await begun.done.then(
      () => undefined,
      (error: unknown) => ({ error }),
    );
    this.#write('login', ticket, exchange, problem ? failureOfLogin(problem.error) : { outcome: 'ok', plan });
    if (!problem) return this.#connected(exchange, ticket);
    this.tickets.end(ticket, false);
    showPage(exchange, 502, `<p>${escapeHtml(messageOf(problem.error))}</p>`);
  }

  /** The principal of the person who came back from the authorization server of the gateway. */
  async #identify(
    exchange: HttpExchange,
    ticket: ConnectTicket,
    pending: PendingAuthorization,
    query: URLSearchParams,
  ): Promise<string | undefined> {
    try {
      return await this.#options.identity!.finish(pending, query);
    } catch (error) {
      this.#write('identity', ticket, exchange, { ...failureOfLogin(error), principal: undefined });
      throw error;
    }
  }

  #connected(exchange: HttpExchange, ticket: ConnectTicket): void {
    this.tickets.end(ticket, true);
    showPage(exchange, 200, `<p>${escapeHtml(ticket.server)} is connected. You can close this page.</p>`);
  }

  async #askConsent(exchange: HttpExchange, ticket: ConnectTicket): Promise<void> {
    const server = this.#servers.get(ticket.server);
    if (!server) return showPage(exchange, 404, OVER);
    const plan = await server.plan(ticket);
    const [login, cookie] = [this.#newId(), this.#newId()];
    this.#logins.keep(login, { kind: 'consent', ticket, cookie, plan });
    const { principal, clientId } = ticket;
    const facts = { login, server: ticket.server, host: server.host, plan, principal, clientId };
    const redirectUri = this.redirectUriOf(ticket.server);
    showPage(exchange, 200, consentForm({ ...facts, redirectUri }), this.#cookie(cookie));
  }

  /** AUTH-G-008: the state is made after the consent, right before the redirect. */
  async #decided(exchange: HttpExchange, id: string, hasAgreed: boolean): Promise<void> {
    const login = this.#logins.find(id);
    if (login?.kind !== 'consent' || !this.#cookiesOf(exchange).includes(login.cookie)) {
      return showPage(exchange, 403, OVER);
    }
    this.#logins.delete(id);
    const { ticket, cookie, plan } = login;
    this.#write('consent', ticket, exchange, { outcome: hasAgreed ? 'ok' : 'declined', plan });
    if (!hasAgreed) {
      this.tickets.end(ticket, false);
      return showPage(exchange, 200, '<p>Nothing was connected. You can close this page.</p>');
    }
    const begun = await this.#begin(exchange, ticket, plan);
    if (!begun.page) return this.#connected(exchange, ticket);
    this.#logins.keep(begun.state, { kind: 'login', ticket, cookie, begun, plan });
    sendTo(exchange, begun.page.href);
  }

  async #begin(
    exchange: HttpExchange,
    ticket: ConnectTicket,
    plan: ConsentPlan | undefined,
  ): Promise<BegunLogin> {
    try {
      return await this.#servers.get(ticket.server)!.begin(ticket, plan);
    } catch (error) {
      this.#write('login', ticket, exchange, failureOfLogin(error));
      throw error;
    }
  }

  /** The application was asked to open the page, and its user did not agree. */
  declined(ticket: ConnectTicket, remote: string | undefined): void {
    auditConnect(this.#options.audit, 'consent', ticket, { outcome: 'declined', remote });
  }

  #write(
    step: ConnectStep,
    ticket: ConnectTicket,
    { remote }: HttpExchange,
    ending: Omit<ConnectEnding, 'remote'>,
  ): void {
    auditConnect(this.#options.audit, step, ticket, { ...ending, remote });
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

  /** AUTH-G-006. Each login has a cookie of its own: a person may have several pages open. */
  #cookie(value: string): string {
    const secure = this.#isSecure ? '; Secure' : '';
    return `${this.#cookieName}${value.slice(0, 8)}=${value}; Path=/; HttpOnly; SameSite=Lax; Max-Age=600${secure}`;
  }

  /** The logins that the browser has begun. */
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

const OVER = '<p>This page is not open any more. Ask your application for a new one.</p>';
const COOKIE = 'isthmus-connect';
