import type { ServedSession } from '@isthmus/sdk/internal/exchange/call.js';

/** The same session, whose client is told of changes by `changed`. */
export function deriveSession(inner: ServedSession, changed: ServedSession['changed']): ServedSession {
  return {
    peer: inner.peer,
    isReachable: () => inner.isReachable(),
    log: (entry) => inner.log(entry),
    ask: (request, signal) => inner.ask(request, signal),
    changed,
    notify: (notification) => inner.notify(notification),
    elicited: (elicitationId) => inner.elicited(elicitationId),
    end: () => inner.end(),
  };
}
