import type { Cluster } from '../cluster/cluster.js';
import type { JsonObject } from '../wire/json-rpc.js';
import type { Change, Service } from './call.js';

/**
 * A service whose changes reach the clients of all members of a cluster. What changes is told, not what it is now: each
 * member has its own tools and resources, made by the same program.
 */
export function shareChanges(service: Service, { news }: Cluster, place: string): SharedService {
  const channel = `changes ${place}`;
  const watchers = new Set<Watcher>();
  const tell = (change: Change) => {
    for (const { onChange } of [...watchers]) onChange(change);
  };
  const stopOwn = service.watch((change) => {
    tell(change);
    const subject = change.kind === 'resource' ? `resource ${change.uri}` : change.kind;
    news.publish(channel, subject, { ...change });
  });
  const stopOthers = news.subscribe(
    channel,
    (received) => {
      const change = toChange(received);
      if (change) tell(change);
    },
    () => {
      for (const { onMissed } of [...watchers]) onMissed?.();
    },
  );
  return {
    get info() {
      return service.info;
    },
    get instructions() {
      return service.instructions;
    },
    get discoveryCache() {
      return service.discoveryCache;
    },
    capabilities: () => service.capabilities(),
    handle: (call) => service.handle(call),
    ...(service.instructionsFor && { instructionsFor: (peer) => service.instructionsFor!(peer) }),
    ...(service.headerParams && { headerParams: (...args) => service.headerParams!(...args) }),
    ...(service.ready && { ready: (...args) => service.ready!(...args) }),
    ...(service.listen && { listen: (...args) => service.listen!(...args) }),
    ...(service.notify && { notify: (...args) => service.notify!(...args) }),
    ...(service.watchTasks && { watchTasks: (...args) => service.watchTasks!(...args) }),
    ...(service.serving && { serving: () => service.serving!() }),
    ...(service.session && { session: (session) => service.session!(session) }),
    watch(onChange, onMissed) {
      const watcher = { onChange, onMissed };
      watchers.add(watcher);
      return () => watchers.delete(watcher);
    },
    stopSharing() {
      stopOwn();
      stopOthers();
    },
  };
}

export interface SharedService extends Service {
  stopSharing(): void;
}

interface Watcher {
  onChange(change: Change): void;
  readonly onMissed: (() => void) | undefined;
}

function toChange({ kind, uri }: JsonObject): Change | undefined {
  if (kind === 'tools' || kind === 'prompts' || kind === 'resources') return { kind };
  return kind === 'resource' && typeof uri === 'string' ? { kind, uri } : undefined;
}
