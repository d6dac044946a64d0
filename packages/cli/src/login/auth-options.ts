import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import {
  given,
  type ServerSpec,
  type UrlAuth,
  type UrlSpec,
} from '@isthmus/sdk/internal/config/server-spec.js';
import { fileReason } from '@isthmus/sdk/internal/errors.js';
import { Option } from 'commander';
import { usageError } from '../cli-error.js';
import type { LoginFlags } from './login-options.js';

export const AUTH_MODES = ['stored', 'browser', 'never', 'client-credentials'] as const;

/** How a command logs in to a URL. */
export interface AuthFlags {
  readonly auth?: (typeof AUTH_MODES)[number];
  readonly clientId?: string;
  readonly clientSecret?: string;
  readonly clientSecretFile?: string;
  readonly issuer?: string;
  readonly tokenEndpoint?: string;
  readonly scope?: readonly string[];
  readonly resource?: string | false;
}

/** The options about logins of every command that connects to a URL. */
export function authOptions(): readonly Option[] {
  return [
    new Option('--auth <mode>', 'the login for a URL: see isthmus docs login (default: stored)').choices(
      AUTH_MODES,
    ),
    ...clientOptions(),
  ];
}

/** The client that logs in, and what it asks for. */
export function clientOptions(): readonly Option[] {
  return [
    new Option('--client-id <id>', 'the id of a client that is registered there'),
    new Option(
      '--client-secret-file <file>',
      'a file with its secret (default: the variable ISTHMUS_CLIENT_SECRET)',
    ),
    // Not in the help: other programs have it. Every user of the machine can read an argument.
    new Option('--client-secret <secret>').hideHelp(),
    new Option('--issuer <url>', 'the authorization server, in the place of the one that the server names'),
    new Option('--token-endpoint <url>').hideHelp(),
    new Option('--scope <scope>', 'ask for this scope; repeatable').argParser(toScopes),
  ];
}

function toScopes(text: string, before: readonly string[] = []): string[] {
  return [...before, ...text.split(/[\s,]+/).filter(Boolean)];
}

export interface WithAuthOptions {
  /** False: a login that is missing is not made. */
  readonly mayAsk?: boolean;
  readonly login?: LoginFlags;
  /** The daemon runs a login that is missing. */
  readonly inDaemon?: boolean;
}

/**
 * The server with the login that the options ask for. With `browser` a login that is missing is made first: this is the only
 * way in which a command that is not `login` opens a page.
 */
export async function withAuth<Spec extends ServerSpec>(
  spec: Spec,
  flags: AuthFlags & { readonly header?: readonly string[] | undefined },
  { mayAsk = true, login = {}, inDaemon = false }: WithAuthOptions = {},
): Promise<Spec> {
  if (spec.kind !== 'url') {
    if (flags.auth !== undefined || flags.clientId !== undefined) {
      throw usageError(`--${flags.auth === undefined ? 'client-id' : 'auth'} needs a URL`, 'Remove it');
    }
    return spec;
  }
  const { auth: mode = 'stored' } = flags;
  if (mode === 'never' || hasAuthorization(spec, flags.header)) return spec;
  if (mode === 'browser' && mayAsk) {
    const { ensureLogin } = await import('./ensure-login.js');
    await ensureLogin(spec.url, flags, login, { inDaemon });
  }
  return { ...spec, auth: urlAuth(mode, flags) };
}

/** A header of the user switches logins off. */
function hasAuthorization({ headers }: UrlSpec, typed: readonly string[] = []): boolean {
  const names = [...Object.keys(headers), ...typed.map((text) => text.split(':', 1)[0]!)];
  return names.some((name) => name.trim().toLowerCase() === 'authorization');
}

function urlAuth(mode: 'stored' | 'browser' | 'client-credentials', flags: AuthFlags): UrlAuth {
  const client = clientOf(flags);
  if (mode === 'client-credentials' && (client.clientId === undefined || client.clientSecret === undefined)) {
    throw usageError(
      '--auth client-credentials needs a client and its secret',
      '--client-id ID, with --client-secret-file FILE or the variable ISTHMUS_CLIENT_SECRET',
    );
  }
  return { mode: mode === 'client-credentials' ? mode : 'stored', ...client };
}

/** The part of the options that `oauth()` understands. */
export function clientOf(flags: AuthFlags): Omit<UrlAuth, 'mode'> {
  const { clientId, issuer, tokenEndpoint, scope: scopes, resource } = flags;
  const clientSecret = clientId === undefined ? undefined : secretOf(flags);
  return given({ clientId, clientSecret, issuer, tokenEndpoint, scopes, resource });
}

/** The file is read when the secret is needed, also by later renewals. That it can be read is checked at once. */
function secretOf({ clientSecret, clientSecretFile }: AuthFlags): UrlAuth['clientSecret'] {
  if (clientSecretFile === undefined)
    return clientSecret ?? (process.env['ISTHMUS_CLIENT_SECRET'] || undefined);
  const file = resolve(clientSecretFile);
  try {
    readFileSync(file, 'utf8');
    return { file };
  } catch (error) {
    throw usageError(`Cannot read --client-secret-file ${file}: ${fileReason(error)}`);
  }
}

/** The server with the token of its login as a header, for requests that are not made by the client. */
export async function withToken<Spec extends ServerSpec>(spec: Spec): Promise<Spec> {
  if (spec.kind !== 'url' || !spec.auth) return spec;
  const { sharedLogin } = await import('@isthmus/gateway/internal/logins/login-source.js');
  const login = await sharedLogin(spec.auth).forServer(new URL(spec.url));
  const authorization = await login.authorization();
  return authorization === undefined ? spec : { ...spec, headers: { ...spec.headers, authorization } };
}
