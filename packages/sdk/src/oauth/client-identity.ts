import { readFile } from 'node:fs/promises';
import { IsthmusError, reasonWithoutPath } from '../errors.js';
import { isJsonObject } from '../wire/json-rpc.js';
import { chooseAuthMethod, type TokenClient } from './client-authentication.js';
import type { AuthorizationServerMetadata } from './discovery/authorization-server.js';
import type { OAuthHttp } from './discovery/oauth-http.js';
import { toldText } from './login-status.js';
import type { OAuthSettings } from './options.js';
import type { LoginClient, LoginRecord, TokenAuthMethod } from './store/login-record.js';

/** How this client will identify itself at an authorization server. */
export type Identity =
  | { readonly kind: 'known'; readonly client: LoginClient }
  /** The client has to be registered, with the redirect URI that the login will use. */
  | { readonly kind: 'register'; readonly endpoint: string };

/**
 * Chooses the identity, in the order of the specification: a configured id, a metadata document, a stored registration, a
 * new registration (AUTH-C-030). A stored registration counts only with its own issuer (AUTH-C-036).
 */
export function chooseIdentity(
  metadata: AuthorizationServerMetadata,
  stored: LoginRecord | undefined,
  settings: OAuthSettings,
): Identity {
  const { clientId, clientMetadataUrl } = settings;
  if (clientId !== undefined) {
    refuseOtherIssuer(metadata.issuer, stored, settings);
    const means = {
      hasSecret: settings.clientSecret !== undefined,
      hasKey: settings.privateKey !== undefined,
    };
    const authMethod = chooseAuthMethod(metadata.tokenAuthMethods, means);
    const { clientSecret } = settings;
    const secretFile = typeof clientSecret === 'object' ? clientSecret.file : undefined;
    const client = { ...NO_SECRET, kind: 'preregistered', id: clientId, authMethod, secretFile } as const;
    return { kind: 'known', client };
  }
  if (metadata.takesClientMetadataUrl && clientMetadataUrl !== undefined) {
    const client = { ...NO_SECRET, kind: 'metadata-url', id: clientMetadataUrl, authMethod: 'none' } as const;
    return { kind: 'known', client };
  }
  const registered = stored?.issuer === metadata.issuer ? stored.client : undefined;
  const isCurrent = registered?.expiresAt === undefined || registered.expiresAt > settings.clock.now();
  // A registration is for a browser or for device codes. The one for device codes has no redirect URI.
  const fits = settings.grant !== 'device-code' || registered?.redirectUri === undefined;
  const mayRegister = metadata.registrationEndpoint !== undefined;
  if (registered?.kind === 'registered' && isCurrent && !settings.registerAgain && (fits || !mayRegister)) {
    return { kind: 'known', client: registered };
  }
  if (metadata.registrationEndpoint !== undefined) {
    return { kind: 'register', endpoint: metadata.registrationEndpoint };
  }
  throw new IsthmusError(
    'UNAUTHORIZED',
    `${metadata.issuer} registers no clients itself. Register one there with the redirect URI ` +
      `${settings.callback.url ?? 'http://localhost:PORT/callback'} and give its id (clientId, --client-id)`,
    { sent: 'no' },
  );
}

const NO_SECRET = { secret: undefined, redirectUri: undefined, expiresAt: undefined } as const;

/** A configured secret goes to one issuer only: the configured one, or the one of the first login (AUTH-C-037). */
function refuseOtherIssuer(issuer: string, stored: LoginRecord | undefined, settings: OAuthSettings): void {
  const bound = settings.issuer ?? (stored?.client.id === settings.clientId ? stored?.issuer : undefined);
  if (bound === undefined || bound === issuer) return;
  const message =
    `The server names the authorization server ${issuer}, and the client ${settings.clientId} belongs to ` +
    `${bound}; nothing was sent. If the change is right, log out and log in again, or name the issuer`;
  throw new IsthmusError('UNAUTHORIZED', message, { sent: 'no' });
}

/** Registers a client (RFC 7591). */
export async function registerClient(
  http: OAuthHttp,
  endpoint: string,
  redirectUri: string | undefined,
  metadata: AuthorizationServerMetadata,
  settings: OAuthSettings,
): Promise<LoginClient> {
  const { clientName, clientUri, registrationToken } = settings;
  const asked = registrationMethod(metadata.tokenAuthMethods);
  const isDevice = redirectUri === undefined;
  const body = {
    client_name: clientName,
    ...(clientUri !== undefined && { client_uri: clientUri }),
    redirect_uris: isDevice ? [] : [redirectUri],
    grant_types: [isDevice ? DEVICE_GRANT : 'authorization_code', 'refresh_token'],
    response_types: isDevice ? [] : ['code'],
    token_endpoint_auth_method: asked,
    application_type: isWeb(redirectUri) ? 'web' : 'native',
    // Without scopes: those of a registration are a limit, and a later step-up would be refused.
    ...settings.hooks?.registration,
  };
  const response = await http.send(new URL(endpoint), {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json',
      ...(registrationToken !== undefined && { authorization: `Bearer ${registrationToken}` }),
    },
    body: JSON.stringify(body),
  });
  const answer: unknown = await response.json().catch(() => undefined);
  if (!response.ok || !isJsonObject(answer) || typeof answer['client_id'] !== 'string') {
    if (metadata.isAssumed && !isOAuthError(answer)) throw noLoginAt(metadata.issuer, response.status);
    throw refusedRegistration(metadata.issuer, response.status, answer, redirectUri, registrationToken);
  }
  const { client_id: id, client_secret: secret, client_secret_expires_at: expires } = answer;
  // Both are kept with each login.
  if (id.length > MAX_LENGTH || String(secret ?? '').length > MAX_LENGTH) {
    const message = `${metadata.issuer} registered a client whose id or secret is longer than ${MAX_LENGTH} characters`;
    throw new IsthmusError('UNAUTHORIZED', message, { sent: 'no' });
  }
  const method = answer['token_endpoint_auth_method'];
  return {
    kind: 'registered',
    id,
    secret: typeof secret === 'string' ? secret : undefined,
    authMethod: isMethod(method) ? method : asked,
    redirectUri,
    expiresAt: typeof expires === 'number' && expires > 0 ? expires * 1000 : undefined,
  };
}

