import { createDeferred, type Deferred } from '../async/deferred.js';
import { IsthmusError } from '../errors.js';
import { pause } from '../transport/http-client/deadline.js';
import { newState, prepareAuthorization, readAuthorizationResponse } from './authorization-code.js';
import { type CallbackListener, listenForCallback, paramsOf } from './callback-listener.js';
import {
  chooseIdentity,
  confirmIssuer,
  type Identity,
  registerClient,
  tokenClientOf,
} from './client-identity.js';
import type { LoginFacts, LoginNetwork } from './discovery/login-facts.js';
import { grantByDevice } from './grants/device-code.js';
import { LoginNotFinished } from './login-status.js';
import { isSafeUrl, type OAuthSettings } from './options.js';
import type { LoginClient, LoginRecord } from './store/login-record.js';
import { type GrantedToken, requestToken, TokenRefused, unattendedGrant } from './token-endpoint.js';

/** A login that waits for the response of a browser. */
export interface PendingResponse {
  deferred: Deferred<URLSearchParams> | undefined;
  state: string | undefined;
}

export interface GrantContext {
  readonly server: URL;
  readonly facts: LoginFacts;
  readonly network: LoginNetwork;
  readonly settings: OAuthSettings;
  /** The login that is stored now. */
  readonly stored: LoginRecord | undefined;
  /** Receives the response of a browser that does not come back to this machine. */
  readonly responses: PendingResponse;
  /** Ends the login. */
  readonly signal: AbortSignal | undefined;
}

export interface Granted {
  readonly client: LoginClient;
  readonly token: GrantedToken;
}

/** Gets a token from the authorization server, with the grant that the settings name. */
export async function grantLogin(context: GrantContext, scopes: readonly string[]): Promise<Granted> {
  const { facts, settings, stored, network } = context;
  const identity = chooseIdentity(facts.metadata, stored, settings);
  await confirmIssuer(identity, facts.metadata.issuer, stored, settings);
  try {
    switch (settings.grant) {
      case 'client-credentials':
        return await grantByCredentials(context, knownClient(identity), scopes);
      case 'device-code': {
        const { metadata } = facts;
        const client =
          identity.kind === 'known'
            ? identity.client
            : await registerClient(network.http, identity.endpoint, undefined, metadata, settings);
        const token = await grantByDevice(context, client, scopes);
        return { client, token };
      }
      default:
        return await grantByCode(context, identity, scopes);
    }
  } catch (error) {
    if (!(error instanceof TokenRefused)) throw error;
    throw refused(`${facts.metadata.issuer} gave no token: ${error.message}`);
  }
}

/** RFC 6749 §4.4. */
async function grantByCredentials(
  { facts, settings, network }: GrantContext,
  client: LoginClient,
  scopes: readonly string[],
): Promise<Granted> {
  const { issuer, tokenEndpoint } = facts.metadata;
  const { resource } = facts;
  const token = await requestToken(network.http, {
    ...{ issuer, tokenEndpoint, client: await tokenClientOf(client, settings), now: settings.clock.now },
    ...(await unattendedGrant({ issuer, resource, scope: scopes.join(' ') || undefined }, settings)),
  });
  return { client, token };
}

async function grantByCode(
  context: GrantContext,
  identity: Identity,
  scopes: readonly string[],
): Promise<Granted> {
  const { facts, settings, network } = context;
  const { metadata, resource } = facts;
  const state = (await settings.hooks?.state?.()) || newState(settings.callback.stateSuffix);
  const listener =
    settings.callback.url === undefined ? await openListener(identity, settings, state) : undefined;
  const redirectUri = listener?.redirectUri ?? settings.callback.url!;
  let succeeded = false;
  try {
    const client = await clientFor(context, identity, redirectUri);
    const pending = await prepareAuthorization({
      ...{ metadata, clientId: client.id, redirectUri, state, scopes, resource, settings },
    });
    const response = await visit(pending.url, state, listener, context);
    const code = readAuthorizationResponse(response, pending);
    const token = await requestToken(network.http, {
      ...{ issuer: metadata.issuer, tokenEndpoint: metadata.tokenEndpoint },
      client: await tokenClientOf(client, settings),
      grantType: 'authorization_code',
      params: {
        code,
        redirect_uri: redirectUri,
        code_verifier: pending.verifier,
        ...(resource !== undefined && { resource }),
      },
      now: settings.clock.now,
    });
    succeeded = true;
    return { client, token };
  } finally {
    listener?.answer(succeeded);
    listener?.close();
  }
}

