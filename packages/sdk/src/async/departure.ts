/**
 * How this process ends after a signal, in milliseconds after it. A host that has sent SIGTERM sends SIGKILL soon
 * after, and then nothing here runs any more: the end has to come before that, whatever handlers, peers and child
 * processes do.
 */
export interface Departure {
  /** Calls may finish until then; the others are aborted. */
  readonly graceMs: number;
  /** How long aborted calls may take for an answer, after `graceMs`. */
  readonly abortMs: number;
  /** How long a child process has after the end of its input, and again after SIGTERM, where that comes sooner. */
  readonly stepMs: number;
  /** Child processes that still live get SIGTERM. */
  readonly termMs: number;
  /** And SIGKILL. */
  readonly killMs: number;
  /** The process exits, whatever is still open. */
  readonly exitMs: number;
}

/**
 * A server on stdio has less time than hosts give it: the official ones send SIGKILL 2 s after SIGTERM, and 1 s after it
 * to a process that they only started to probe. A network listener has 5 s by default, and more where the operator has set a grace.
 */
export function planDeparture(at: {
  readonly isStdio: boolean;
  readonly graceMs?: number | undefined;
}): Departure {
  if (at.isStdio) return { graceMs: 500, abortMs: 100, stepMs: 400, termMs: 750, killMs: 950, exitMs: 1350 };
  const { graceMs = NETWORK_GRACE_MS } = at;
  return {
    graceMs,
    abortMs: 150,
    stepMs: Number.POSITIVE_INFINITY,
    termMs: graceMs + 800,
    killMs: graceMs + 1400,
    exitMs: graceMs + 1800,
  };
}

const NETWORK_GRACE_MS = 2500;

/** This process ends: tells all that have something to end with it. The first word counts. */
export function announceDeparture(departure: Departure): void {
  if (announced) return;
  announced = { departure, at: performance.now() };
  for (const listener of [...listeners]) listener(departure);
}

/** Calls back when the process is about to end, also when it already is. The returned function ends that. */
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
