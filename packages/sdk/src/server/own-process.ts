import { isatty } from 'node:tty';
import { announceDeparture, type Departure } from '../async/departure.js';

/** What ends with the process. */
export interface Owned {
  readonly closed: Promise<void>;
  close(options?: Pick<Departure, 'graceMs' | 'abortMs'>): Promise<void>;
}

/**
 * Ties a process to its server: a signal closes the server within the times of `departure`, a second one does not
 * wait, and the end of the server is the end of the process even while timers or pools of user code would keep it
 * alive (LIFE-003).
 */
export function ownProcess(served: Owned, departure: Departure, onHangUp?: () => void): void {
  onSignals({
    departure,
    begin: () => void served.close(departure),
    ...(onHangUp && { onHangUp }),
  });
  void served.closed.then(() => {
    // One turn later, so that whoever awaits `closed` still runs.
    setImmediate(() => process.exit());
  });
}

export interface SignalPlan {
  readonly departure: Departure;
  /** Begins the end. Once. */
  begin(): void;
  /** SIGHUP of an operator: reads configuration again. Without it the signal is ignored. */
  onHangUp?(): void;
}

/**
 * SIGTERM and SIGINT begin the end, and the process is gone when the times of the departure are over; a second one
 * exits at once. SIGHUP ends nothing but a program whose terminal is gone: that one ends as by SIGTERM.
 */
export function onSignals({ departure, begin, onHangUp }: SignalPlan): void {
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
  for (const signal of SIGNALS) process.on(signal, leave);
  process.on('SIGHUP', () => {
    // On Windows it says that the console is closed, and the system ends us soon after.
    if (process.platform !== 'win32' && !isTerminalGone()) return onHangUp?.();
    // One loss of a terminal may be told twice, by the system and by the shell.
    if (!isLeaving) leave('SIGHUP');
  });
}

const SIGNALS: readonly NodeJS.Signals[] = ['SIGTERM', 'SIGINT'];
const SIGNAL_EXIT: Partial<Record<NodeJS.Signals, number>> = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 };

/**
 * SIGHUP has two meanings: "read your configuration again" from an operator, and "your terminal is gone" from the
 * system. Remembers which of our streams are terminals; the returned function says whether one of them is gone. What
 * never had a terminal (a service, a child of a host, a program under `nohup`) never loses one.
 */
function watchTerminal(): () => boolean {
  const terminals = [0, 1, 2].filter((descriptor) => isatty(descriptor));
  // The system takes the terminal away before it sends the signal, and then the descriptor is not a terminal any more.
  return () => terminals.some((descriptor) => !isatty(descriptor));
}
