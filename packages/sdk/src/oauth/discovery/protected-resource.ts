import { IsthmusError } from '../../errors.js';
import { nameOf } from '../../transport/http-client/options.js';
import { isJsonObject } from '../../wire/json-rpc.js';
import { toldText } from '../login-status.js';
import { type OAuthHttp, unreachable, unusable } from './oauth-http.js';

/** What a server publishes about itself (RFC 9728): the part that a login needs. */
export interface ProtectedResourceMetadata {
  /** As it was published, character by character. */
  readonly resource: string;
  readonly authorizationServers: readonly string[];
  readonly scopesSupported: readonly string[] | undefined;
  readonly resourceName: string | undefined;
  /** Where it was found, without the query, which may hold secrets. */
  readonly from: string;
}

export interface FindResourceOptions {
  readonly http: OAuthHttp;
  /** URLs from the challenge, which come first. */
  readonly named: readonly string[];
  /** The resource that the user configured. The metadata may name it although it is elsewhere. */
  readonly configured: string | undefined;
}

/**
 * Looks for the metadata of a server: where the challenge says, then at the well-known address with the path of the server,
 * then at the one without (AUTH-C-011). Undefined: the server publishes none. A failure other than "not found" ends the
 * search, since an outage must not lead a user to another authorization server.
 */
export async function findProtectedResource(
  server: URL,
  { http, named, configured }: FindResourceOptions,
): Promise<ProtectedResourceMetadata | undefined> {
  // A header may name hundreds. More than a few are not a mistake.
  const first = named.slice(0, MAX_NAMED).map(toUrl);
  for (const candidate of [...first, ...wellKnownResourceUrls(server)]) {
    const document = await readDocument(http, candidate);
    if (document === undefined) continue;
    const found = toMetadata(document, candidate);
    if (found.resource === configured || covers(found.resource, server)) return found;
    throw new IsthmusError(
      'UNAUTHORIZED',
      `${nameOf(candidate)} describes the resource ${toldText(found.resource)}, which is not ${server.origin}${server.pathname}; the login was not begun`,
      { sent: 'no' },
    );
  }
  return undefined;
}

/** The well-known addresses of a server: with its path, and without. */
export function wellKnownResourceUrls(server: URL): readonly URL[] {
  const root = new URL('/.well-known/oauth-protected-resource', server.origin);
  if (server.pathname === '/') return [root];
  const withPath = new URL(`/.well-known/oauth-protected-resource${server.pathname}`, server.origin);
  withPath.search = server.search;
  return [withPath, root];
}

/** Whether a resource is the server or contains it: the same origin, and a path that is a prefix by segments. */
export function covers(resource: string, server: URL): boolean {
  if (!URL.canParse(resource)) return false;
  const url = new URL(resource);
  if (url.origin !== server.origin) return false;
  const path = url.pathname.endsWith('/') ? url.pathname : `${url.pathname}/`;
  return `${server.pathname}/`.startsWith(path);
}

/** A JSON object at a URL; undefined if there is none there. */
export async function readDocument(http: OAuthHttp, url: URL): Promise<Record<string, unknown> | undefined> {
  const headers = { accept: 'application/json', 'mcp-protocol-version': NEWEST };
  const response = await http.send(url, { method: 'GET', headers, redirects: 3 });
  if (response.status >= 400 && response.status < 500 && response.status !== 429) return undefined;
  if (!response.ok) throw unreachable(`${nameOf(url)} answered with HTTP ${response.status}`);
  const document: unknown = await response.json().catch(() => undefined);
  if (isJsonObject(document)) return document;
  throw unusable(`${nameOf(url)} did not answer with a JSON object`);
}

function toMetadata(document: Record<string, unknown>, from: URL): ProtectedResourceMetadata {
  const {
    resource,
    authorization_servers: servers,
    scopes_supported: scopes,
    resource_name: name,
  } = document;
  if (typeof resource !== 'string') throw invalid(from, 'it has no resource');
  if (resource.length > MAX_URL) throw invalid(from, `its resource is longer than ${MAX_URL} characters`);
  const authorizationServers = stringsOf(servers);
  if (!authorizationServers || authorizationServers.length === 0) {
    throw invalid(from, 'it names no authorization server');
  }
  return {
    resource,
    authorizationServers,
    scopesSupported: stringsOf(scopes),
    resourceName: typeof name === 'string' ? name : undefined,
    from: nameOf(from),
  };
}

export function stringsOf(value: unknown): readonly string[] | undefined {
  return Array.isArray(value) ? value.filter((each) => typeof each === 'string') : undefined;
}

function toUrl(text: string): URL {
  if (URL.canParse(text)) return new URL(text);
  throw new IsthmusError(
    'UNAUTHORIZED',
    `The server names metadata that is not a URL: ${toldText(JSON.stringify(text))}`,
    {
      sent: 'no',
    },
  );
}

function invalid(from: URL, why: string): IsthmusError {
  return new IsthmusError('UNAUTHORIZED', `The metadata at ${nameOf(from)} cannot be used: ${why}`, {
    sent: 'no',
  });
}

const MAX_NAMED = 3;
/** It is kept with the login. */
export const MAX_URL = 2000;

/** Only servers of 2025-03-26 look at it. */
const NEWEST = '2026-07-28';
