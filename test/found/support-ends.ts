import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { fixture } from '../support/child.js';

/** A file in which a fixture notes what it was told. */
export function notesFile(): { readonly file: string; read(): string[] } {
  const folder = mkdtempSync(join(tmpdir(), 'isthmus-notes-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, 'notes');
  return {
    file,
    read() {
      try {
        return readFileSync(file, 'utf8').split('\n').filter(Boolean);
      } catch {
        return [];
      }
    },
  };
}

/** The command line of a server that never answers `wait`, and that no word makes go. */
export function staying(file: string, ...words: string[]): string[] {
  return [process.execPath, fixture('server-that-stays.mjs'), file, ...words];
}

/**
 * Measures in milliseconds, without what a busy machine takes: a process that gets no time on a processor cannot be
 * blamed for it, and we get none at the same time.
 */
export function stopwatch(): () => number {
  const began = performance.now();
  let before = began;
  let stolen = 0;
  const timer = setInterval(() => {
    const now = performance.now();
    stolen += Math.max(0, now - before - STEP_MS);
    before = now;
  }, STEP_MS);
  return () => {
    clearInterval(timer);
    return performance.now() - began - stolen;
  };
}

const STEP_MS = 5;
