import { closeSync, copyFileSync, fstatSync, ftruncateSync, openSync, readSync, writeSync } from 'node:fs';

/** The log of a daemon: its stderr, which is a file of bounded size. */
export interface DaemonLog {
  say(line: string): void;
}

/** `file` is the path of `descriptor` when the daemon owns the file. The older half is kept as `FILE.1`. */
export function daemonLog(descriptor: number, file: string | undefined, maxBytes = MAX_BYTES): DaemonLog {
  return {
    say(line) {
      try {
        if (file !== undefined && fstatSync(descriptor).size > maxBytes) {
          copyFileSync(file, `${file}.1`);
          // The file is open for appending, so the next line is its first.
          ftruncateSync(descriptor);
        }
        writeSync(descriptor, `${new Date().toISOString()} ${line.replace(/[\r\n]+/g, ' ')}\n`);
      } catch {
        // A full disk must not end the servers.
      }
    },
  };
}

/** Opens the log for a new daemon. `end` is its current size. */
export function openLog(file: string): { readonly descriptor: number; readonly end: number } {
  const descriptor = openSync(file, 'a', 0o600);
  return { descriptor, end: fstatSync(descriptor).size };
}

/** The last bytes that were written after `from`. */
export function readLogFrom(file: string, from: number): string {
  try {
    const descriptor = openSync(file, 'r');
    try {
      const { size } = fstatSync(descriptor);
      const start = Math.max(size < from ? 0 : from, size - TAIL_BYTES);
      const bytes = Buffer.alloc(Math.max(0, size - start));
      return bytes.subarray(0, readSync(descriptor, bytes, 0, bytes.length, start)).toString('utf8');
    } finally {
      closeSync(descriptor);
    }
  } catch {
    return '';
  }
}

const MAX_BYTES = 1024 * 1024;
const TAIL_BYTES = 4096;
