import { existsSync, readFileSync } from 'node:fs';
import type { Entry } from '../model.js';

type WithoutTime<T> = T extends unknown ? Omit<T, 'at'> : never;

/** Records what a scripted server sees and does. */
export type Recorder = (entry: WithoutTime<Entry>) => void;

/** Long messages of the scripted server are shortened. Messages of the client are kept whole. */
export function createRecorder(keep: (entry: Entry) => void, now: () => number = Date.now): Recorder {
  return (entry) => {
    const timed = { ...entry, at: now() } as Entry;
    keep(timed.kind === 'out' ? { ...timed, text: shorten(timed.text) } : timed);
  };
}

const KEPT = 20_000;

/** Shortens the long strings in a message, so that it stays a message. */
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

/** The entries that scripted servers have written so far, without an unfinished last line. */
export function readRecord(file: string): Entry[] {
  if (!existsSync(file)) return [];
  return readFileSync(file, 'utf8')
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as Entry);
}

/** The processes in a record without an `exit` entry. */
export function openLives(entries: readonly Entry[]): number[] {
  const gone = new Set(entries.filter(({ kind }) => kind === 'exit').map(({ life }) => life));
  return entries.flatMap(({ kind, life }) => (kind === 'started' && !gone.has(life) ? [life] : []));
}
