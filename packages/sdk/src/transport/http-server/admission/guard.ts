import { isIP } from 'node:net';
import { NO_HEADERS } from '../exchange/event-writer.js';
import type { HttpExchange, HttpHeaders } from '../exchange/exchange.js';
import type { CorsOptions, HttpEndpointSettings } from '../options.js';

/** Whether a request is admitted, by its headers alone: before authentication, and before its body is read. */
export type RequestAdmission =
  | { readonly kind: 'admitted'; readonly headers: HttpHeaders }
  | {
      readonly kind: 'refused';
      readonly status: number;
      readonly why: string;
      readonly because: 'host' | 'origin';
    };

export function admit(exchange: HttpExchange, settings: HttpEndpointSettings): RequestAdmission {
  const host = exchange.header('host')?.toLowerCase();
  if (!isHostAllowed(host, exchange.isLocal, settings)) {
    const why = `The host ${host ?? '(none)'} is not served here; --allow-host (allowedHosts) adds a name`;
    return { kind: 'refused', status: 403, why, because: 'host' };
  }
  const origin = exchange.header('origin')?.toLowerCase();
  if (origin === undefined) return isForeignPage(exchange, settings) ? FOREIGN_PAGE : NO_ORIGIN;
  if (settings.cors && isCorsOrigin(origin, settings.cors)) {
    return { kind: 'admitted', headers: corsHeaders(exchange.header('origin')!, settings.cors) };
  }
  if (isOriginAllowed(origin, host, exchange.isLocal, settings.allowedOrigins)) return NO_ORIGIN;
  return {
    kind: 'refused',
    status: 403,
    why: `Pages of ${origin} may not call this server`,
    because: 'origin',
  };
}

/** Sent by a program on this machine, to a loopback name, and not through a proxy. */
export function isFromHere(exchange: HttpExchange): boolean {
  if (!exchange.isLocal || !LOOPBACK.has(nameOf(exchange.header('host')?.toLowerCase() ?? ''))) return false;
  return exchange.header('x-forwarded-for') === undefined && exchange.header('forwarded') === undefined;
}

/** The answer to a CORS preflight. */
export function preflightHeaders(
  headers: HttpHeaders,
  cors: CorsOptions,
  requested: string | undefined,
): HttpHeaders {
  // The names of headers with tool arguments depend on the tools.
  const params = (requested ?? '').split(',').map((name) => name.trim());
  const named = params.filter((name) => /^mcp-param-[!#$%&'*+.^_`|~\w-]+$/i.test(name));
  return {
    ...headers,
    'access-control-allow-methods': 'POST, GET, DELETE',
    'access-control-allow-headers': [...PROTOCOL_HEADERS, ...(cors.headers ?? []), ...named].join(', '),
    'access-control-max-age': '86400',
  };
}

/** Whether the client accepts these types. A missing `Accept` accepts anything. */
export function accepts(exchange: HttpExchange, ...types: readonly string[]): boolean {
  const accept = exchange.header('accept');
  if (accept === undefined) return true;
  // The common case, in the spelling of the specification.
  if (accept === 'application/json, text/event-stream') return true;
  const offered = accept.split(',').map((each) => each.split(';')[0]!.trim().toLowerCase());
  return types.every((type) =>
    offered.some((each) => each === type || each === '*/*' || each === `${type.split('/')[0]}/*`),
  );
}

export function isJson(contentType: string | undefined): boolean {
  if (contentType === 'application/json') return true;
  return /^application\/json\s*(;|$)/i.test(contentType?.trim() ?? '');
}

/**
 * DNS rebinding: a page can make its own name point at this server, but the browser still sends that name. A caller that
 * has to authenticate is not such a page. Without authentication, only names are allowed that no page can have.
 */
function isHostAllowed(
  host: string | undefined,
  isLocal: boolean | undefined,
  { allowedHosts, authenticate, ownNames }: HttpEndpointSettings,
): boolean {
  if (allowedHosts) return host !== undefined && (allowedHosts.has(host) || allowedHosts.has(nameOf(host)));
  if (isLocal) return host !== undefined && LOOPBACK.has(nameOf(host));
  if (authenticate || !ownNames) return true;
  return host !== undefined && (isIpOrLocalhost(nameOf(host)) || ownNames.has(nameOf(host)));
}

function isIpOrLocalhost(name: string): boolean {
  if (name === 'localhost' || name.endsWith('.localhost')) return true;
  return name.startsWith('[') ? isIP(name.slice(1, -1)) === 6 : isIP(name) === 4;
}

function isOriginAllowed(
  origin: string,
  host: string | undefined,
  isLocal: boolean | undefined,
  allowed: ReadonlySet<string> | undefined,
): boolean {
  if (allowed) return allowed.has(origin);
  const from = /^https?:\/\/([^/]+)$/.exec(origin)?.[1];
  if (from === undefined) return false;
  return (
    from === host || (isLocal !== false && LOOPBACK.has(nameOf(from)) && LOOPBACK.has(nameOf(host ?? '')))
  );
}

function isCorsOrigin(origin: string, { origins }: CorsOptions): boolean {
  return origins === '*' || origins.some((each) => each.toLowerCase() === origin);
}

function corsHeaders(origin: string, { origins }: CorsOptions): HttpHeaders {
  return {
    'access-control-allow-origin': origins === '*' ? '*' : origin,
    'access-control-expose-headers': 'Mcp-Session-Id, WWW-Authenticate, Retry-After',
    ...(origins !== '*' && { vary: 'Origin' }),
  };
}

/** Without the port. Two of these for each request: a regular expression is slower. */
function nameOf(host: string): string {
  let at = host.length - 1;
  while (at >= 0 && isDigit(host.charCodeAt(at))) at -= 1;
  return at >= 0 && at < host.length - 1 && host[at] === ':' ? host.slice(0, at) : host;
}

function isDigit(code: number): boolean {
  return code >= 0x30 && code <= 0x39;
}

/** A fetch by a page of another site (`<script src>`), for which browsers send no origin. */
function isForeignPage(exchange: HttpExchange, { cors }: HttpEndpointSettings): boolean {
  return exchange.header('sec-fetch-site') === 'cross-site' && cors?.origins !== '*';
}

const FOREIGN_PAGE: RequestAdmission = {
  kind: 'refused',
  status: 403,
  why: 'Pages of other sites may not fetch this',
  because: 'origin',
};
const NO_ORIGIN: RequestAdmission = { kind: 'admitted', headers: NO_HEADERS };
const LOOPBACK: ReadonlySet<string> = new Set(['localhost', '127.0.0.1', '[::1]']);
const PROTOCOL_HEADERS = [
  'Content-Type',
  'Accept',
  'Authorization',
  'MCP-Protocol-Version',
  'Mcp-Session-Id',
  'Mcp-Method',
  'Mcp-Name',
  'Last-Event-ID',
] as const;
