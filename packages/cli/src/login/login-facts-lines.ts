import { explainLogin } from '@isthmus/sdk/internal/oauth/explain-login.js';
import { oneLine } from '../terminal/text.js';
import type { AuthFlags } from './auth-options.js';
import { clientOf } from './auth-options.js';

/** What a 401 leads to, in lines: metadata, authorization server, registration, scopes, and what would fail. */
export async function loginFactLines(url: string, flags: AuthFlags = {}): Promise<readonly string[]> {
  const found = await explainLogin(new URL(url), clientOf(flags)).catch(() => undefined);
  if (!found) return [];
  const ways = [...found.registration, 'a client id of your own (--client-id)'];
  const facts = [
    `metadata of the server: ${found.metadataFrom ?? 'none'}`,
    ...(found.issuer === undefined ? [] : [`authorization server: ${found.issuer}`]),
    ...(found.issuer === undefined ? [] : [`ways to get a client id: ${ways.join(', ')}`]),
    `scopes: ${found.scopes.join(' ') || 'not named'}`,
    ...(found.hasDeviceCode ? ['a login by device code is possible (--device)'] : []),
    ...found.warnings.map((warning) => `warning: ${warning}`),
    found.problem === undefined
      ? 'nothing that would stop a login was found'
      : `a login fails: ${found.problem}`,
  ];
  return facts.map((line) => oneLine(line));
}
