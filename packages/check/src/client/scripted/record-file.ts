import { existsSync, readFileSync } from 'node:fs';
import type { Entry } from '../model.js';

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
