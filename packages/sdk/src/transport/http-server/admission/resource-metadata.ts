import { jsonHeaders } from '../exchange/event-writer.js';
import type { HttpExchange } from '../exchange/exchange.js';
import type { HttpEndpointSettings } from '../options.js';

/** What an endpoint says about itself as a resource (RFC 9728). */
type ResourceSettings = Pick<
  HttpEndpointSettings,
  'path' | 'protectedResource' | 'authorize' | 'trustsProxy'
>;

/** RFC 9728, §3: the well-known path alone, or followed by the path of the resource, here or as clients know it. */
export function isMetadataPath(path: string, settings: ResourceSettings): boolean {
  if (path === WELL_KNOWN) return true;
  if (!path.startsWith(WELL_KNOWN)) return false;
  const own = path.slice(WELL_KNOWN.length);
  return own === settings.path || own === resourcePath(settings);
}

/** Answers a request for the metadata. Pages of every origin may read it: it is public, and they need it to log in. */
export function respondMetadata(exchange: HttpExchange, settings: ResourceSettings): void {
  if (exchange.method === 'OPTIONS') return exchange.respond(204, { ...PUBLIC, ...PREFLIGHT });
  if (exchange.method !== 'GET' && exchange.method !== 'HEAD') {
    return exchange.respond(405, { ...PUBLIC, allow: 'GET, HEAD' });
  }
  // What is made of the headers of one request must not be kept for another one (cache poisoning).
  const isOfRequest = settings.protectedResource?.resource === undefined;
  const headers = jsonHeaders({ ...PUBLIC, ...(isOfRequest && { 'cache-control': 'no-store' }) });
  exchange.respond(200, headers, JSON.stringify(metadataOf(exchange, settings)));
}

function metadataOf(exchange: HttpExchange, settings: ResourceSettings): Readonly<Record<string, unknown>> {
  const { authorizationServers, resource, documentation, name } = settings.protectedResource!;
  const scopes = basicScopes(settings);
  return {
    resource: resource ?? `${originOf(exchange, settings)}${settings.path ?? ''}`,
    authorization_servers: authorizationServers,
    bearer_methods_supported: ['header'],
    ...(scopes.length > 0 && { scopes_supported: scopes }),
    ...(name !== undefined && { resource_name: name }),
    ...(documentation !== undefined && { resource_documentation: documentation }),
  };
}

/** AUTH-S-010, AUTH-S-011: the scopes for basic use. A refresh token is not a matter of the resource. */
export function basicScopes({ protectedResource, authorize }: ResourceSettings): readonly string[] {
  const all = [...(protectedResource?.scopes ?? []), ...(authorize?.basicScopes?.() ?? [])];
  return [...new Set(all)].filter((scope) => scope !== 'offline_access');
}

/** For `WWW-Authenticate`. Empty where there is no metadata. */
export function metadataParameter(exchange: HttpExchange, settings: ResourceSettings): string[] {
  if (!settings.protectedResource) return [];
  const { resource } = settings.protectedResource;
  const origin = resource === undefined ? originOf(exchange, settings) : new URL(resource).origin;
  const path = resource === undefined ? (settings.path ?? '') : resourcePath(settings);
  return [`resource_metadata="${origin}${WELL_KNOWN}${path}"`];
}

/** The path of the resource as clients know it. Undefined where that is the path of the endpoint. */
function resourcePath({ protectedResource }: ResourceSettings): string | undefined {
  if (protectedResource?.resource === undefined) return undefined;
  return new URL(protectedResource.resource).pathname.replace(/\/$/, '');
}

/**
 * The origin as the client sees it. What a proxy says is believed only from the addresses of `trustProxy`: otherwise a client
 * could make the server name the metadata of another one.
 */
export function originOf(exchange: HttpExchange, { trustsProxy }: ResourceSettings): string {
  const isTrusted = trustsProxy?.(exchange.via ?? exchange.remote) ?? false;
  const told = (name: string) => (isTrusted ? exchange.header(name)?.split(',')[0]?.trim() : undefined);
  const scheme = told('x-forwarded-proto')?.toLowerCase() === 'https' ? 'https' : 'http';
  const host = [told('x-forwarded-host'), exchange.header('host')].find(
    (each) => each !== undefined && HOST.test(each),
  );
  return `${scheme}://${host ?? 'localhost'}`;
}

/** A name or an address, and a port. Nothing that could end a quoted value of a header. */
const HOST = /^(?:[A-Za-z0-9._-]{1,255}|\[[0-9A-Fa-f:.]{2,45}\])(?::\d{1,5})?$/;

export const WELL_KNOWN = '/.well-known/oauth-protected-resource';

const PUBLIC = { 'access-control-allow-origin': '*', 'x-content-type-options': 'nosniff' };
const PREFLIGHT = {
  'access-control-allow-methods': 'GET',
  'access-control-allow-headers': 'accept, mcp-protocol-version',
  'access-control-max-age': '86400',
};
