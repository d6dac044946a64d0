import {
  chmodSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { homedir, hostname } from 'node:os';
import { isAbsolute, join } from 'node:path';
import { systemUnits } from '../proc-stat.js';
import { startTimeOf } from '../process-facts.js';

/** The folder with one file for each host. Failures are ignored: without it there is just no cleanup. */
export interface LedgerFolder {
  /** Replaces a file atomically: a reader sees the old one or the new one. */
  write(name: string, text: string): void;
  remove(name: string): void;
  list(): readonly LedgerFile[];
}

export interface LedgerFile {
  readonly name: string;
  readonly changedAt: number;
  /** Undefined when it is too large for a ledger file, or not a regular file. */
  readonly text: string | undefined;
}

export function openLedgerFolder(path: string): LedgerFolder {
  let made = false;
  const make = () => {
    if (made) return;
    mkdirSync(path, { recursive: true, mode: 0o700 });
    // Fails in a folder of another user. Then nothing is written.
    chmodSync(path, 0o700);
    made = true;
  };
  return {
    write: (name, text) =>
      attempt(() => {
        make();
        const draft = join(path, `${name}.draft`);
        // A draft may be left from an interrupted write, with another mode.
        rmSync(draft, { force: true });
        writeFileSync(draft, text, { mode: 0o600, flag: 'wx' });
        renameSync(draft, join(path, name));
      }),
    remove: (name) => attempt(() => rmSync(join(path, name), { force: true })),
    list: () => attempt(() => readdirSync(path).slice(0, MAX_FILES).flatMap(look)) ?? [],
  };

  function look(name: string): LedgerFile[] {
    const file = join(path, name);
    // It may be gone: other hosts clean up as well.
    const facts = attempt(() => lstatSync(file));
    if (!facts || facts.isDirectory()) return [];
    const readable = facts.isFile() && facts.size <= MAX_FILE_BYTES;
    const text = readable ? attempt(() => readFileSync(file, 'utf8')) : undefined;
    return [{ name, changedAt: facts.mtimeMs, text }];
  }
}

/** The folder for state of this machine. Undefined for a user without a home. */
export function defaultLedgerFolder(
  platform: NodeJS.Platform = process.platform,
  env: Readonly<Record<string, string | undefined>> = process.env,
  home: () => string = homedir,
): string | undefined {
  const base = attempt(() => {
    if (platform === 'win32') return env['LOCALAPPDATA'] || join(home(), 'AppData', 'Local');
    if (platform === 'darwin') return join(home(), 'Library', 'Application Support');
    const state = env['XDG_STATE_HOME'];
    // The XDG specification says to ignore relative paths.
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

/** The record of one host and its children. */
export interface LedgerRecord {
  readonly version: 1;
  /** Where its process numbers are valid: a machine, and on Linux a pid namespace, as containers have. */
  readonly place: string;
  /** Differs after every boot. Empty where that is not known. */
  readonly boot: string;
  readonly host: ProcessIdentity;
  readonly children: readonly ChildIdentity[];
}

/** A number alone is not enough, since the system reuses it. */
export interface ProcessIdentity {
  readonly pid: number;
  readonly start: string;
}

export interface ChildIdentity extends ProcessIdentity {
  /** When the child was last seen alive, in ticks since boot. Linux only. */
  readonly seen?: number;
}

/** The record of our own process, without children. Undefined where the system gives no start times. */
export function ownRecord(): LedgerRecord | undefined {
  const start = startTimeOf(process.pid);
  if (start === undefined) return undefined;
  const place = `${attempt(hostname) ?? ''} ${attempt(() => readlinkSync('/proc/self/ns/pid')) ?? ''}`.trim();
  const boot = attempt(() => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()) ?? '';
  return { version: 1, place, boot, host: { pid: process.pid, start }, children: [] };
}

/** Ticks since boot, the unit of start times. Undefined without /proc. */
export function ticksNow(): number | undefined {
  const seconds = Number.parseFloat(attempt(() => readFileSync('/proc/uptime', 'utf8')) ?? '');
  return Number.isFinite(seconds) ? Math.floor(seconds * systemUnits().ticksPerSecond) : undefined;
}

/** Undefined for anything but a valid record, since other programs may have written the file. */
export function parseRecord(text: string): LedgerRecord | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (!isObject(value) || value['version'] !== 1) return undefined;
  const { place, boot, host, children } = value;
  if (typeof place !== 'string' || typeof boot !== 'string' || !isIdentity(host)) return undefined;
  if (!Array.isArray(children) || !children.every(isChild)) return undefined;
  return { version: 1, place, boot, host, children };
}

function isChild(value: unknown): value is ChildIdentity {
  if (!isIdentity(value)) return false;
  const { seen } = value as { seen?: unknown };
  return seen === undefined || typeof seen === 'number';
}

/** 0 and 1 are refused: as groups they mean our own group and all processes. */
function isIdentity(value: unknown): value is ProcessIdentity {
  if (!isObject(value)) return false;
  const { pid, start } = value;
  return Number.isSafeInteger(pid) && (pid as number) > 1 && typeof start === 'string' && start !== '';
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
