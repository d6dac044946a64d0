import type { Bridge } from '@isthmus/sdk/internal/bridge/create-bridge.js';
import { type Upstream, upstreamAt } from '@isthmus/sdk/internal/client/connect.js';
import type { EraCache } from '@isthmus/sdk/internal/client/negotiation/era-cache.js';
import { given, type UrlSpec } from '@isthmus/sdk/internal/config/server-spec.js';
import { ByPrincipal } from '@isthmus/sdk/internal/exchange/by-principal.js';
import type { Service } from '@isthmus/sdk/internal/exchange/call.js';
import type { Tap } from '@isthmus/sdk/internal/exchange/tap.js';
import { upstreamOptionsOf } from '@isthmus/sdk/internal/host/host-upstream.js';
import { connectorOfSpec } from '@isthmus/sdk/internal/host/spec-connector.js';
import type { HttpAuth } from '@isthmus/sdk/internal/transport/http-client/options.js';

/** The logins of the callers for one remote server: each principal has its own token there. */
export interface PersonalLogins {
  /** The login for the requests of one principal. Undefined: of the gateway itself, which has none. */
  authFor(principal: string | undefined): HttpAuth;
  /** Puts around the bridge to the server what the callers need. */
  around(bridge: Bridge): Service;
  /** Who has a login, and who needs one: the most recent callers. */
  status(): Promise<readonly PersonalLoginStatus[]>;
}

/** The login of one principal for one server, without secrets. */
export interface PersonalLoginStatus {
  readonly principal: string;
  readonly state: 'valid' | 'needs-login' | 'failed';
  readonly reason?: string | undefined;
}

/** How many principals a status shows. */
export const MAX_SHOWN = 100;

/** A remote server with a connector for each principal: the requests of two principals share neither tokens nor sockets. */
export function principalUpstream(
  spec: UrlSpec,
  logins: PersonalLogins,
  { cache, tap }: { readonly cache?: EraCache | false | undefined; readonly tap?: Tap | undefined },
): Upstream {
  const options = { ...upstreamOptionsOf(spec), ...given({ cache }) };
  const openFor = (principal: string | undefined): Upstream => {
    const forPrincipal = () => logins.authFor(principal);
    const connector = connectorOfSpec(spec, { label: spec.name, logins: forPrincipal, tap });
    return upstreamAt(connector, options);
  };
  const upstreams = new ByPrincipal<{ upstream?: Upstream }>(() => ({}));
  return {
    label: spec.name,
    serves: 'one',
    // An exchanged token is there only while its caller is.
    place: spec.auth?.mode === 'per-user' ? spec.url : undefined,
    open(session) {
      const kept = upstreams.of(session.principal);
      kept.upstream ??= openFor(session.principal);
      return kept.upstream.open(session);
    },
  };
}
