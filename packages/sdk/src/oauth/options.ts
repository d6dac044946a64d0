import { checkedOptions, type OptionNames } from '../arguments.js';
import { type Clock, systemClock } from '../async/clock.js';
import { IsthmusError } from '../errors.js';
import type { PrivateKeyOptions } from './client-authentication.js';
import { isLoopbackHost } from './discovery/addresses.js';
import { type LoginStore, memoryLoginStore } from './store/login-record.js';

/** How to log in to a server. Everything is optional: most servers describe what they need. */
export interface OAuthOptions {
  /**
   * Opens a page for the user, for example in a browser. Without it no login is begun: stored logins are used and renewed,
   * and a request that needs a new one fails. Only called with an https URL, or an http URL of this machine.
   */
  readonly open?: (url: URL) => unknown;
  /** Where logins are kept. Default: in memory, for as long as the process runs. */
  readonly store?: LoginStore;
  /** Questions to the user, where there is no browser on this machine. */
  readonly ask?: OAuthQuestions;
  /**
   * `authorization-code` (default) sends the user to a page. `device-code` shows a code that the user enters on another
   * device. `client-credentials` needs no user: the client has an id and a secret or a key.
   */
  readonly grant?: 'authorization-code' | 'device-code' | 'client-credentials';
  /** The id of a client that was registered before. */
  readonly clientId?: string;
  /** A secret that is given as a file is read when it is needed. A stored login keeps the path, and never the secret. */
  readonly clientSecret?: string | SecretFile;
  /** Signs assertions in the place of a secret. */
  readonly privateKey?: PrivateKeyOptions;
  /** An https URL with a document that describes this client, for authorization servers that read it. */
  readonly clientMetadataUrl?: string;
  /** The authorization server to use, in the place of the one that the server names. */
  readonly issuer?: string;
  /** For client credentials at a server that publishes nothing. */
  readonly tokenEndpoint?: string;
  /** Scopes to ask for. Default: what the server says that it needs. */
  readonly scopes?: readonly string[];
  /** The value of `resource`, in the place of what the server publishes. `false` sends none. */
  readonly resource?: string | false;
  /** Uses PKCE with an authorization server that does not say that it supports it. Default false. */
  readonly assumePkce?: boolean;
  /** Asks for `offline_access` where the authorization server lists it. Default true. */
  readonly offlineAccess?: boolean;
  /** More parameters of the authorization request. The ones that the protocol sets always win. */
  readonly authorizeParams?: Readonly<Record<string, string>>;
  /** Where the browser comes back to. */
  readonly callback?: CallbackSettings;
  /** The name that the user sees. Default `Isthmus`. */
  readonly clientName?: string;
  readonly clientUri?: string;
  /** An initial access token, for authorization servers that register clients only with one. */
  readonly registrationToken?: string;
  /** Registers a new client although one is stored. */
  readonly registerAgain?: boolean;
  /** Lets the metadata of a server lead to private addresses. Default: only for a server on this machine. */
  readonly allowPrivateAddresses?: boolean;
  /** How long the user may take. Default 10 minutes. */
  readonly timeoutMs?: number;
  /** Ends the error of a request that needs a login: what the user can do. A function gets the scopes that a login lacks. */
  readonly loginHint?: string | ((missing: readonly string[]) => string);
  readonly onWarning?: (warning: string) => void;
  /** Sends the requests of the login in the place of undici. */
  readonly fetch?: typeof globalThis.fetch;
  readonly clock?: Clock;
}

/** A file with a secret: its text without white space at the ends. */
export interface SecretFile {
  /** Absolute. */
  readonly file: string;
}

/** The options that are plain data: another process can log in with them. */
export type PlainOAuthOptions = Omit<
  OAuthOptions,
  'open' | 'store' | 'ask' | 'loginHint' | 'onWarning' | 'fetch' | 'clock'
>;

/** The redirect URI: on a loopback port of this machine, or a URL of your own. */
export interface CallbackSettings {
  /** `localhost` or `127.0.0.1`. Default: `localhost` with a `clientId`, else `127.0.0.1`. */
  readonly host?: string;
  /** Default: any free port. */
  readonly port?: number;
  /** Default `/callback`. */
  readonly path?: string;
  /** The redirect URI itself. Nothing listens there: the response is given with `ask.callback` or `finish()`. */
  readonly url?: string;
  /** Ends the `state` of the request, for a program that has to know where the response belongs. Letters, digits and dots. */
  readonly stateSuffix?: string;
}

/** Questions that a login may have for the user. */
export interface OAuthQuestions {
  /** Resolves with the address that the browser was sent to, which the user has copied. Raced with the listener. */
  readonly callback?: (page: URL, signal: AbortSignal) => Promise<string>;
  /** Shows where to enter which code. */
  readonly showCode?: (code: DeviceCode) => unknown;
  /** Whether the client secret may go to this authorization server, which the server has named. */
  readonly trustIssuer?: (issuer: string) => Promise<boolean>;
}

