import { WELL_KNOWN } from '@isthmus/sdk/internal/transport/http-server/admission/resource-metadata.js';
import type {
  HttpEndpointOptions,
  ResourcePlace,
} from '@isthmus/sdk/internal/transport/http-server/options.js';

export { WELL_KNOWN };

type Protected = Pick<HttpEndpointOptions, 'protectedResource'>;

/** Each path is a separate resource (RFC 9728, §3.3), below the address by which clients know the gateway. */
export function resourceAt(path: string, mainPaths: readonly string[], options: Protected): Protected {
  const { protectedResource } = options;
  if (protectedResource?.resource === undefined) return {};
  const { origin } = new URL(protectedResource.resource);
  const resource = `${origin}${prefixOf(options, mainPaths)}${path}`;
  return { protectedResource: { ...protectedResource, resource } };
}

/** The address of the gateway as clients know it, without the path of a server. Undefined: it is not configured. */
export function publicBase(options: Protected, mainPaths: readonly string[]): string | undefined {
  const { resource } = options.protectedResource ?? {};
  return resource === undefined ? undefined : `${new URL(resource).origin}${prefixOf(options, mainPaths)}`;
}

/**
 * What a proxy puts before the paths of the gateway. A public URL that ends in the path of an address is the URL of that
 * address: `https://HOST/tools/mcp` is `/mcp` behind a proxy that takes `/tools` away.
 */
function prefixOf({ protectedResource }: Protected, mainPaths: readonly string[]): string {
  if (protectedResource?.resource === undefined) return '';
  const path = new URL(protectedResource.resource).pathname.replace(/\/$/, '');
  const main = mainPaths.find((each) => each !== '/' && path.endsWith(each));
  return main === undefined ? path : path.slice(0, -main.length);
}

/** The paths that a token for this server may name (`own`), and the paths below which all servers are (`roots`). */
export function placeOf(path: string, mainPaths: readonly string[], options: Protected): ResourcePlace {
  const before = prefixOf(options, mainPaths);
  const under = (each: string) => `${before}${each}`;
  return {
    own: [path, ...otherPathOf(path)].map(under),
    roots: ['/mcp', '/servers', ...mainPaths].map(under),
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
export function serverPathOf(path: string, mainPaths: readonly string[], options: Protected): string {
  const isMetadata = path.startsWith(`${WELL_KNOWN}/`);
  const asked = isMetadata ? path.slice(WELL_KNOWN.length) : path;
  // The metadata is also asked for under the path of the proxy.
  const before = isMetadata ? prefixOf(options, mainPaths) : '';
  const own = before !== '' && asked.startsWith(`${before}/`) ? asked.slice(before.length) : asked;
  const beside = /^(\/mcp\/[^/]+)\/(?:sse|message)$/.exec(own)?.[1];
  const folder = /^(\/servers\/[^/]+)\/(?:sse|message)$/.exec(own)?.[1];
  return beside ?? (folder === undefined ? own : `${folder}/mcp`);
}
