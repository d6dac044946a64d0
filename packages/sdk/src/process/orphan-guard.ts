import { killTreesNow } from './process-tree.js';

/**
 * No child outlives us. Whatever still lives when our process exits (at the end of the program, by
 * `process.exit`, by an uncaught exception, by a signal that nobody handles) is killed then and there, with all
 * that it started. The returned function ends the watch; only while children live do we listen at all.
 *
 * Nobody can act on SIGKILL, nor after a crash of Node itself. Then the remedy is in the child: its stdin is
 * closed by the system when we die, and the protocol tells it to exit on that. For children that do not heed it
 * there are the death watch and the ledger.
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
 * A signal that nobody handles ends a process without 'exit'. Children are not in our process group, so Ctrl-C
 * in a terminal does not reach them either.
 */
const DEADLY_SIGNALS: readonly NodeJS.Signals[] =
  process.platform === 'win32' ? ['SIGINT'] : ['SIGINT', 'SIGTERM', 'SIGHUP'];

function listen(): void {
  process.on('exit', killAll);
  // In front, see below.
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
 * A listener takes away the deadly effect of its signal, so it is given back. Where the application listens too
 * it decides what happens, and as long as it does, it must not find us among the listeners: libraries such as
 * `signal-exit` look for company and do nothing when they have some.
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
