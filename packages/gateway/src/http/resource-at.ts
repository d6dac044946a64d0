import type {
  HttpEndpointOptions,
  ResourcePlace,
} from '@isthmus/sdk/internal/transport/http-server/options.js';

/** Each path is a separate resource (RFC 9728, §3.3), below the address by which clients know the gateway. */
export function resourceAt(
  path: string,
  { protectedResource }: Pick<HttpEndpointOptions, 'protectedResource'>,
): Pick<HttpEndpointOptions, 'protectedResource'> {
  if (protectedResource?.resource === undefined) return {};
  const base = protectedResource.resource.replace(/\/$/, '');
  const resource = new URL(base).pathname === path ? base : `${base}${path}`;
  return { protectedResource: { ...protectedResource, resource } };
}

/** The paths that a token for this server may name (`own`), and the paths below which all servers are (`roots`). */
export function placeOf(
  path: string,
  mainPaths: readonly string[],
  { protectedResource }: Pick<HttpEndpointOptions, 'protectedResource'>,
): ResourcePlace {
  const base = protectedResource?.resource;
  const before = base === undefined ? '' : new URL(base).pathname.replace(/\/$/, '');
  const under = (each: string) => (each === before ? before : `${before}${each}`);
  return {
    own: [path, ...otherPathOf(path)].map(under),
    roots: ['/mcp', '/servers', ...mainPaths, ...(before === '' ? [] : [before])].map(under),
  };
}

/** `/mcp/NAME` and `/servers/NAME/mcp` are the same server. */
function otherPathOf(path: string): string[] {
  const name = /^\/mcp\/([^/]+)$/.exec(path)?.[1];
  const other = /^\/servers\/([^/]+)\/mcp$/.exec(path)?.[1];
  if (name !== undefined) return [`/servers/${name}/mcp`];
  return other === undefined ? [] : [`/mcp/${other}`];
}

/**
 * The path of the server that a path belongs to, whether or not the server exists: `/mcp/NAME/sse`, its metadata and so on.
 * An unauthenticated client must get the same answer for all names.
 */
export function serverPathOf(path: string): string {
  const own = path.startsWith(`${WELL_KNOWN}/`) ? path.slice(WELL_KNOWN.length) : path;
  const beside = /^(\/mcp\/[^/]+)\/(?:sse|message)$/.exec(own)?.[1];
  const folder = /^(\/servers\/[^/]+)\/(?:sse|message)$/.exec(own)?.[1];
  return beside ?? (folder === undefined ? own : `${folder}/mcp`);
}

export const WELL_KNOWN = '/.well-known/oauth-protected-resource';
