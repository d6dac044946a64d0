import type { Service } from '@isthmus/sdk/internal/exchange/call.js';

/** What a stage does differently from the service inside it. A member that is undefined stays as it is inside. */
export type ServiceChanges = {
  readonly [Name in 'handle' | 'ready' | 'listen' | 'session']?: Service[Name] | undefined;
};

/**
 * A service that differs from `inner` in `changes` only. All else is read from `inner` each time, because a bridge
 * learns what its upstream can do after it was made. Optional members that `inner` does not have stay undefined.
 */
export function deriveService(inner: Service, changes: ServiceChanges): Service {
  // The same members in the same order for every stage, so that the engine sees one shape on the path of each call.
  const service: { [Name in keyof Service]: Service[Name] | undefined } = {
    get info() {
      return inner.info;
    },
    get instructions() {
      return inner.instructions;
    },
    get discoveryCache() {
      return inner.discoveryCache;
    },
    capabilities: () => inner.capabilities(),
    watch: (onChange) => inner.watch(onChange),
    handle: changes.handle ?? ((call) => inner.handle(call)),
    headerParams: inner.headerParams && ((tool, principal) => inner.headerParams!(tool, principal)),
    ready: changes.ready ?? (inner.ready && ((opening, principal) => inner.ready!(opening, principal))),
    listen:
      changes.listen ?? (inner.listen && ((peer, wanted, onChange) => inner.listen!(peer, wanted, onChange))),
    session: changes.session ?? (inner.session && ((session) => inner.session!(session))),
  };
  return service as Service;
}
