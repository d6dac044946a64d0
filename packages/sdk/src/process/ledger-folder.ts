import {
  chmodSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';

/** The folder in which every host has one file. No failure here is worth more than doing without. */
export interface LedgerFolder {
  /** Replaces a file as a whole: whoever reads it sees the old one or the new one. */
  write(name: string, text: string): void;
  remove(name: string): void;
  list(): readonly LedgerFile[];
}

export interface LedgerFile {
  readonly name: string;
  readonly changedAt: number;
  /** Undefined when it is too large for one of ours, or no file at all. */
  readonly text: string | undefined;
}

export function openLedgerFolder(path: string): LedgerFolder {
  let made = false;
  const make = () => {
    if (made) return;
    mkdirSync(path, { recursive: true, mode: 0o700 });
    // Fails in a folder of somebody else's, and there we do not write.
    chmodSync(path, 0o700);
    made = true;
  };
  return {
    write: (name, text) =>
      attempt(() => {
        make();
        const draft = join(path, `${name}.draft`);
        // The draft may be left from a write that failed half way, with the mode of that time.
        rmSync(draft, { force: true });
        writeFileSync(draft, text, { mode: 0o600, flag: 'wx' });
        renameSync(draft, join(path, name));
      }),
    remove: (name) => attempt(() => rmSync(join(path, name), { force: true })),
    list: () => attempt(() => readdirSync(path).slice(0, MAX_FILES).flatMap(look)) ?? [],
  };

  function look(name: string): LedgerFile[] {
    const file = join(path, name);
    // It may be gone by now: another host cleans up as well.
    const facts = attempt(() => lstatSync(file));
    if (!facts || facts.isDirectory()) return [];
    const readable = facts.isFile() && facts.size <= MAX_FILE_BYTES;
    const text = readable ? attempt(() => readFileSync(file, 'utf8')) : undefined;
    return [{ name, changedAt: facts.mtimeMs, text }];
  }
}

/** Where state belongs that matters only to this machine. Undefined for a user without a home. */
export function defaultLedgerFolder(
  platform: NodeJS.Platform = process.platform,
  env: Readonly<Record<string, string | undefined>> = process.env,
  home: () => string = homedir,
): string | undefined {
  const base = attempt(() => {
    if (platform === 'win32') return env['LOCALAPPDATA'] || join(home(), 'AppData', 'Local');
    if (platform === 'darwin') return join(home(), 'Library', 'Application Support');
    const state = env['XDG_STATE_HOME'];
    // The specification of these folders wants relative ones to be ignored.
    return state && isAbsolute(state) ? state : join(home(), '.local', 'state');
  });
  const absolute = base !== undefined && (platform === 'win32' || isAbsolute(base));
  return absolute ? join(base, 'isthmus', 'processes') : undefined;
}

const MAX_FILES = 10_000;
const MAX_FILE_BYTES = 4 * 1024 * 1024;

function attempt<T>(action: () => T): T | undefined {
  try {
    return action();
  } catch {
    return undefined;
  }
}
