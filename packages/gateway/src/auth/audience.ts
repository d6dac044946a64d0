import type { ResourcePlace } from '@isthmus/sdk/internal/transport/http-server/options.js';

/**
 * Whether a token with these audiences is good for what is asked for. An audience that is a URL of this gateway names
 * a path: it is good there and below (AUTH-030). Any other audience is a name, and good for all of the gateway.
 */
export function isMeantFor(audiences: readonly string[], place: ResourcePlace | undefined): boolean {
  if (!place) return audiences.length > 0;
  return audiences.some((audience) => {
    const path = pathOf(audience);
    if (path === undefined || !place.roots.some((root) => isAtOrBelow(path, partsOf(root)))) {
      // The root of the gateway, an address of something else, or no address at all.
      return true;
    }
    return place.own.some((own) => isAtOrBelow(partsOf(own), path));
  });
}

/** The segments of the path of a URL; undefined for what is no http URL. */
function pathOf(audience: string): readonly string[] | undefined {
  if (!/^https?:/i.test(audience) || !URL.canParse(audience)) return undefined;
  return partsOf(new URL(audience).pathname);
}

function partsOf(path: string): readonly string[] {
  return path
    .split('/')
    .filter((part) => part !== '')
    .map(decoded);
}

function isAtOrBelow(path: readonly string[], above: readonly string[]): boolean {
  return above.every((part, at) => path[at] === part);
}

/** `c++` and `c%2B%2B` are the same. */
function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
