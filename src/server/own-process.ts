/**
 * Ties a process to its server: a signal closes the server, a second one does not wait, and the end of the
 * server is the end of the process even while timers or pools of user code would keep it alive (LIFE-003).
 */
export function ownProcess(served: { readonly closed: Promise<void>; close(): Promise<void> }): void {
  const onSignal = (signal: NodeJS.Signals) => {
    if (closing) process.exit(SIGNAL_EXIT[signal] ?? 1);
    closing = true;
    void served.close();
  };
  let closing = false;
  for (const signal of SIGNALS) process.on(signal, onSignal);
  void served.closed.then(() => {
    // One turn later, so that whoever awaits `closed` still runs.
    setImmediate(() => process.exit());
  });
}

const SIGNALS: readonly NodeJS.Signals[] = ['SIGTERM', 'SIGINT'];
const SIGNAL_EXIT: Partial<Record<NodeJS.Signals, number>> = { SIGINT: 130, SIGTERM: 143 };
