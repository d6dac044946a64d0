import type { Service } from '@isthmus/sdk/internal/exchange/call.js';

/** What a stage does differently from the service inside it. A member that is undefined stays as it is inside. */
export type ServiceChanges = {
  readonly [Name in
    | 'handle'
    | 'ready'
    | 'listen'
    | 'notify'
    | 'session'
    | 'capabilities'
    | 'instructionsFor']?: Service[Name] | undefined;
};

/**
 * A service that differs from `inner` in `changes` only. All else is read from `inner` each time, because a bridge
 * learns what its upstream can do after it was made. Optional members that `inner` does not have stay undefined.
 *
 * What no stage changes is read from the service inside all of them, and a member that a stage leaves alone is that of
 * the stage inside: each stage in between would cost several calls of functions for each call of a client.
 */
export function deriveService(inner: Service, changes: ServiceChanges): Service {
  const known = innermost.get(inner);
  const base = known ?? inner;
  const { handle, ready, listen, notify, session, instructionsFor } = known ? inner : boundOf(inner);
  // The same members in the same order for every stage, so that the engine sees one shape on the path of each call.
  const service: { [Name in keyof Service]: Service[Name] | undefined } = {
    get info() {
      return base.info;
    },
    get instructions() {
      return base.instructions;
    },
    instructionsFor: changes.instructionsFor ?? instructionsFor,
    get discoveryCache() {
      return base.discoveryCache;
    },
    capabilities: changes.capabilities ?? (known ? inner.capabilities : () => base.capabilities()),
    watch: (onChange) => base.watch(onChange),
    handle: changes.handle ?? handle,
    headerParams: base.headerParams && ((tool, principal) => base.headerParams!(tool, principal)),
    ready: changes.ready ?? ready,
    listen: changes.listen ?? listen,
    watchTasks: base.watchTasks && ((peer, ids, onChange) => base.watchTasks!(peer, ids, onChange)),
    serving: base.serving && (() => base.serving!()),
    notify: changes.notify ?? notify,
    session: changes.session ?? session,
  };
  innermost.set(service as Service, base);
  return service as Service;
}

/** The service inside all stages, for each stage. */
const innermost = new WeakMap<Service, Service>();

/** The members that a stage can change, for use without `this`. */
function boundOf(
  inner: Service,
): Pick<Service, 'handle' | 'ready' | 'listen' | 'notify' | 'session' | 'instructionsFor'> {
  const { ready, listen, notify, session, instructionsFor } = inner;
  return {
    handle: (call) => inner.handle(call),
    ...(instructionsFor && { instructionsFor: (peer) => inner.instructionsFor!(peer) }),
    ...(ready && { ready: (opening, principal) => inner.ready!(opening, principal) }),
    ...(listen && { listen: (peer, wanted, onChange) => inner.listen!(peer, wanted, onChange) }),
    ...(notify && { notify: (notification, peer) => inner.notify!(notification, peer) }),
    ...(session && { session: (served) => inner.session!(served) }),
  };
}
