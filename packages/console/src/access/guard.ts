import type { IncomingHttpHeaders } from 'node:http';

/** Who may be meant by `Host`. */
export interface GuardOptions {
  /** Names besides the loopback ones, in lower case: those of a proxy in front. */
  readonly names: ReadonlySet<string>;
}

/** `page`: the document itself, which people open from anywhere. `asset`: its parts. `api`: what only the page may ask. */
export type GuardedPart = 'page' | 'asset' | 'api';

/**
 * Why a request is refused, by its headers alone. Undefined: it is admitted.
 *
 * - DNS rebinding: a page can make its own name point here, and the browser still sends that name as `Host`.
 * - Pages of other origins, also of other ports of this machine: `Origin` must be exactly this host, and the API answers
 *   only requests that the browser calls `same-origin`. Programs that are not browsers send neither header.
 */
export function refusalOf(
  headers: IncomingHttpHeaders,
  part: GuardedPart,
  { names }: GuardOptions,
): string | undefined {
  const host = headers.host?.toLowerCase();
  const name = host?.replace(/:\d+$/, '');
  if (host === undefined || name === undefined || !(LOOPBACK.has(name) || names.has(name) || names.has(host)))
    return `The host ${host ?? '(none)'} is not served here; --allow-host adds a name`;
  const { origin, 'sec-fetch-site': site } = headers;
  if (origin !== undefined && !isOwn(origin.toLowerCase(), host))
    return `Pages of ${origin} may not use this console`;
  if (site === undefined || site === 'same-origin') return undefined;
  if (part === 'api') return 'Only the page of this console may ask this';
  if (site === 'none') return undefined;
  const isNavigation = headers['sec-fetch-mode'] === 'navigate' && headers['sec-fetch-dest'] === 'document';
  return part === 'page' && isNavigation ? undefined : 'Pages of other sites may not fetch this';
}

/** Behind a proxy the scheme is that of the proxy. */
function isOwn(origin: string, host: string): boolean {
  return origin === `http://${host}` || origin === `https://${host}`;
}

export const LOOPBACK: ReadonlySet<string> = new Set(['localhost', '127.0.0.1', '[::1]']);
