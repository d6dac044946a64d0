import { existsSync, readFileSync } from 'node:fs';
import type { Entry } from '../model.js';

type WithoutTime<T> = T extends unknown ? Omit<T, 'at'> : never;

/** Where a scripted server writes down what it sees. */
export type Recorder = (entry: WithoutTime<Entry>) => void;

/** Long texts are cut: a huge frame is not needed twice. The client's own words are kept, up to a limit. */
export function createRecorder(keep: (entry: Entry) => void, now: () => number = Date.now): Recorder {
  return (entry) => {
    const timed = { ...entry, at: now() } as Entry;
    keep(timed.kind === 'out' ? { ...timed, text: shorten(timed.text) } : timed);
  };
}

const KEPT = 20_000;

/** What is long because of a text in it stays a message, without that text. */
function shorten(text: string): string {
  if (text.length <= KEPT) return text;
  try {
    const cut = (_: string, value: unknown) =>
      typeof value === 'string' && value.length > LONG ? `${value.slice(0, LONG)}…` : value;
    return `${JSON.stringify(JSON.parse(text, cut))}\n`;
  } catch {
    return `${text.slice(0, KEPT)}…`;
  }
}

const LONG = 200;

/** What scripted servers have written so far. A line that is half written is left for the next look. */
export function readRecord(file: string): Entry[] {
  if (!existsSync(file)) return [];
  return readFileSync(file, 'utf8')
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as Entry);
}

/** The processes in a record that did not say goodbye. */
export function openLives(entries: readonly Entry[]): number[] {
  const gone = new Set(entries.filter(({ kind }) => kind === 'exit').map(({ life }) => life));
  return entries.flatMap(({ kind, life }) => (kind === 'started' && !gone.has(life) ? [life] : []));
}
