import { chmod, mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { delimiter, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Entry } from '../model.js';
import { browse } from '../scripted/browse.js';
import type { Recorder } from '../scripted/record.js';

/** The browser that a client finds during a run. */
export interface RecordingBrowser {
  /** For clients in this process. */
  readonly open: (url: string) => Promise<void>;
  /** For clients that are commands. */
  readonly env: Readonly<Record<string, string>>;
}

const PROGRAM = fileURLToPath(new URL('../scripted/browser-program.js', import.meta.url));

/** The commands that clients open pages with, on Linux and macOS. */
const COMMANDS = ['xdg-open', 'open', 'gio', 'sensible-browser', 'x-www-browser', 'www-browser', 'wslview'];

/**
 * Puts programs in the place of the browser, so that pages open without a person. Windows has no such place: there a client
 * has to open the page itself.
 */
export async function prepareBrowser(
  folder: string,
  file: string,
  record: Recorder,
): Promise<RecordingBrowser> {
  const open = (url: string) => browse(url, record);
  if (process.platform === 'win32') return { open, env: {} };
  const programs = join(folder, 'browser');
  await mkdir(programs);
  const words = [process.execPath, PROGRAM, file].map((word) => `'${word.replaceAll("'", `'\\''`)}'`);
  for (const name of COMMANDS) {
    const path = join(programs, name);
    await writeFile(path, `#!/bin/sh\nexec ${words.join(' ')} "$@"\n`);
    await chmod(path, 0o755);
  }
  return {
    open,
    env: {
      BROWSER: join(programs, 'xdg-open'),
      PATH: [programs, process.env['PATH'] ?? ''].join(delimiter),
      // Without a display, some clients would not try. With a session over SSH, some would ask for the address instead.
      DISPLAY: process.env['DISPLAY'] ?? ':0',
      SSH_CONNECTION: '',
      SSH_TTY: '',
      SSH_CLIENT: '',
    },
  };
}

/** The files in a folder that have one of the tokens. */
export async function findStored(
  folder: string,
  tokens: readonly string[],
): Promise<Omit<Extract<Entry, { kind: 'stored' }>, 'at'>[]> {
  if (tokens.length === 0 || process.platform === 'win32') return [];
  const names = await readdir(folder, { recursive: true, withFileTypes: true });
  const found: Omit<Extract<Entry, { kind: 'stored' }>, 'at'>[] = [];
  for (const entry of names.filter((each) => each.isFile())) {
    const path = join(entry.parentPath ?? entry.path, entry.name);
    const file = relative(folder, path);
    if (file === RECORD) continue;
    const { mode, size } = await stat(path);
    if (size > LARGEST) continue;
    const text = await readFile(path, 'utf8');
    if (tokens.some((token) => text.includes(token))) {
      found.push({ kind: 'stored', life: 0, file, mode: mode & 0o777 });
    }
  }
  return found;
}

/** What the check itself writes. */
export const RECORD = 'record.jsonl';
const LARGEST = 4 * 1024 * 1024;
