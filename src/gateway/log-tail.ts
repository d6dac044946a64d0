import type { HostEvent } from '../host/host-event.js';
import { createHostLines } from './host-lines.js';
import { type Follower, followLines } from './log-follower.js';

/** One line of what a server, or the gateway about it, had to say. */
export interface LogLine {
  readonly server: string;
  /** Milliseconds since 1970. */
  readonly at: number;
  /** Its stderr, its log notifications, or what happened to its process. */
  readonly source: 'stderr' | 'log' | 'gateway';
  readonly text: string;
  readonly level?: string | undefined;
  readonly pid?: number | undefined;
  readonly generation?: number | undefined;
  /** How many lines before this one were left out, because they came faster than they were taken. */
  readonly missed?: number;
}

/** The last lines of every server, in a memory that does not grow. */
export interface LogTail {
  add(line: LogLine): void;
  /** What a host reports, as lines: stderr, logs, and what happened to the process. */
  onHostEvent(event: HostEvent): void;
  /** The last lines of a server, or of all; with `follow` also those that come, until the signal. */
  read(
    server: string | undefined,
    options: { readonly lines: number; readonly follow: boolean },
    signal: AbortSignal,
  ): AsyncIterable<LogLine>;
  /** The server is gone for good, and its lines with it. */
  forget(server: string): void;
}

export interface LogTailOptions {
  /** Kept for each server. Default 1000. */
  readonly maxLines?: number;
  /** Longer lines are cut. Default 4096 characters. */
  readonly maxLineLength?: number;
  /** Takes secrets out of a line. */
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
    // Twice as many at most, so that dropping them is cheap.
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

/** A line, and which one it was of all. */
interface Numbered {
  readonly at: number;
  readonly line: LogLine;
}

async function* once(lines: readonly LogLine[]): AsyncGenerator<LogLine> {
  yield* lines;
}
