import { loginNetwork } from '@isthmus/sdk/internal/oauth/discovery/login-facts.js';
import { type LoginStatus, statusOf } from '@isthmus/sdk/internal/oauth/login-status.js';
import { resolveOAuth } from '@isthmus/sdk/internal/oauth/options.js';
import { revokeLogin } from '@isthmus/sdk/internal/oauth/refresh.js';
import { userLoginStore } from '@isthmus/sdk/internal/oauth/store/user-logins.js';
import { httpUrl } from '@isthmus/sdk/internal/transport/http-client/options.js';
import { usageError } from '../cli-error.js';
import { table } from '../terminal/table.js';
import type { Terminal } from '../terminal/terminal.js';
import { oneLine } from '../terminal/text.js';

/** The URL of a server that was named by its URL, or by its name in a configuration file. */
export async function findLoginUrl(
  command: string,
  server: string,
  options: { readonly config?: readonly string[]; readonly input?: Readonly<Record<string, string>> },
): Promise<string> {
  if (/^https?:\/\//i.test(server) && !options.config) return httpUrl(server).href;
  const { configFiles } = await import('../attach/find-server.js');
  const { findConfigured } = await import('../config-target.js');
  const { target } = await findConfigured(command, configFiles(options.config), server, options.input);
  if (target.kind === 'url') return httpUrl(target.url).href;
  throw usageError(`${oneLine(server)} is a command; only a server at a URL has a login`);
}

/** The stored logins, without secrets; all of them, or those for a URL. */
export async function listStatus(url: string | undefined): Promise<readonly LoginStatus[]> {
  const now = Date.now();
  const found = (await userLoginStore().list()).map(({ record }) => statusOf(record.server, record, now));
  return found
    .filter(({ server }) => url === undefined || server === nameOf(url))
    .sort((a, b) => a.server.localeCompare(b.server));
}

export function renderStatus(found: readonly LoginStatus[], { width, out }: Terminal): string {
  if (found.length === 0) return 'no logins\n';
  const rows = found.map((login) => [
    oneLine(login.server),
    STATES[login.state],
    oneLine(login.issuer ?? ''),
    oneLine(login.scopes.join(' ')) || 'no scopes',
    login.expiresAt === undefined ? 'no end known' : `until ${new Date(login.expiresAt).toISOString()}`,
    login.isRenewable ? 'renewable' : 'not renewable',
  ]);
  return table(rows, { width, paint: (text, column) => (column === 0 ? out.bold(text) : text) });
}

const STATES = {
  none: 'none',
  valid: 'logged in',
  stale: 'logged in (renewed with the next request)',
  'needs-login': 'needs login',
} as const;

/**
 * Revokes and forgets logins; returns their servers. The registration of the client is kept for the next login, unless it
 * is to be forgotten, too.
 */
export async function endLogins(url: string | undefined, forgetClient: boolean): Promise<readonly string[]> {
  const store = userLoginStore();
  const settings = resolveOAuth({
    store,
    onWarning: (warning) => process.stderr.write(`isthmus: warning: ${oneLine(warning)}\n`),
  });
  const ended: string[] = [];
  for (const { key, record } of await store.list()) {
    if (url !== undefined && record.server !== nameOf(url)) continue;
    const isKept = record.client.kind === 'registered' && !forgetClient;
    if (isKept) await store.write(key, { ...record, token: undefined, reason: 'logged out' });
    else await store.delete(key);
    if (record.token || !isKept) ended.push(record.server);
    await revokeLogin(record, loginNetwork(new URL(record.server), settings), settings);
  }
  return ended;
}

function nameOf(url: string): string {
  const { origin, pathname } = new URL(url);
  return `${origin}${pathname}`;
}
