import { IsthmusError } from '../../errors.js';
import { pause } from '../../transport/http-client/deadline.js';
import { isJsonObject } from '../../wire/json-rpc.js';
import { DEVICE_GRANT, tokenClientOf } from '../client-identity.js';
import type { LoginFacts, LoginNetwork } from '../discovery/login-facts.js';
import { unusable } from '../discovery/oauth-http.js';
import { toldText } from '../login-status.js';
import { isSafeUrl, type OAuthSettings } from '../options.js';
import type { LoginClient } from '../store/login-record.js';
import { type GrantedToken, requestToken, TokenRefused } from '../token-endpoint.js';

export interface DeviceContext {
  readonly facts: LoginFacts;
  readonly network: LoginNetwork;
  readonly settings: OAuthSettings;
  /** Ends the login. */
  readonly signal: AbortSignal | undefined;
}

/** Logs in on another device (RFC 8628): shows a code, and asks for the token until the user has entered it. */
export async function grantByDevice(
  { facts, network, settings, signal = NEVER }: DeviceContext,
  client: LoginClient,
  scopes: readonly string[],
): Promise<GrantedToken> {
  const { metadata, resource } = facts;
  const { issuer, tokenEndpoint, deviceAuthorizationEndpoint: endpoint } = metadata;
  const { ask, clock, timeoutMs } = settings;
  if (endpoint === undefined) throw refused(`${issuer} has no login by device code`);
  if (!ask.showCode) throw refused('A login by device code needs ask.showCode');
  const body = new URLSearchParams({ client_id: client.id });
  if (scopes.length > 0) body.set('scope', scopes.join(' '));
  if (resource !== undefined) body.set('resource', resource);
  const headers = { 'content-type': 'application/x-www-form-urlencoded', accept: 'application/json' };
  const response = await network.http.send(new URL(endpoint), {
    method: 'POST',
    headers,
    body: body.toString(),
  });
  const answer: unknown = await response.json().catch(() => undefined);
  if (!response.ok || !isJsonObject(answer)) {
    const { error, error_description: text } = isJsonObject(answer) ? answer : {};
    const why = [error, text].filter((part) => typeof part === 'string').join(': ');
    throw refused(
      `${issuer} gave no device code (HTTP ${response.status}${why ? `, ${toldText(why)}` : ''})`,
    );
  }
  const { device_code: device, user_code: userCode, verification_uri: page } = answer;
  const filled = answer['verification_uri_complete'];
  if (
    typeof device !== 'string' ||
    typeof userCode !== 'string' ||
    typeof page !== 'string' ||
    !isSafeUrl(page)
  ) {
    throw unusable(`The answer of ${endpoint} has no code or no page that can be used`);
  }
  const expiresInMs = Math.min(timeoutMs, positive(answer['expires_in'], 600) * 1000);
  const pageWithCode = typeof filled === 'string' && isSafeUrl(filled) ? new URL(filled) : undefined;
  await ask.showCode({ userCode, page: new URL(page), pageWithCode, expiresInMs });
  const until = clock.now() + expiresInMs;
  let intervalMs = positive(answer['interval'], 5) * 1000;
  const params = { device_code: device, ...(resource !== undefined && { resource }) };
  while (clock.now() < until) {
    await pause(clock, intervalMs, signal);
    try {
      const own = await tokenClientOf(client, settings);
      return await requestToken(network.http, {
        issuer,
        tokenEndpoint,
        client: own,
        grantType: DEVICE_GRANT,
        params,
        now: clock.now,
      });
    } catch (error) {
      if (!(error instanceof TokenRefused)) throw error;
      if (error.error === 'slow_down') intervalMs += 5000;
      else if (error.error !== 'authorization_pending')
        throw refused(`${issuer} refused the login: ${error.message}`);
    }
  }
  throw refused('The code was not entered in time');
}

/** A login ends by itself when its code does. */
const NEVER = new AbortController().signal;

function positive(value: unknown, otherwise: number): number {
  return typeof value === 'number' && value > 0 ? value : otherwise;
}

function refused(message: string): IsthmusError {
  return new IsthmusError('UNAUTHORIZED', message, { sent: 'no' });
}
