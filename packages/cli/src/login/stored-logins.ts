import type { UrlAuth } from '@isthmus/sdk/internal/config/server-spec.js';
import type { LoginStatus } from '@isthmus/sdk/internal/oauth/login-status.js';
import { httpUrl } from '@isthmus/sdk/internal/transport/http-client/options.js';
import { usageError } from '../cli-error.js';
import { table } from '../terminal/table.js';
import type { Terminal } from '../terminal/terminal.js';
import { oneLine } from '../terminal/text.js';
import { openLoginManager } from './open-login-manager.js';

/** A server that a user can log in to. */
export interface LoginServer {
  readonly url: string;
  /** What its file says about the login. */
  readonly auth: Omit<UrlAuth, 'mode'>;
}

/** The server that was named by its URL, or by its name in a configuration file. */
export async function findLoginServer(
  command: string,
  server: string,
  options: { readonly config?: readonly string[]; readonly input?: Readonly<Record<string, string>> },
): Promise<LoginServer> {
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(server) && !options.config)
    return { url: httpUrl(server).href, auth: {} };
  const { findConfigFiles, ownConfigFile } = await import('../attach/find-server.js');
  const { findConfigured } = await import('../config-target.js');
  const files = findConfigFiles(options.config);
  if (files.length === 0) {
    throw usageError(
      `"${oneLine(server)}" is not a URL, and there is no configuration file with servers`,
      `isthmus ${command} https://example.com/mcp; or --config FILE NAME; or define it in ${ownConfigFile()}`,
    );
  }
  const { target } = await findConfigured(command, files, server, options.input);
  if (target.kind !== 'url')
    throw usageError(`${oneLine(server)} is a command; only a server at a URL has a login`);
  const { mode = 'stored', audience: _audience, ...auth } = target.auth ?? {};
  if (mode !== 'stored') {
    throw usageError(`${oneLine(server)} has "auth": "${mode}" in its file, which needs no login of a user`);
  }
  return { url: httpUrl(target.url).href, auth };
}

/** The logins, without secrets; all of them, or those for a URL. */
export async function listStatus(url: string | undefined): Promise<readonly LoginStatus[]> {
  const found = await (await openLoginManager()).list();
  return found.filter(({ server }) => url === undefined || server === nameOf(url));
}

export function renderStatus(found: readonly LoginStatus[], { width, out }: Terminal): string {
  if (found.length === 0) return 'no logins\n';
  const rows = found.map((login) => [oneLine(login.server), STATES[login.state], ...detailsOf(login)]);
  const busy = found.flatMap(({ server, page }) => (page === undefined ? [] : [{ server, page }]));
  return [
    table(rows, { width, paint: (text, column) => (column === 0 ? out.bold(text) : text) }),
    ...busy.map(({ server, page }) => `Log in to ${oneLine(server)} on this page: ${page}\n`),
  ].join('');
}

/** What is known of a login. One that cannot be used has a reason and no scopes. */
function detailsOf({ state, issuer = '', scopes, expiresAt, isRenewable, reason }: LoginStatus): string[] {
  if (state !== 'valid' && state !== 'stale') return [oneLine(issuer), oneLine(reason ?? '')];
  return [
    oneLine(issuer),
    oneLine(scopes.join(' ')) || 'no scopes',
    expiresAt === undefined ? 'no end known' : `until ${new Date(expiresAt).toISOString()}`,
    isRenewable ? 'renewed when it is used' : 'not renewable: log in again then',
  ];
}

const STATES = {
  none: 'none',
  valid: 'logged in',
  stale: 'logged in (renewed with the next request)',
  'needs-login': 'needs login',
  busy: 'login under way',
} as const;

/** Revokes and forgets logins; returns their servers. */
export async function endLogins(url: string | undefined, forgetClient: boolean): Promise<readonly string[]> {
  const { ended, warnings } = await (await openLoginManager()).end(url, forgetClient);
  for (const warning of warnings) process.stderr.write(`isthmus: warning: ${oneLine(warning)}\n`);
  return ended;
}

function nameOf(url: string): string {
  const { origin, pathname } = new URL(url);
  return `${origin}${pathname}`;
}
