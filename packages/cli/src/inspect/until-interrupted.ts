/** Settles with the first SIGINT or SIGTERM. The second one ends the process at once. */
export function untilInterrupted(): Promise<'SIGINT' | 'SIGTERM'> {
  return new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => resolve(signal));
  });
}
