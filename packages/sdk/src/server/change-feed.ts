import type { Change } from '../exchange/call.js';

/** Tells watchers what changed; many changes of one kind in one turn are told once. */
export interface ChangeFeed {
  publish(change: Change): void;
  watch(onChange: (change: Change) => void): () => void;
}

export function createChangeFeed(): ChangeFeed {
  const watchers = new Set<(change: Change) => void>();
  const due = new Map<string, Change>();

  function tell(): void {
    const changes = [...due.values()];
    due.clear();
    for (const change of changes) for (const watcher of [...watchers]) watcher(change);
  }

  return {
    publish(change) {
      if (watchers.size === 0) return;
      if (due.size === 0) queueMicrotask(tell);
      due.set(change.kind === 'resource' ? `resource ${change.uri}` : change.kind, change);
    },
    watch(onChange) {
      // A wrapper, so that the same function watching twice is two watchers.
      const watcher = (change: Change) => onChange(change);
      watchers.add(watcher);
      return () => watchers.delete(watcher);
    },
  };
}