/** What the user of a device login has to do. */
export interface DeviceCode {
  readonly userCode: string;
  readonly page: URL;
  /** The page with the code filled in, where there is one. */
  readonly pageWithCode: URL | undefined;
  readonly expiresInMs: number;
}

type Optional =
  | 'open'
  | 'clientId'
  | 'clientSecret'
  | 'privateKey'
  | 'clientMetadataUrl'
  | 'issuer'
  | 'tokenEndpoint'
  | 'scopes'
  | 'resource'
  | 'clientUri'
  | 'registrationToken'
  | 'loginHint'
  | 'fetch';

export type OAuthSettings = Required<Omit<OAuthOptions, Optional>> &
  Pick<OAuthOptions, Optional> & { readonly hooks?: LoginHooks | undefined };

/** What a provider of the official SDK decides itself. */
export interface LoginHooks {
  /** The `state` of a request for a user. */
  readonly state?: (() => string | Promise<string>) | undefined;
  /** Fields of a registration, in the place of ours. */
  readonly registration?: Readonly<Record<string, unknown>> | undefined;
  /** Chooses the value of `resource`. */
  readonly resource?:
    | ((server: URL, published: string | undefined) => Promise<string | undefined>)
    | undefined;
  /** The parameters of a token request without a user. */
  readonly tokenParams?: ((request: UnattendedRequest) => Promise<URLSearchParams | undefined>) | undefined;
  /** Adds to a token request what proves that it comes from the client, in the place of the methods of this library. */
  readonly authenticate?: ((request: AuthenticatedRequest) => unknown) | undefined;
}

/** A token request that needs no user. */
export interface UnattendedRequest {
  readonly issuer: string;
  readonly resource: string | undefined;
  readonly scope: string | undefined;
}

/** A token request before it is sent. Its headers and its body may be changed. */
export interface AuthenticatedRequest {
  readonly headers: Headers;
  readonly body: URLSearchParams;
  readonly url: string;
  readonly issuer: string;
}

export function resolveOAuth(given: OAuthOptions): OAuthSettings {
  const options = checkedOptions('oauth', given, OPTION_NAMES);
  const { clientId, clientMetadataUrl, grant = 'authorization-code' } = options;
  if (!['authorization-code', 'device-code', 'client-credentials'].includes(grant)) {
    throw invalid(
      `grant must be authorization-code, device-code or client-credentials, got ${String(grant)}`,
    );
  }
  const hasSecret = options.clientSecret !== undefined || options.privateKey !== undefined;
  if (hasSecret && clientId === undefined) throw invalid('a secret or a key needs a clientId');
  if (grant === 'client-credentials' && !hasSecret) {
    throw invalid('client-credentials needs a clientId, and a clientSecret or a privateKey');
  }
  if (clientMetadataUrl !== undefined && !isDocumentUrl(clientMetadataUrl)) {
    throw invalid('clientMetadataUrl must be an https URL with a path');
  }
  for (const name of ['issuer', 'tokenEndpoint'] as const) {
    const value = options[name];
    if (value !== undefined && !isSafeUrl(value))
      throw invalid(`${name} must be an https URL, got "${value}"`);
  }
  const { timeoutMs = 600_000 } = options;
  if (!(timeoutMs > 0)) throw invalid(`timeoutMs must be a positive number, got ${timeoutMs}`);
  return {
    ...options,
    grant,
    timeoutMs,
    store: options.store ?? memoryLoginStore(),
    ask: options.ask ?? {},
    assumePkce: options.assumePkce ?? false,
    offlineAccess: options.offlineAccess ?? true,
    authorizeParams: options.authorizeParams ?? {},
    callback: options.callback ?? {},
    clientName: options.clientName ?? 'Isthmus',
    registerAgain: options.registerAgain ?? false,
    allowPrivateAddresses: options.allowPrivateAddresses ?? false,
    onWarning: options.onWarning ?? (() => {}),
    clock: options.clock ?? systemClock,
  };
}

/** AUTH-C-031. */
function isDocumentUrl(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, pathname } = new URL(text);
  return protocol === 'https:' && pathname !== '/';
}

/** https, or http on this machine. */
export function isSafeUrl(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, hostname } = new URL(text);
  return protocol === 'https:' || (protocol === 'http:' && isLoopbackHost(hostname));
}

function invalid(message: string): IsthmusError {
  return new IsthmusError('INVALID_OPTION', `oauth: ${message}`, { sent: 'no' });
}

const OPTION_NAMES: OptionNames<OAuthOptions> = {
  open: true,
  store: true,
  ask: true,
  grant: true,
  clientId: true,
  clientSecret: true,
  privateKey: true,
  clientMetadataUrl: true,
  issuer: true,
  tokenEndpoint: true,
  scopes: true,
  resource: true,
  assumePkce: true,
  offlineAccess: true,
  authorizeParams: true,
  callback: true,
  clientName: true,
  clientUri: true,
  registrationToken: true,
  registerAgain: true,
  allowPrivateAddresses: true,
  timeoutMs: true,
  loginHint: true,
  onWarning: true,
  fetch: true,
  clock: true,
};
