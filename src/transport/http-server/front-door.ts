import { type Caller, identify } from './authentication.js';
import { jsonHeaders } from './event-text.js';
import type { HttpExchange, HttpHeaders } from './exchange.js';
import { admit, preflightHeaders } from './guard.js';
import type { HttpEndpointSettings } from './options.js';
import { isMetadataPath, resourceMetadata } from './protected-resource.js';
import { refuse } from './visit.js';

/** Hosts, origins, questions of browsers and the metadata of the resource. Undefined: it has been answered. */
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
    refuse({ exchange, headers }, 405, 'This is only to be read', { allow: 'GET' });
  } else {
    const body = JSON.stringify(resourceMetadata(exchange, settings.protectedResource, settings.path));
    exchange.respond(200, jsonHeaders(headers), body);
  }
  return undefined;
}

/** Who asks, where that has to be said. Undefined: the caller was refused, and has been told. */
export async function recognise(
  exchange: HttpExchange,
  headers: HttpHeaders,
  settings: HttpEndpointSettings,
): Promise<KnownCaller | undefined> {
  if (!settings.authenticate) return NOBODY;
  const caller = await identify(exchange, settings);
  if (caller.kind === 'known') return caller;
  refuse({ exchange, headers }, caller.status, caller.why, caller.headers);
  return undefined;
}

export type KnownCaller = Extract<Caller, { kind: 'known' }>;

const NOBODY: KnownCaller = { kind: 'known', principal: undefined };
