import { IsthmusError } from '../errors.js';
import { scopesToAsk } from './begin-login.js';
import { askServer } from './discovery/ask-server.js';
import { loginChallenge } from './discovery/challenge.js';
import { findLoginFacts, loginNetwork } from './discovery/login-facts.js';
import { type OAuthOptions, resolveOAuth } from './options.js';
import { loginKey } from './store/login-record.js';

/** What a login would ask a user for. */
export interface LoginPlan {
  readonly issuer: string;
  readonly scopes: readonly string[];
}

/**
 * Finds out what a login at a server would ask for, for a page that tells its user before. Nothing is begun.
 * `wwwAuthenticate` is what the server sent with a refusal. Without it the server is asked.
 */
export async function planLogin(
  server: URL,
  options: OAuthOptions,
  wwwAuthenticate?: string,
): Promise<LoginPlan> {
  const settings = resolveOAuth(options);
  const network = loginNetwork(server, settings);
  const challenge = loginChallenge(
    wwwAuthenticate ?? (await askServer(server, network.http)).wwwAuthenticate,
  );
  const stored = await settings.store.read(loginKey(server)).catch(() => undefined);
  const facts = await findLoginFacts(server, challenge, network, settings, stored?.issuer);
  return { issuer: facts.metadata.issuer, scopes: scopesToAsk(facts, challenge, stored, settings) };
}

/** Throws where a login would ask for something else than what its user has agreed to. */
export function checkAgreed(server: URL, wanted: LoginPlan, agreed: LoginPlan): void {
  if (wanted.issuer === agreed.issuer && wanted.scopes.every((scope) => agreed.scopes.includes(scope)))
    return;
  const message = `${server.host} asks for something else now than before; open the page again to see it`;
  throw new IsthmusError('UNAUTHORIZED', message, { sent: 'no' });
}
