import { killTreesNow } from './process-tree.js';

/**
 * Kills a child, with all that it started, when our process exits: at the end of the program, by `process.exit`, by an
 * uncaught exception, or by a signal without a handler. The returned function removes the guard. There are listeners
 * only while there are guarded children.
 *
 * A process cannot act on SIGKILL, nor after a crash of Node. Then the system closes the child's stdin, and the protocol
 * says that it has to exit. For children that do not, there are the death watch and the ledger.
 */
export function guardAgainstOrphaning(pid: number): () => void {
  if (living.size === 0) listen();
  const entry = { pid };
  living.add(entry);
  return () => {
    if (living.delete(entry) && living.size === 0) stopListening();
  };
}

const living = new Set<{ readonly pid: number }>();

/**
 * A signal without a handler ends a process without 'exit'. Children are not in our process group, so Ctrl-C in a
 * terminal does not reach them either.
 */
const DEADLY_SIGNALS: readonly NodeJS.Signals[] =
  process.platform === 'win32' ? ['SIGINT'] : ['SIGINT', 'SIGTERM', 'SIGHUP'];

function listen(): void {
  process.on('exit', killAll);
  // First in the list; `onSignal` gives the reason.
  for (const signal of DEADLY_SIGNALS) process.prependListener(signal, onSignal);
}

function stopListening(): void {
  process.off('exit', killAll);
  for (const signal of DEADLY_SIGNALS) process.off(signal, onSignal);
}

function killAll(): void {
  killTreesNow([...living].map(({ pid }) => pid));
}

/**
 * A listener disables the default effect of its signal, so the signal is sent again. If the application listens as well,
 * it decides what happens. While its listeners run, this one must not be in the list: libraries such as `signal-exit` do
 * nothing when there are other listeners.
 */
function onSignal(signal: NodeJS.Signals): void {
  process.off(signal, onSignal);
  if (process.listenerCount(signal) === 0) {
    killAll();
    process.kill(process.pid, signal);
    return;
  }
  setImmediate(() => {
    if (living.size > 0 && !process.listeners(signal).includes(onSignal)) {
      process.prependListener(signal, onSignal);
    }
  });
}
