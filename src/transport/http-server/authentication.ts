import { retryAfterSeconds } from '../../era/classify-http.js';
import type { HttpExchange, HttpHeaders } from './exchange.js';
import type { Grant, HttpEndpointSettings, Refusal } from './options.js';
import { metadataUrl } from './protected-resource.js';

export type Caller =
  | { readonly kind: 'known'; readonly principal: string | undefined; readonly grant?: Grant | undefined }
  | {
      readonly kind: 'refused';
      readonly status: number;
      readonly why: string;
      readonly headers: HttpHeaders;
    };

/** Asks the hook who it is. A hook that fails lets nobody in. */
export async function identify(exchange: HttpExchange, settings: HttpEndpointSettings): Promise<Caller> {
  const { authenticate, protectedResource, path, resourcePlace: resource } = settings;
  const { method, target } = exchange;
  let verdict: Awaited<ReturnType<NonNullable<typeof authenticate>>>;
  try {
    const header = (name: string) => exchange.header(name.toLowerCase());
    verdict = await authenticate!({ method, target, header, resource });
  } catch {
    return { kind: 'refused', status: 500, why: 'It could not be found out who asks', headers: {} };
  }
  if (typeof verdict === 'string') return { kind: 'known', principal: verdict };
  if (verdict && 'principal' in verdict) {
    const { principal, standing } = verdict;
    return { kind: 'known', principal, ...(standing && { grant: verdict }) };
  }
  const { status, challenge, retryAfterMs }: Refusal = verdict ?? { status: 401 };
  if (status === 503) {
    const why = 'It cannot be found out at the moment who asks; try again later';
    const headers = { 'retry-after': retryAfterSeconds(retryAfterMs ?? 1000) };
    return { kind: 'refused', status, why, headers };
  }
  const where = protectedResource && `resource_metadata="${metadataUrl(exchange, protectedResource, path)}"`;
  const parts = [where, challenge].filter((part) => part !== undefined);
  return {
    kind: 'refused',
    status,
    why: status === 401 ? 'Authorization is required' : 'The caller is known, and is not allowed to do this',
    headers: { 'www-authenticate': ['Bearer', parts.join(', ')].join(' ').trim() },
  };
}
