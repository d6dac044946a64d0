import { closeSync, copyFileSync, fstatSync, ftruncateSync, openSync, readSync, writeSync } from 'node:fs';

/** What a daemon has to say goes to its stderr, which is a file that never grows past its bound. */
export interface DaemonLog {
  say(line: string): void;
}

/** `file`: where `descriptor` leads, when it is a file of ours; its older half is kept beside it. */
export function daemonLog(descriptor: number, file: string | undefined, maxBytes = MAX_BYTES): DaemonLog {
  return {
    say(line) {
      try {
        if (file !== undefined && fstatSync(descriptor).size > maxBytes) {
          copyFileSync(file, `${file}.1`);
          // It is opened for appending, so what comes next is at its beginning.
          ftruncateSync(descriptor);
        }
        writeSync(descriptor, `${new Date().toISOString()} ${line.replace(/[\r\n]+/g, ' ')}\n`);
      } catch {
        // A full disk must not cost anybody their servers.
      }
    },
  };
}

/** Opens the log for a daemon to be started, and tells where it ends now. */
export function openLog(file: string): { readonly descriptor: number; readonly end: number } {
  const descriptor = openSync(file, 'a', 0o600);
  return { descriptor, end: fstatSync(descriptor).size };
}

/** The last of what was written behind `from`. */
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