/** A secret goes to an authorization server that only the server has named when the user agrees, and not otherwise. */
export async function confirmIssuer(
  identity: Identity,
  issuer: string,
  stored: LoginRecord | undefined,
  settings: OAuthSettings,
): Promise<void> {
  const hasSecret = settings.clientSecret !== undefined;
  if (identity.kind !== 'known' || identity.client.kind !== 'preregistered' || !hasSecret) return;
  if (settings.issuer !== undefined || settings.tokenEndpoint !== undefined) return;
  if (stored?.issuer === issuer && stored.client.id === identity.client.id) return;
  if (await settings.ask.trustIssuer?.(issuer)) return;
  throw new IsthmusError(
    'UNAUTHORIZED',
    `The server names the authorization server ${issuer}. The client secret is not sent there until you name it (issuer, --issuer)`,
    { sent: 'no' },
  );
}

/**
 * The client for the token endpoint: a configured secret stays in the configuration. Throws when a secret is needed and not
 * at hand: without it the authorization server would refuse the client, and the login would be lost.
 */
export async function tokenClientOf(client: LoginClient, settings: OAuthSettings): Promise<TokenClient> {
  const { id, authMethod } = client;
  const authenticate = settings.hooks?.authenticate;
  if (authenticate) return { id, authMethod, secret: client.secret, privateKey: undefined, authenticate };
  const configured = client.kind === 'preregistered' && id === settings.clientId;
  const stored = client.secret ?? (client.secretFile === undefined ? undefined : { file: client.secretFile });
  const secret = await readSecret((configured ? settings.clientSecret : undefined) ?? stored);
  const privateKey = configured ? await readKey(settings.privateKey) : undefined;
  const needs = authMethod === 'private_key_jwt' ? 'key' : authMethod === 'none' ? undefined : 'secret';
  if (needs === undefined || (needs === 'key' ? privateKey : secret) !== undefined) {
    return { id, authMethod, secret, privateKey };
  }
  throw new IsthmusError(
    'UNAUTHORIZED',
    `The client ${toldText(id)} has a ${needs}, which was not given: give it as for the login ` +
      `(clientId with clientSecret or privateKey; --client-id with --client-secret-file)`,
    { sent: 'no' },
  );
}

async function readKey(key: OAuthSettings['privateKey']): Promise<TokenClient['privateKey']> {
  return key && { ...key, pem: (await readSecret(key.pem, 'private key'))! };
}

async function readSecret(
  secret: OAuthSettings['clientSecret'],
  what = 'client secret',
): Promise<string | undefined> {
  if (typeof secret !== 'object') return secret;
  try {
    return (await readFile(secret.file, 'utf8')).trim();
  } catch (error) {
    const message = `Cannot read the ${what} from ${secret.file}: ${reasonWithoutPath(error)}`;
    throw new IsthmusError('UNAUTHORIZED', message, { sent: 'no' });
  }
}

const MAX_LENGTH = 4096;

/** RFC 8628. */
export const DEVICE_GRANT = 'urn:ietf:params:oauth:grant-type:device_code';

function registrationMethod(listed: readonly string[] | undefined): TokenAuthMethod {
  if (!listed || listed.includes('none')) return 'none';
  return listed.includes('client_secret_basic') ? 'client_secret_basic' : 'client_secret_post';
}

function isMethod(value: unknown): value is TokenAuthMethod {
  return value === 'none' || value === 'client_secret_basic' || value === 'client_secret_post';
}

/** AUTH-C-034: a client on this machine is native, a page elsewhere is a web client. */
function isWeb(redirectUri: string | undefined): boolean {
  return redirectUri?.startsWith('https:') ?? false;
}

/** RFC 7591, §3.2.2. */
function isOAuthError(answer: unknown): boolean {
  return isJsonObject(answer) && typeof answer['error'] === 'string';
}

/** Many servers take keys, and have no login. */
function noLoginAt(origin: string, status: number): IsthmusError {
  const message =
    `${origin} has no login: it names no authorization server, and ${origin}/register answers HTTP ${status}. ` +
    'If its operator gave you a key, send it with each request (headers, --header "Authorization: Bearer KEY"). ' +
    'If there is an authorization server, name it (issuer, --issuer)';
  return new IsthmusError('UNAUTHORIZED', message, { sent: 'no' });
}

function refusedRegistration(
  issuer: string,
  status: number,
  answer: unknown,
  redirectUri: string | undefined,
  token = '',
): IsthmusError {
  const { error, error_description: text } = isJsonObject(answer) ? answer : {};
  const why = [error, text].filter((part) => typeof part === 'string').join(': ');
  const message =
    `${issuer} did not register this client (HTTP ${status}${why ? `, ${toldText(why, [token])}` : ''}) with the ` +
    `redirect URI ${redirectUri ?? '(none)'}; register one there and give its id (clientId, --client-id)`;
  return new IsthmusError('UNAUTHORIZED', message, { sent: 'no' });
}
