import type { ResourcePlace } from '@isthmus/sdk/internal/transport/http-server/options.js';

/** Which audiences a token may have. */
export interface AudienceRule {
  /** Names of this gateway. */
  readonly names: readonly string[];
  /** The public URL of the gateway. A token for it, or for one of its servers, is accepted there. */
  readonly resource?: string | undefined;
}

/** The audiences of a token that name this gateway or the requested server. */
export function ownAudiences(
  audiences: readonly string[],
  { names, resource }: AudienceRule,
  place: ResourcePlace | undefined,
): readonly string[] {
  return audiences.filter(
    (each) => names.includes(each) || (resource !== undefined && isOwnUrl(each, resource, place)),
  );
}

function isOwnUrl(audience: string, resource: string, place: ResourcePlace | undefined): boolean {
  if (isSameUrl(audience, resource)) return true;
  const path = pathOf(audience);
  if (path === undefined || new URL(audience).origin !== new URL(resource).origin) return false;
  // Something else may be at the same origin.
  const roots = place ? place.roots.map(partsOf) : [pathOf(resource)!];
  return roots.some((root) => isAtOrBelow(path, root));
}

/** The issuer may write a slash at the end. */
function isSameUrl(a: string, b: string): boolean {
  return a.replace(/\/$/, '') === b.replace(/\/$/, '');
}

/**
 * Whether a token with these audiences is valid for the requested resource. An audience that is a URL of this gateway names
 * a path, and is valid there and below (AUTH-030). Any other audience is a name, and is valid for the whole gateway.
 */
export function isMeantFor(audiences: readonly string[], place: ResourcePlace | undefined): boolean {
  if (!place) return audiences.length > 0;
  return audiences.some((audience) => {
    const path = pathOf(audience);
    if (path === undefined || !place.roots.some((root) => isAtOrBelow(path, partsOf(root)))) {
      // The root of the gateway, a URL of something else, or not a URL.
      return true;
    }
    return place.own.some((own) => isAtOrBelow(partsOf(own), path));
  });
}

/** The segments of the path of a URL; undefined for what is not an HTTP URL. */
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
