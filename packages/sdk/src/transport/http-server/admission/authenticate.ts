import { retryAfterSeconds } from '../../../era/classify-http.js';
import { refuse } from '../exchange/admitted-request.js';
import { jsonHeaders } from '../exchange/event-writer.js';
import type { HttpExchange, HttpHeaders } from '../exchange/exchange.js';
import type { Grant, HttpEndpointSettings, ProtectedResource, Refusal } from '../options.js';
import { admit, preflightHeaders } from './guard.js';

/** Checks host and origin, and answers preflights and requests for metadata. Undefined: the request was answered. */
export function passGuard(
  exchange: HttpExchange,
  path: string,
  settings: HttpEndpointSettings,
): HttpHeaders | undefined {
  const admission = admit(exchange, settings);
  if (admission.kind === 'refused') {
    refuse({ exchange, headers: {} }, admission.status, admission.why);
    return undefined;
  }
  const { headers } = admission;
  if (exchange.method === 'OPTIONS' && settings.cors) {
    const requested = exchange.header('access-control-request-headers');
    exchange.respond(204, preflightHeaders(headers, settings.cors, requested));
    return undefined;
  }
  if (!settings.protectedResource || !isMetadataPath(path, settings.path)) return headers;
  if (exchange.method !== 'GET' && exchange.method !== 'HEAD') {
    refuse({ exchange, headers }, 405, 'This resource is read-only', { allow: 'GET' });
  } else {
    const body = JSON.stringify(resourceMetadata(exchange, settings.protectedResource, settings.path));
    exchange.respond(200, jsonHeaders(headers), body);
  }
  return undefined;
}

/** Finds the caller, where authentication is configured. Undefined: the caller was refused. */
export async function authenticateRequest(
  exchange: HttpExchange,
  headers: HttpHeaders,
  settings: HttpEndpointSettings,
): Promise<KnownCaller | undefined> {
  if (!settings.authenticate) return ANONYMOUS;
  const caller = await identify(exchange, settings);
  if (caller.kind === 'known') return caller;
  refuse({ exchange, headers }, caller.status, caller.why, caller.headers);
  return undefined;
}

export type KnownCaller = Extract<AuthenticatedCaller, { kind: 'known' }>;

const ANONYMOUS: KnownCaller = { kind: 'known', principal: undefined };

type AuthenticatedCaller =
  | { readonly kind: 'known'; readonly principal: string | undefined; readonly grant?: Grant | undefined }
  | {
      readonly kind: 'refused';
      readonly status: number;
      readonly why: string;
      readonly headers: HttpHeaders;
    };

/** Calls the `authenticate` hook. A hook that throws refuses the caller. */
async function identify(
  exchange: HttpExchange,
  settings: HttpEndpointSettings,
): Promise<AuthenticatedCaller> {
  const { authenticate, protectedResource, path, resourcePlace: resource } = settings;
  const { method, target } = exchange;
  let verdict: Awaited<ReturnType<NonNullable<typeof authenticate>>>;
  try {
    const header = (name: string) => exchange.header(name.toLowerCase());
    verdict = await authenticate!({ method, target, header, resource });
  } catch {
    return { kind: 'refused', status: 500, why: 'Authentication failed with an internal error', headers: {} };
  }
  if (typeof verdict === 'string') return { kind: 'known', principal: verdict };
  if (verdict && 'principal' in verdict) {
    const { principal, standing, scopes, claims } = verdict;
    return { kind: 'known', principal, ...((standing || scopes || claims) && { grant: verdict }) };
  }
  const { status, challenge, retryAfterMs }: Refusal = verdict ?? { status: 401 };
  if (status === 503) {
    const why = 'Authentication is unavailable at the moment; try again later';
    const headers = { 'retry-after': retryAfterSeconds(retryAfterMs ?? 1000) };
    return { kind: 'refused', status, why, headers };
  }
  const where = protectedResource && `resource_metadata="${metadataUrl(exchange, protectedResource, path)}"`;
  const parts = [where, challenge].filter((part) => part !== undefined);
  return {
    kind: 'refused',
    status,
    why: status === 401 ? 'Authorization is required' : 'The caller is not allowed to do this',
    headers: { 'www-authenticate': ['Bearer', parts.join(', ')].join(' ').trim() },
  };
}

/** RFC 9728, §3: the well-known path alone, or followed by the path of the resource. */
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

/** The origin as the client sees it. The host was checked before. */
function originOf(exchange: HttpExchange): string {
  const scheme = exchange.header('x-forwarded-proto') === 'https' ? 'https' : 'http';
  return `${scheme}://${exchange.header('host') ?? 'localhost'}`;
}

const WELL_KNOWN = '/.well-known/oauth-protected-resource';
