import type { HttpExchange } from './exchange.js';
import type { ProtectedResource } from './options.js';

/** RFC 9728, §3: at the root, and with the path of the resource behind it. */
export function isMetadataPath(path: string, own: string | undefined): boolean {
  return path === WELL_KNOWN || (own !== undefined && path === `${WELL_KNOWN}${own}`);
}

export function resourceMetadata(
  exchange: HttpExchange,
  { authorizationServers, resource, scopes, documentation }: ProtectedResource,
  own: string | undefined,
): Readonly<Record<string, unknown>> {
  return {
    resource: resource ?? `${originOf(exchange)}${own ?? ''}`,
    authorization_servers: authorizationServers,
    bearer_methods_supported: ['header'],
    ...(scopes && { scopes_supported: scopes }),
    ...(documentation !== undefined && { resource_documentation: documentation }),
  };
}

export function metadataUrl(
  exchange: HttpExchange,
  { resource }: ProtectedResource,
  own: string | undefined,
): string {
  const base = resource === undefined ? originOf(exchange) : new URL(resource).origin;
  return `${base}${WELL_KNOWN}${own ?? ''}`;
}

/** As the client sees it; the host was checked before. */
function originOf(exchange: HttpExchange): string {
  const scheme = exchange.header('x-forwarded-proto') === 'https' ? 'https' : 'http';
  return `${scheme}://${exchange.header('host') ?? 'localhost'}`;
}

const WELL_KNOWN = '/.well-known/oauth-protected-resource';
