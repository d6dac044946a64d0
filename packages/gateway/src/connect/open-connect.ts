import type { Clock } from '@isthmus/sdk/internal/async/clock.js';
import { httpAddress } from '@isthmus/sdk/internal/transport/address.js';
import type { GatewayOptions } from '../gateway.js';
import { publicBase } from '../http/resource-at.js';
import { isHttp } from '../served-places.js';
import { ConnectPages } from './connect-pages.js';
import { ConnectRouter } from './connect-router.js';
import { proveIdentity } from './prove-identity.js';
import { type LoginsOfCallers, loginsOfCallers } from './sealed-logins.js';

/** How callers log in to servers, each with an account of its own. */
export interface OpenConnect {
  readonly pages: ConnectPages;
  readonly logins: LoginsOfCallers;
  readonly router: ConnectRouter;
}

/**
 * Callers can log in themselves where they are authenticated. Undefined: they are not. `address` is the first address of the
 * gateway, which is known when it listens.
 */
export function openConnect(
  options: Pick<GatewayOptions, 'addresses' | 'endpoint' | 'connect' | 'cluster' | 'audit'>,
  clock: Clock,
  address: () => string,
): OpenConnect | undefined {
  const { endpoint, connect = {}, cluster, audit } = options;
  if (!endpoint?.authenticate) return undefined;
  const { authenticate } = endpoint;
  const identity = connect.identity && proveIdentity(connect.identity, { authenticate, clock });
  const mainPaths = options.addresses.filter(isHttp).map((each) => httpAddress(each).path);
  const known = connect.publicUrl ?? publicBase(endpoint, mainPaths);
  const base = () => known ?? new URL(address()).origin;
  const member = cluster && (() => cluster.members.self);
  const pages = new ConnectPages({ clock, base: () => base().replace(/\/$/, ''), identity, member, audit });
  return {
    pages,
    logins: loginsOfCallers(connect.store, cluster),
    router: new ConnectRouter(pages, cluster),
  };
}
