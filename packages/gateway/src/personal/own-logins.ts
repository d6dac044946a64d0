import type { Clock } from '@isthmus/sdk/internal/async/clock.js';
import { createDeferred } from '@isthmus/sdk/internal/async/deferred.js';
import { given, type UrlSpec } from '@isthmus/sdk/internal/config/server-spec.js';
import { IsthmusError } from '@isthmus/sdk/internal/errors.js';
import { ByPrincipal } from '@isthmus/sdk/internal/exchange/by-principal.js';
import { oauth } from '@isthmus/sdk/internal/oauth/oauth.js';
import { planLogin } from '@isthmus/sdk/internal/oauth/plan-login.js';
import type { ServerLogin } from '@isthmus/sdk/internal/oauth/server-login.js';
import type { ServerAuth } from '@isthmus/sdk/internal/transport/http-client/options.js';
import type { BegunLogin, ConsentPlan } from '../connect/browser-logins.js';
import type { ConnectPages } from '../connect/connect-pages.js';
import type { ConnectTicket } from '../connect/connect-tickets.js';
import type { LoginsOfCallers } from '../connect/sealed-logins.js';
import { MAX_CALLERS } from './caller-tokens.js';
import { ClientConsents } from './client-consents.js';
import { connectAround } from './connect-around.js';
import { NO_LOGIN } from './exchanged-logins.js';
import { MAX_SHOWN, type PersonalLoginStatus, type PersonalLogins } from './personal-logins.js';

export interface OwnLoginsOptions {
  readonly pages: ConnectPages;
  readonly logins: LoginsOfCallers;
  readonly clock: Clock;
}

/** The logins that callers have made themselves, each at the authorization server of the server (AUTH-G-002, AUTH-G-003). */
export function ownLogins({ name, url, auth }: UrlSpec, options: OwnLoginsOptions): PersonalLogins {
  const { pages, logins, clock } = options;
  const { mode: _mode, audience: _audience, clientMetadata, ...rest } = auth!;
  const server = new URL(url);
  const common = { ...rest, clock };
  const callers = new ByPrincipal<OwnLogin>(
    () => ({ login: undefined, challenge: undefined, isRefused: false }),
    MAX_CALLERS,
  );

  const loginOf = (principal: string): Promise<ServerLogin> => {
    const own = callers.of(principal);
    // Without `open` it renews tokens, and never begins a login.
    own.login ??= oauth({ ...common, store: logins.of(principal) }).login(server);
    return own.login;
  };
  const isThere = async (principal: string): Promise<boolean> => {
    const login = await loginOf(principal);
    try {
      return (await login.authorization()) !== undefined;
    } catch {
      // There is one, and it cannot be renewed at the moment. The call fails with the reason.
      return true;
    }
  };
  const clientUrl = (): string => {
    const found = pages.clientUrlOf(name);
    if (found !== undefined) return found;
    const message = `${name}: clientMetadata needs an https address of the gateway (--resource)`;
    throw new IsthmusError('INVALID_OPTION', message, { sent: 'no' });
  };
  /** By address: another server that gets the name later needs a consent of its own. */
  const consents = new ClientConsents(server.href, logins);
  /** Only the consent is missing. */
  const isLoggedIn = async ({ principal, challenge }: ConnectTicket): Promise<boolean> =>
    challenge === undefined && (await isThere(principal));
  const plan = async (ticket: ConnectTicket): Promise<ConsentPlan | undefined> => {
    const { principal, challenge } = ticket;
    if (await isLoggedIn(ticket)) {
      const { scopes } = await (await loginOf(principal)).status();
      return { issuer: undefined, scopes };
    }
    return planLogin(server, { ...common, store: logins.of(principal) }, challenge).catch(() => undefined);
  };
  const begin = async (ticket: ConnectTicket, agreed: ConsentPlan | undefined): Promise<BegunLogin> => {
    await consents.add(ticket.principal, ticket.clientId);
    const { principal } = ticket;
    if (await isLoggedIn(ticket)) {
      return { page: undefined, state: '', finish() {}, done: Promise.resolve() };
    }
    const opened = createDeferred<URL>();
    const clientMetadataUrl = clientMetadata ? clientUrl() : undefined;
    const login = await oauth({
      ...common,
      ...given({ clientMetadataUrl }),
      store: logins.of(ticket.principal),
      clientName: 'Isthmus gateway',
      callback: { url: pages.redirectUriOf(name), ...given({ stateSuffix: pages.stateSuffix }) },
      open: (page) => opened.resolve(page),
    }).login(server);
    // A person who was told nothing has agreed to nothing.
    const plan = { issuer: agreed?.issuer ?? '', scopes: agreed?.scopes ?? [] };
    const done = login.login(ticket.challenge, undefined, plan).then(async () => {
      (await loginOf(principal)).reread();
      Object.assign(callers.of(principal), { challenge: undefined, isRefused: false });
    });
    done.catch(() => {});
    const page = await Promise.race([opened.promise, done.then(() => opened.promise)]);
    return { page, state: login.waitsFor!, finish: (response) => login.finish(response), done };
  };
  pages.serve(name, { host: server.host, begin, plan });

  const stateOf = async (principal: string): Promise<PersonalLoginStatus> => {
    const { state, reason } = await (await loginOf(principal)).status();
    // The server may refuse a token that has not ended.
    const isGood = (state === 'valid' || state === 'stale') && !callers.get(principal)?.isRefused;
    return { principal, state: isGood ? 'valid' : 'needs-login', ...(reason !== undefined && { reason }) };
  };
  return {
    authFor: (principal) => ({
      forServer: () => (principal === undefined ? NO_LOGIN : delegateTo(principal, loginOf, callers)),
    }),
    around: (bridge) =>
      connectAround(bridge, {
        name,
        clock,
        hasLogin: isThere,
        hasConsent: (principal, clientId) => consents.has(principal, clientId),
        invite(asked) {
          const { challenge } = callers.of(asked.principal);
          const ticket = pages.tickets.of({ ...asked, server: name, challenge });
          return { ticket, ...pages.invite(ticket) };
        },
        onDeclined: (ticket, remote) => pages.declined(ticket, remote),
      }),
    async status() {
      const recent = [...callers.entries()].flatMap(([principal]) => principal ?? []);
      return Promise.all(recent.slice(-MAX_SHOWN).map(stateOf));
    },
  };
}

interface OwnLogin {
  login: Promise<ServerLogin> | undefined;
  /** What the server sent when it last refused the caller: it may name scopes. */
  challenge: string | undefined;
  /** The server does not accept its token. */
  isRefused: boolean;
}

/** A connection may outlive the entry of its principal. */
function delegateTo(
  principal: string,
  loginOf: (principal: string) => Promise<ServerLogin>,
  callers: ByPrincipal<OwnLogin>,
): ServerAuth {
  return {
    authorization: async () => (await loginOf(principal)).authorization(),
    async refused(refusal) {
      const own = callers.of(principal);
      own.challenge = refusal.wwwAuthenticate;
      own.isRefused = refusal.status === 401;
      const isReplaced = await (await loginOf(principal)).refused(refusal);
      if (isReplaced) Object.assign(own, { challenge: undefined, isRefused: false });
      return isReplaced;
    },
  };
}
