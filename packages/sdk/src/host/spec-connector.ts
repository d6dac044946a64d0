import { given, type ServerSpec, type UrlAuth, type UrlSpec } from '../config/server-spec.js';
import { IsthmusError } from '../errors.js';
import type { Connector } from '../exchange/connection.js';
import type { ServerLogin } from '../oauth/server-login.js';
import type { LoginStore } from '../oauth/store/login-record.js';
import { connectorFor } from '../transport/address.js';
import { httpConnector } from '../transport/http-client/connector.js';
import {
  CLIENT_CREDENTIALS,
  type HttpAuth,
  type HttpConnectOptions,
} from '../transport/http-client/options.js';
import { stdio } from '../transport/stdio.js';
import { commandOptionsOf } from './definition.js';

/** Where the login of a URL comes from. */
export type LoginSource = (auth: UrlAuth, onWarning?: (warning: string) => void) => HttpAuth;

export interface SpecConnectorOptions extends Pick<HttpConnectOptions, 'onWarning' | 'tap'> {
  /** Used in errors. Default: the command line or the address, which may contain secrets. */
  readonly label?: string;
  /** Default: the logins of this user, without the daemon. */
  readonly logins?: LoginSource | undefined;
}

/** Opens connections to a server. Each connection to a command starts a new process. */
export function connectorOfSpec(spec: ServerSpec, options: SpecConnectorOptions = {}): Connector {
  const { label, onWarning, tap, logins = specAuth } = options;
  if (spec.kind === 'command')
    return stdio({ ...commandOptionsOf(spec), tap, ...(label !== undefined && { label }) });
  const connector =
    spec.kind === 'url'
      ? httpConnector(spec.url, {
          ...httpOptionsOf(spec),
          tap,
          ...(onWarning && { onWarning }),
          ...(spec.auth && { auth: logins(spec.auth, onWarning) }),
        })
      : connectorFor(spec.address, tap);
  return label === undefined ? connector : { ...connector, label };
}

/** A spec names its limits as for a process; the HTTP client has other names for them. */
export function httpOptionsOf({
  headers,
  transport,
  maxLineBytes,
  maxInFlight,
}: UrlSpec): HttpConnectOptions {
  const sse = SSE[transport];
  return { headers, sse, ...given({ maxAnswerBytes: maxLineBytes, maxConcurrent: maxInFlight }) };
}

/** Loads what a login needs with the first request. */
export function specAuth(auth: UrlAuth, onWarning?: (warning: string) => void): HttpAuth {
  return { extensions: extensionsOf(auth), forServer: (url) => storedLogin(url, auth, onWarning) };
}

/** What a login declares to the server. */
export function extensionsOf({ mode }: UrlAuth): HttpAuth['extensions'] {
  return mode === 'client-credentials' ? CLIENT_CREDENTIALS : undefined;
}

/** The login of this user for a URL. It uses the store itself. */
export async function storedLogin(
  url: URL,
  auth: UrlAuth,
  onWarning?: (warning: string) => void,
): Promise<ServerLogin> {
  const { userLoginStore } = await import('../oauth/store/user-logins.js');
  return loginFrom(userLoginStore(), url, auth, onWarning);
}

/** The login for a URL that is kept in a store. */
export async function loginFrom(
  store: LoginStore,
  url: URL,
  auth: UrlAuth,
  onWarning?: (warning: string) => void,
): Promise<ServerLogin> {
  const { oauth } = await import('../oauth/oauth.js');
  const { mode, audience: _audience, ...rest } = auth;
  if (mode === 'token-exchange' || mode === 'per-user') {
    // Only a gateway has callers.
    throw new IsthmusError(
      'INVALID_OPTION',
      `auth ${mode} is for servers behind a gateway that authenticates its callers`,
      { sent: 'no' },
    );
  }
  return oauth({
    ...rest,
    ...(mode === 'client-credentials' && { grant: mode }),
    ...(onWarning && { onWarning }),
    store,
    loginHint: (missing) => loginCommand(url.href, missing),
  }).login(url);
}

/** What the user of a server without a login can type. The query may hold secrets. */
export function loginCommand(url: string, missing: readonly string[] = []): string {
  const { origin, pathname, search } = new URL(url);
  return `isthmus login ${origin}${pathname}${search === '' ? '' : '?…'}${scopeArguments(missing)}`;
}

/** For a shell. A server names the scopes, so only plain words are repeated. */
export function scopeArguments(scopes: readonly string[]): string {
  if (scopes.length === 0) return '';
  const isPlain = scopes.length <= MAX_SCOPES && scopes.every((scope) => PLAIN_SCOPE.test(scope));
  return isPlain ? scopes.map((scope) => ` --scope ${scope}`).join('') : ' --scope SCOPE';
}

const MAX_SCOPES = 20;
const PLAIN_SCOPE = /^[A-Za-z0-9][A-Za-z0-9:._/-]{0,99}$/;

const SSE = { auto: 'auto', http: 'auto', 'http-only': 'never', sse: 'only' } as const;
