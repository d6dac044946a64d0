import type { HostEvent } from '@isthmus/sdk/internal/host/host-event.js';
import { StderrLines } from './telemetry/host-log.js';

/** One line of a server, or of the gateway about it. */
export interface LogLine {
  readonly server: string;
  /** Milliseconds since 1970. */
  readonly at: number;
  /** Its stderr, its log notifications, or an event of its process. */
  readonly source: 'stderr' | 'log' | 'gateway';
  readonly text: string;
  readonly level?: string | undefined;
  readonly pid?: number | undefined;
  readonly generation?: number | undefined;
  /** Of which process of a cluster it is, where lines of several are shown. */
  readonly replica?: string | undefined;
  /** How many lines before this one were dropped, because the reader was too slow. */
  readonly missed?: number;
}

/** The last lines of every server, in bounded memory. */
export interface LogTail {
  add(line: LogLine): void;
  /** Adds the lines of a host event: stderr, logs, and events of the process. */
  onHostEvent(event: HostEvent): void;
  /** The last lines of a server, or of all. With `follow` also the lines that come, until the signal is aborted. */
  read(
    server: string | undefined,
    options: { readonly lines: number; readonly follow: boolean },
    signal: AbortSignal,
  ): AsyncIterable<LogLine>;
  /** The server was removed: drops its lines. */
  forget(server: string): void;
}

export interface LogTailOptions {
  /** Kept for each server. Default 1000. */
  readonly maxLines?: number;
  /** Longer lines are cut. Default 4096 characters. */
  readonly maxLineLength?: number;
  /** Removes secrets from a line. */
  readonly clean?: (text: string) => string;
}

export function createLogTail(options: LogTailOptions = {}): LogTail {
  const { maxLines = 1000, maxLineLength = 4096, clean = (text) => text } = options;
  const rings = new Map<string, Numbered[]>();
  const hostLines = createHostLines();
  const followers = new Set<Follower>();
  let count = 0;

  function add(given: LogLine): void {
    const text = clean(given.text);
    const line = { ...given, text: text.length > maxLineLength ? `${text.slice(0, maxLineLength)}…` : text };
    const ring = rings.get(line.server) ?? [];
    rings.set(line.server, ring);
    count += 1;
    ring.push({ at: count, line });
    // Drops lines in bulk, because removing each one would cost more.
    if (ring.length >= 2 * maxLines) ring.splice(0, ring.length - maxLines);
    for (const follower of followers) follower.add(line);
  }

  function last(server: string | undefined, lines: number): LogLine[] {
    if (lines <= 0) return [];
    const found = server === undefined ? [...rings.values()] : [rings.get(server) ?? []];
    return found
      .flatMap((ring) => ring.slice(-Math.min(lines, maxLines)))
      .sort((a, b) => a.at - b.at)
      .slice(-lines)
      .map(({ line }) => line);
  }

  return {
    add,
    onHostEvent(event) {
      for (const line of hostLines(event)) add(line);
    },
    read: (server, { lines, follow }, signal) =>
      follow ? followLines(server, () => last(server, lines), followers, signal) : once(last(server, lines)),
    forget: (server) => void rings.delete(server),
  };
}

/** A line and its sequence number among the lines of all servers. */
interface Numbered {
  readonly at: number;
  readonly line: LogLine;
}

async function* once(lines: readonly LogLine[]): AsyncGenerator<LogLine> {
  yield* lines;
}

/** Receives every new line. */
export interface Follower {
  add(line: LogLine): void;
}

/**
 * The lines that are there, then those that come. A reader that is too slow misses the oldest lines and gets their number,
 * because a log must not slow down the servers or fill the memory.
 */
export async function* followLines(
  server: string | undefined,
  before: () => readonly LogLine[],
  followers: Set<Follower>,
  signal: AbortSignal,
): AsyncGenerator<LogLine> {
  let waiting: LogLine[] = [];
  let missed = 0;
  let wake = () => {};
  const follower: Follower = {
    add(line) {
      if (server !== undefined && line.server !== server) return;
      waiting.push(line);
      if (waiting.length >= 2 * MAX_WAITING) {
        missed += waiting.length - MAX_WAITING;
        waiting = waiting.slice(-MAX_WAITING);
      }
      wake();
    },
  };
  const onAbort = () => wake();
  signal.addEventListener('abort', onAbort);
  try {
    // Both without a pause in between, so that no line is lost or repeated.
    followers.add(follower);
    yield* before();
    while (!signal.aborted) {
      const line = waiting.shift();
      if (line) {
        const gap = missed;
        missed = 0;
        yield gap > 0 ? { ...line, missed: gap } : line;
      } else {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    }
  } finally {
    followers.delete(follower);
    signal.removeEventListener('abort', onAbort);
  }
}

const MAX_WAITING = 1000;

/** Makes lines of host events. An unfinished line of a process is kept until it ends. */
function createHostLines(): (event: HostEvent) => LogLine[] {
  const stderr = new StderrLines();
  return (event) => {
    const { server, at } = event;
    const { pid, generation } = event as { readonly pid?: number; readonly generation?: number };
    const line = (source: LogLine['source'], text: string, level?: string): LogLine => ({
      ...{ server, at, source, text },
      ...(level !== undefined && { level }),
      ...(pid !== undefined && { pid }),
      ...(generation !== undefined && { generation }),
    });
    const writer = `${server} ${generation} ${pid}`;
    if (event.kind === 'stderr') return stderr.add(writer, event.text).map((text) => line('stderr', text));
    if (event.kind === 'log') {
      const { level, logger, data } = event.entry;
      const text = typeof data === 'string' ? data : JSON.stringify(data);
      return [line('log', logger ? `${logger}: ${text}` : text, level)];
    }
    const last = event.kind === 'exit' ? stderr.end(writer).map((text) => line('stderr', text)) : [];
    const told = describe(event);
    return told ? [...last, line('gateway', told.text, told.level)] : last;
  };
}

/** The events of a process that a reader of its log needs. */
function describe(event: HostEvent): { readonly text: string; readonly level: string } | undefined {
  switch (event.kind) {
    case 'start':
      return { level: 'info', text: `process ${event.generation} is being started` };
    case 'ready':
      return {
        level: 'info',
        text: `ready after ${Math.round(event.ms)} ms; it speaks the ${event.era} era`,
      };
    case 'exit':
      return event.expected
        ? { level: 'info', text: 'the process exited (requested)' }
        : { level: 'error', text: event.reason };
    case 'restart':
      return {
        level: 'warning',
        text: `will be started again in ${Math.round(event.delayMs)} ms (attempt ${event.attempt})`,
      };
    case 'crash-loop':
      return {
        level: 'error',
        text: `ended ${event.attempts + 1} times in a row; it is not restarted automatically: ${event.reason}`,
      };
    case 'kill':
      return { level: 'warning', text: `the process had to be killed: ${event.why}` };
    case 'drain':
      return { level: 'info', text: `draining: ${event.why}` };
    default:
      return undefined;
  }
}
