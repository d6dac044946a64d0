import { isatty } from 'node:tty';
import { announceDeparture, type Departure } from '../async/departure.js';

/** A server that ends with the process. */
export interface Owned {
  readonly closed: Promise<void>;
  close(options?: Pick<Departure, 'graceMs' | 'abortMs'>): Promise<void>;
}

/**
 * Ties the process to its server. A signal closes the server within the times of `departure`; a second signal exits at
 * once. When the server has ended, the process exits, even if timers or pools of user code would keep it alive
 * (LIFE-003).
 */
export function ownProcess(
  served: Owned,
  departure: Departure,
  onHangUp?: () => void,
  signals?: SignalSource,
): void {
  onSignals({
    departure,
    begin: () => void served.close(departure),
    ...(onHangUp && { onHangUp }),
    ...(signals && { signals }),
  });
  void served.closed.then(() => {
    // One turn later, so that code which awaits `closed` still runs.
    setImmediate(() => process.exit());
  });
}

interface SignalPlan {
  readonly departure: Departure;
  /** Begins to close. Called once. */
  begin(): void;
  /** SIGHUP of an operator: reload the configuration. Without it the signal is ignored. */
  onHangUp?(): void;
  /** Where the signals come from. Default: the process. */
  readonly signals?: SignalSource;
}

/** A worker gets its signals from its parent: those of a terminal reach both. */
export interface SignalSource {
  on(signal: NodeJS.Signals, listener: (signal: NodeJS.Signals) => void): unknown;
}

/**
 * SIGTERM and SIGINT begin to close, and the process exits when the times of the departure are over; a second signal
 * exits at once. SIGHUP closes only a program whose terminal is gone, like SIGTERM.
 */
export function onSignals({ departure, begin, onHangUp, signals = process }: SignalPlan): void {
  const isTerminalGone = watchTerminal();
  let isLeaving = false;
  const leave = (signal: NodeJS.Signals) => {
    const code = SIGNAL_EXIT[signal] ?? 1;
    if (isLeaving) process.exit(code);
    isLeaving = true;
    announceDeparture(departure);
    setTimeout(() => process.exit(code), departure.exitMs).unref();
    begin();
  };
  for (const signal of SIGNALS) signals.on(signal, leave);
  signals.on('SIGHUP', () => {
    // On Windows SIGHUP means that the console was closed; the system ends the process soon after.
    if (process.platform !== 'win32' && !isTerminalGone()) return onHangUp?.();
    // The loss of a terminal may be signalled twice, by the system and by the shell.
    if (!isLeaving) leave('SIGHUP');
  });
}

const SIGNALS: readonly NodeJS.Signals[] = ['SIGTERM', 'SIGINT'];
const SIGNAL_EXIT: Partial<Record<NodeJS.Signals, number>> = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 };

/**
 * SIGHUP has two meanings: "reload the configuration" from an operator, and "the terminal is gone" from the system.
 * Remembers which standard streams are terminals; the returned function says whether one of them is gone. A program that
 * never had a terminal (a service, a child of a host, under `nohup`) never loses one.
 */
export function watchTerminal(): () => boolean {
  const terminals = [0, 1, 2].filter((descriptor) => isatty(descriptor));
  // The system closes the terminal before it sends the signal; after that the descriptor is not a terminal any more.
  return () => terminals.some((descriptor) => !isatty(descriptor));
}
