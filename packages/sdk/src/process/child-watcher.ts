import { events } from '../events.js';

/** Somebody who wants to know which processes are ours. Both calls are short, and their failures cost nothing. */
export interface ChildWatcher {
  /** Called in the very turn in which the process was started, so that there is no moment in which nobody knows it. */
  started(pid: number): void;
  /** Nothing is left of the process and of its group: from now on the number may be somebody else's. */
  ended(pid: number): void;
}

/** Tells all watchers of a start, and by the returned function, once, of the end. */
export function tellWatchers(watchers: readonly ChildWatcher[], pid: number): () => void {
  let over = false;
  for (const watcher of watchers) attempt('started', () => watcher.started(pid));
  return () => {
    if (over) return;
    over = true;
    for (const watcher of watchers) attempt('ended', () => watcher.ended(pid));
  };
}

function attempt(method: string, action: () => void): void {
  try {
    action();
  } catch (error) {
    if (events.handlerFailed.hasSubscribers) events.handlerFailed.publish({ method, error });
  }
}