/** A stored registration has a redirect URI with a port. If that is taken, the client is registered again. */
async function openListener(
  identity: Identity,
  settings: OAuthSettings,
  state: string,
): Promise<CallbackListener> {
  const { callback } = settings;
  const client = identity.kind === 'known' ? identity.client : undefined;
  const isConfigured = client?.kind === 'preregistered';
  const host = callback.host ?? (isConfigured ? 'localhost' : '127.0.0.1');
  const path = callback.path ?? '/callback';
  const stored = client?.redirectUri === undefined ? undefined : new URL(client.redirectUri);
  if (stored && callback.port === undefined) {
    const kept = await listenForCallback({
      ...{ host: stored.hostname, port: Number(stored.port), path: stored.pathname, state },
    }).catch(() => undefined);
    if (kept) return kept;
  }
  return listenForCallback({ host, port: callback.port ?? 0, path, state });
}

async function clientFor(
  { facts, settings, network }: GrantContext,
  identity: Identity,
  redirectUri: string,
): Promise<LoginClient> {
  const { metadata } = facts;
  if (identity.kind === 'known') {
    const { client } = identity;
    if (client.kind !== 'registered' || client.redirectUri === redirectUri) return { ...client, redirectUri };
    if (metadata.registrationEndpoint === undefined) return client;
    return registerClient(network.http, metadata.registrationEndpoint, redirectUri, metadata, settings);
  }
  return registerClient(network.http, identity.endpoint, redirectUri, metadata, settings);
}

/** Sends the user to a page, and waits for the response: at the listener, from the user, or from the program. */
async function visit(
  page: URL,
  state: string,
  listener: CallbackListener | undefined,
  { settings, responses, signal }: GrantContext,
): Promise<URLSearchParams> {
  const { open, ask, clock, timeoutMs } = settings;
  // The metadata was checked; this is the last check before a program of the system gets the URL (AUTH-C-058).
  if (!isSafeUrl(page.href)) throw refused(`${page.protocol}//${page.host} is not a page that can be opened`);
  const over = new AbortController();
  const given = createDeferred<URLSearchParams>();
  responses.deferred = given;
  responses.state = state;
  const opening = (async () => {
    await open?.(page);
    // Waits for the response: opening a page is not the end.
    return new Promise<never>(() => {});
  })();
  const pasted = ask.callback?.(page, over.signal).then(paramsOf) ?? new Promise<never>(() => {});
  const late = pause(clock, timeoutMs, over.signal).then(() => {
    const message = `The login was not finished within ${Math.round(timeoutMs / 1000)} s`;
    throw new IsthmusError('UNAUTHORIZED', message, { sent: 'no', cause: new LoginNotFinished(message) });
  });
  const ended = untilAborted(signal, over.signal);
  const sources = [opening, pasted, late, ended, given.promise, ...(listener ? [listener.arrived] : [])];
  // Those that lose the race end without effect.
  for (const source of sources) source.catch(() => {});
  try {
    return await Promise.race(sources);
  } finally {
    responses.deferred = undefined;
    over.abort(new IsthmusError('CANCELLED', 'The login has ended', { sent: 'no' }));
  }
}

/** Rejects when the login is called off. */
function untilAborted(signal: AbortSignal | undefined, over: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    const onAbort = () => reject(signal?.reason);
    if (signal?.aborted) onAbort();
    signal?.addEventListener('abort', onAbort, { once: true, signal: over });
  });
}

function knownClient(identity: Identity): LoginClient {
  if (identity.kind === 'known') return identity.client;
  throw refused('client-credentials needs a clientId');
}

function refused(message: string): IsthmusError {
  return new IsthmusError('UNAUTHORIZED', message, { sent: 'no' });
}
