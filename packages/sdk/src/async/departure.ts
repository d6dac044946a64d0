/**
 * How this process ends after a signal; times are milliseconds after the signal. A host that has sent SIGTERM sends
 * SIGKILL soon after. The process must have ended before that, whatever handlers, peers and child processes do.
 */
export interface Departure {
  /** Calls may finish until then; calls that still run are aborted. */
  readonly graceMs: number;
  /** How long aborted calls may take to answer, counted from `graceMs`. */
  readonly abortMs: number;
  /** How long a child process has after the end of its input, and again after SIGTERM, if that is sooner. */
  readonly stepMs: number;
  /** Child processes that still run get SIGTERM. */
  readonly termMs: number;
  /** Child processes that still run get SIGKILL. */
  readonly killMs: number;
  /** The process exits, whatever is still open. */
  readonly exitMs: number;
}

/**
 * On stdio the plan takes less time than hosts give: the official hosts send SIGKILL 2 s after SIGTERM, and 1 s after it
 * to a process that they only probe. A network listener has 5 s by default, and more if the operator set a grace.
 */
export function planDeparture(at: {
  readonly isStdio: boolean;
  readonly graceMs?: number | undefined;
  /** How long the process goes on as before, until others serve in its place. */
  readonly drainMs?: number | undefined;
}): Departure {
  if (at.isStdio) return { graceMs: 500, abortMs: 100, stepMs: 400, termMs: 750, killMs: 950, exitMs: 1350 };
  const { graceMs = NETWORK_GRACE_MS, drainMs = 0 } = at;
  const total = drainMs + graceMs;
  return {
    graceMs,
    abortMs: 150,
    stepMs: Number.POSITIVE_INFINITY,
    termMs: total + 800,
    killMs: total + 1400,
    exitMs: total + 1800,
  };
}

const NETWORK_GRACE_MS = 2500;

/** Tells all listeners that this process is about to end. Only the first announcement counts. */
export function announceDeparture(departure: Departure): void {
  if (announced) return;
  announced = { departure, at: performance.now() };
  for (const listener of [...listeners]) listener(departure);
}

/** Calls back when the process is about to end, at once if it already is. The returned function unsubscribes. */
export function onDeparture(listener: (departure: Departure) => void): () => void {
  listeners.add(listener);
  if (announced) listener(remaining(announced));
  return () => listeners.delete(listener);
}

const listeners = new Set<(departure: Departure) => void>();
let announced: { readonly departure: Departure; readonly at: number } | undefined;

function remaining({ departure, at }: NonNullable<typeof announced>): Departure {
  const passed = performance.now() - at;
  const left = (ms: number) => Math.max(0, ms - passed);
  return {
    graceMs: left(departure.graceMs),
    abortMs: departure.abortMs,
    stepMs: departure.stepMs,
    termMs: left(departure.termMs),
    killMs: left(departure.killMs),
    exitMs: left(departure.exitMs),
  };
}
