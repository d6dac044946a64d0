/**
 * Those who ask in one turn share one run. So do those who ask while one is under way: they get the next, which sees what
 * has happened until they asked. So there is one run at a time, however many ask. `work` must not reject.
 */
export function shareRuns<T>(work: () => Promise<T>): () => Promise<T> {
  let next: Promise<T> | undefined;
  let running: Promise<unknown> = Promise.resolve();
  return () => {
    next ??= running.then(() => {
      next = undefined;
      const run = work();
      running = run;
      return run;
    });
    return next;
  };
}
