import { retryAfterSeconds } from '../../../era/classify/classify-http.js';
import { refuse } from '../exchange/admitted-request.js';
import type { HttpExchange, HttpHeaders } from '../exchange/exchange.js';
import type { Grant, HttpEndpointSettings, Refusal } from '../options.js';
import { admit, preflightHeaders } from './guard.js';
import { basicScopes, isMetadataPath, metadataParameter, respondMetadata } from './resource-metadata.js';

/** Checks host and origin, and answers preflights and requests for metadata. Undefined: the request was answered. */
export function passGuard(
  exchange: HttpExchange,
  path: string,
  settings: HttpEndpointSettings,
): HttpHeaders | undefined {
  const isMetadata = settings.protectedResource !== undefined && isMetadataPath(path, settings);
  const admission = admit(exchange, settings);
  if (isMetadata && (admission.kind === 'admitted' || admission.because !== 'host')) {
    respondMetadata(exchange, settings);
    return undefined;
  }
  if (admission.kind === 'refused') {
    const { status, why, because } = admission;
    refuse(
      { exchange, headers: {} },
      status,
      why,
      undefined,
      tellRefused(exchange, settings, FOREIGN[because]),
    );
    return undefined;
  }
  const { headers } = admission;
  if (exchange.method === 'OPTIONS' && settings.cors) {
    const requested = exchange.header('access-control-request-headers');
    exchange.respond(204, preflightHeaders(headers, settings.cors, requested));
    return undefined;
  }
  return headers;
}

/**
 * Finds the caller, where authentication is configured. Undefined: the caller was refused, or is handed to `onLacking`: its
 * credential has not all scopes that every request needs. It must be refused there.
 */
export async function authenticateRequest(
  exchange: HttpExchange,
  headers: HttpHeaders,
  settings: HttpEndpointSettings,
  onLacking?: (grant: Grant, refuse: () => void) => void,
): Promise<KnownCaller | undefined> {
  if (!settings.authenticate) return ANONYMOUS;
  if (exchange.isRepeated?.('authorization')) {
    // RFC 6750, §3.1. A proxy in front may have looked at another one than this server.
    const challenge = { 'www-authenticate': 'Bearer error="invalid_request"' };
    refuse({ exchange, headers }, 400, 'Authorization was sent more than once', challenge);
    return undefined;
  }
  const caller = await identify(exchange, settings);
  if (caller.kind === 'known') return caller;
  const { refusal } = caller;
  const refuseCaller = () => {
    const data = refusal && tellRefused(exchange, settings, refusal);
    refuse({ exchange, headers }, caller.status, caller.why, caller.headers, data);
  };
  if (onLacking && refusal?.status === 403 && refusal.grant) onLacking(refusal.grant, refuseCaller);
  else refuseCaller();
  return undefined;
}

/** Tells the log of a refusal. What it returns is for the client: the id by which the log knows the refusal. */
export function tellRefused(
  exchange: HttpExchange,
  { authorize }: Pick<HttpEndpointSettings, 'authorize'>,
  { status, why, scopes, caller }: Refusal,
): { readonly correlationId: string } | undefined {
  if (status === 503) return undefined;
  const correlationId = authorize?.onRefused?.({
    ...{ status, why: why ?? 'The caller was refused', caller, remote: exchange.remote },
    scopes: status === 403 ? scopes : undefined,
    header: (name) => exchange.header(name.toLowerCase()),
  });
  return correlationId === undefined ? undefined : { correlationId };
}

const FOREIGN: Readonly<Record<'host' | 'origin', Refusal>> = {
  host: { status: 403, why: 'The host is not served here' },
  origin: { status: 403, why: 'Pages of this origin may not call' },
};

export type KnownCaller = Extract<AuthenticatedCaller, { kind: 'known' }>;

const ANONYMOUS: KnownCaller = { kind: 'known', principal: undefined };

type AuthenticatedCaller =
  | { readonly kind: 'known'; readonly principal: string | undefined; readonly grant?: Grant | undefined }
  | {
      readonly kind: 'refused';
      readonly status: number;
      readonly why: string;
      readonly headers: HttpHeaders;
      /** Undefined: the hook has failed. */
      readonly refusal?: Refusal;
    };

/** Calls the `authenticate` hook. A hook that throws refuses the caller. */
async function identify(
  exchange: HttpExchange,
  settings: HttpEndpointSettings,
): Promise<AuthenticatedCaller> {
  const { authenticate, resourcePlace: resource } = settings;
  const { method, target } = exchange;
  let verdict: Awaited<ReturnType<NonNullable<typeof authenticate>>>;
  try {
    const header = (name: string) => exchange.header(name.toLowerCase());
    verdict = await authenticate!({ method, target, header, resource, remote: exchange.remote });
  } catch {
    return { kind: 'refused', status: 500, why: 'Authentication failed with an internal error', headers: {} };
  }
  if (typeof verdict === 'string') return { kind: 'known', principal: verdict };
  if (verdict && 'principal' in verdict) {
    const { principal, ...rest } = verdict;
    const says = Object.values(rest).some((each) => each !== undefined);
    return { kind: 'known', principal, ...(says && { grant: verdict }) };
  }
  const refusal: Refusal = verdict ?? { status: 401 };
  const { status, challenge, retryAfterMs } = refusal;
  if (status === 503) {
    const why = 'Authentication is unavailable at the moment; try again later';
    const headers = { 'retry-after': retryAfterSeconds(retryAfterMs ?? 1000) };
    return { kind: 'refused', status, why, headers };
  }
  const parts = [
    ...metadataParameter(exchange, settings),
    ...(challenge === undefined ? [] : [challenge]),
    ...(status === 401 || refusal.scopes ? neededScopes(refusal, settings) : []),
  ];
  return {
    kind: 'refused',
    status,
    why:
      status === 401
        ? `Authorization is required${descriptionIn(challenge)}`
        : 'The caller is not allowed to do this',
    headers: { 'www-authenticate': ['Bearer', parts.join(', ')].join(' ').trim() },
    refusal,
  };
}

/** What a challenge says is wrong. */
function descriptionIn(challenge: string | undefined): string {
  const description = /(?:^|, )error_description="([^"\\]+)"/.exec(challenge ?? '')?.[1];
  return description === undefined ? '' : `: ${description}`;
}

/** AUTH-S-004, AUTH-S-008: all scopes to ask the authorization server for, unless the hook has named them. */
function neededScopes({ challenge, scopes: needed = [] }: Refusal, settings: HttpEndpointSettings): string[] {
  const scopes = [...new Set([...needed, ...basicScopes(settings)])];
  if (scopes.length === 0 || challenge?.includes('scope="')) return [];
  return [`scope="${scopes.join(' ')}"`];
}
