import type { Clock } from '@isthmus/sdk/internal/async/clock.js';
import type { UrlSpec } from '@isthmus/sdk/internal/config/server-spec.js';
import { IsthmusError } from '@isthmus/sdk/internal/errors.js';
import type { TokenExchange } from '@isthmus/sdk/internal/oauth/grants/token-exchange.js';
import type { ServerAuth } from '@isthmus/sdk/internal/transport/http-client/options.js';
import { deriveService } from '../pipeline/derive-service.js';
import { type CallerTokens, MAX_CALLERS } from './caller-tokens.js';
import { ExchangedLogin } from './exchanged-login.js';
import { MAX_SHOWN, type PersonalLogins } from './personal-logins.js';

export interface ExchangedLoginsOptions {
  readonly callers: CallerTokens;
  readonly clock: Clock;
  readonly onWarning?: ((warning: string) => void) | undefined;
}

/** Tokens for a server that are got in exchange for those of the callers (RFC 8693). Bounded: the oldest are dropped. */
export function exchangedLogins(
  { name, url, auth }: UrlSpec,
  { callers, clock, onWarning }: ExchangedLoginsOptions,
): PersonalLogins {
  const { mode: _mode, clientId, ...rest } = auth!;
  if (clientId === undefined) {
    throw new IsthmusError('INVALID_OPTION', `${name}: token-exchange needs a clientId`);
  }
  callers.isUsed = true;
  let loading: Promise<TokenExchange> | undefined;
  const load = async () => {
    const { TokenExchange } = await import('@isthmus/sdk/internal/oauth/grants/token-exchange.js');
    return new TokenExchange(new URL(url), { ...rest, clientId, clock, ...(onWarning && { onWarning }) });
  };
  /** The latest used is the last one. */
  const logins = new Map<string, ExchangedLogin>();
  const loginOf = (principal: string): ExchangedLogin => {
    const login =
      logins.get(principal) ??
      new ExchangedLogin({
        ...{ server: name, principal, clock },
        subject: () => callers.of(principal),
        async exchange(subject, challenge) {
          loading ??= load();
          return (await loading).exchange(subject, challenge);
        },
      });
    logins.delete(principal);
    logins.set(principal, login);
    if (logins.size > MAX_CALLERS) logins.delete(logins.keys().next().value!);
    return login;
  };
  return {
    authFor: (principal) => ({
      forServer: () => (principal === undefined ? NO_LOGIN : { ...delegateTo(() => loginOf(principal)) }),
    }),
    around: (inner) =>
      deriveService(inner, { handle: (call) => callers.during(call, () => inner.handle(call)) }),
    status: async () => [...logins.values()].slice(-MAX_SHOWN).map(({ status }) => status),
  };
}

/** A connection may outlive the entry of its principal. */
function delegateTo(login: () => ExchangedLogin): ServerAuth {
  return { authorization: () => login().authorization(), refused: (refusal) => login().refused(refusal) };
}

/** The gateway itself has no token for the server. */
export const NO_LOGIN: ServerAuth = { authorization: () => undefined, refused: async () => false };
