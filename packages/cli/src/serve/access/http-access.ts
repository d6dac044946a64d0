import { isIP } from 'node:net';
import { createAuthenticate } from '@isthmus/gateway/internal/auth/create-authenticate.js';
import type { GatewayOptions } from '@isthmus/gateway/internal/create-gateway.js';
import { httpAddress } from '@isthmus/sdk/internal/transport/address.js';
import type { HttpEndpointOptions } from '@isthmus/sdk/internal/transport/http-server/options.js';
import { memoryEventStore } from '@isthmus/sdk/internal/transport/http-server/sessions/event-store.js';
import { usageError } from '../../cli-error.js';
import type { ServeCommandOptions } from '../serve-options.js';
import { readAuthOptions } from './auth-options.js';
import { readConnectOptions } from './connect-options.js';

/** The access rules of the HTTP addresses, from the command line. */
export interface HttpAccess {
  readonly endpoint: Omit<HttpEndpointOptions, 'path' | 'sse'>;
  /** The other paths of an address, and the operators. */
  readonly places: Pick<GatewayOptions, 'sse' | 'healthPaths' | 'operators' | 'connect' | 'mirrorAuthServer'>;
  /** Callers are authenticated. */
  readonly hasPrincipals: boolean;
  /** Clients have to be given a key or a token. With an authorization server they get one themselves. */
  readonly needsKey: boolean;
  /** Only this user can reach it. A loopback port does not count, because every user of the machine can reach it. */
  readonly isPrivate: boolean;
}

export function openHttpAccess(
  options: ServeCommandOptions,
  addresses: readonly string[],
  onWarning: (message: string) => void,
): HttpAccess {
  const auth = readAuthOptions(options, onWarning);
  const authenticating = auth && createAuthenticate(auth);
  const isPrivate = addresses.every((address) => address === 'stdio' || address.startsWith('unix:'));
  if (!options.allowUnauthenticated) refuseOpenAddresses(addresses, auth !== undefined);
  const { authServer, resource, jwtScope, allowHost, maxBody, maxSessions, maxStreams } = options;
  const { sessionTimeout, stateless, trustProxy } = options;
  const endpoint: HttpAccess['endpoint'] = {
    ...(authenticating && { authenticate: authenticating.authenticate }),
    ...(authServer && {
      protectedResource: {
        authorizationServers: authServer,
        ...(resource !== undefined && { resource }),
        ...(jwtScope && { scopes: jwtScope }),
      },
    }),
    ...corsOf(options),
    ...eventsOf(options),
    ...(stateless && { legacy: 'stateless' as const }),
    ...(allowHost && { allowedHosts: allowHost }),
    ...(trustProxy && { trustProxy }),
    ...(maxBody !== undefined && { maxBodyBytes: maxBody }),
    ...(maxSessions !== undefined && { maxSessions }),
    ...(maxStreams !== undefined && { maxStreams }),
    ...(sessionTimeout !== undefined && { sessionIdleMs: sessionTimeout }),
  };
  return {
    endpoint,
    places: placesOf(options, auth !== undefined),
    hasPrincipals: auth !== undefined,
    needsKey: auth !== undefined && !authServer,
    isPrivate: isPrivate && !auth,
  };
}

function placesOf(options: ServeCommandOptions, hasPrincipals: boolean): HttpAccess['places'] {
  const { sse, ssePath, messagePath, healthPath, operator } = options;
  if (operator && !hasPrincipals) {
    throw usageError(
      '--operator names a caller, but callers are not authenticated',
      'Add --api-key NAME=KEY, --bearer-file or --auth-server; isthmus status shows everything without',
    );
  }
  const isElsewhere = ssePath !== undefined || messagePath !== undefined;
  if (isElsewhere && !sse) {
    throw usageError(
      '--no-sse cannot be combined with --sse-path or --message-path',
      'Leave one of the two out',
    );
  }
  const connect = readConnectOptions(options);
  return {
    ...(!sse && { sse: false as const }),
    ...(isElsewhere && { sse: { path: ssePath ?? '/sse', messagePath: messagePath ?? '/message' } }),
    ...(healthPath && { healthPaths: healthPath }),
    ...(operator && { operators: operator.map(toPrincipal) }),
    ...(connect && { connect }),
    ...mirrorOf(options),
  };
}

function mirrorOf({ mirrorAuthServer, authServer = [] }: ServeCommandOptions): HttpAccess['places'] {
  if (!mirrorAuthServer) return {};
  const [issuer, ...others] = authServer;
  if (issuer !== undefined && others.length === 0) return { mirrorAuthServer: issuer };
  throw usageError(
    '--mirror-auth-server needs one authorization server',
    'Add --auth-server URL once, or leave --mirror-auth-server out',
  );
}

/** A name without a prefix is the name of a key. */
export function toPrincipal(caller: string): string {
  return /^(key|jwt):/.test(caller) ? caller : `key:${caller}`;
}

function corsOf({ allowOrigin, allowHeader }: ServeCommandOptions): Pick<HttpEndpointOptions, 'cors'> {
  if (!allowOrigin) {
    if (!allowHeader) return {};
    throw usageError(
      '--allow-header is for web pages of other sites, and none is allowed',
      'Add --allow-origin ORIGIN',
    );
  }
  const origins = allowOrigin.includes('*') ? '*' : allowOrigin;
  return { cors: { origins, ...(allowHeader && { headers: allowHeader }) } };
}

function eventsOf({
  resumableEvents: maxEvents,
}: ServeCommandOptions): Pick<HttpEndpointOptions, 'eventStore'> {
  if (maxEvents === undefined) return {};
  return { eventStore: maxEvents > 0 && (({ who }) => memoryEventStore({ maxEvents, who })) };
}

function refuseOpenAddresses(addresses: readonly string[], asksWho: boolean): void {
  // Keys and tokens are headers, which only HTTP has.
  const open = addresses.find(
    (address) =>
      REACHABLE.test(address) && !isOnThisMachine(address) && !(asksWho && address.startsWith('http')),
  );
  if (open === undefined) return;
  throw usageError(
    `refusing to serve ${open} without authentication: other machines can reach it`,
    open.startsWith('http')
      ? 'Add --api-key, --bearer-file or --auth-server; or --allow-unauthenticated if only trusted clients can reach it'
      : 'Keys and tokens are for HTTP; add --allow-unauthenticated if only trusted clients can reach it',
  );
}

/** Addresses that other machines may reach. Invalid addresses are refused when they are opened. */
const REACHABLE = /^(http|tcp):\/\//;

/** Only users of this machine can reach the address. */
function isOnThisMachine(address: string): boolean {
  if (address === 'stdio' || address.startsWith('unix:')) return true;
  const host = address.startsWith('http://') ? httpAddress(address).host : hostOf(address);
  return host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'));
}

function hostOf(address: string): string {
  return /^tcp:\/\/(\[[^\]]+\]|[^:/]+)/.exec(address)?.[1]?.replace(/^\[|\]$/g, '') ?? '';
}
