import { readFileSync } from 'node:fs';
import { mkdir, opendir, rename, stat, unlink, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';
import { type Clock, systemClock } from '../../async/clock.js';
import { sha256 } from '../../wire/sha256.js';

/** The era of a server, and when it was determined (milliseconds since 1970). */
export interface CachedEra {
  readonly era: 'legacy' | 'modern';
  readonly revision: string;
  readonly at: number;
}

/**
 * Remembers the eras of servers. It is only a hint: no method rejects, and an entry that cannot be read counts as
 * unknown.
 */
export interface EraCache {
  get(key: string): Promise<CachedEra | undefined>;
  set(key: string, verdict: CachedEra): Promise<void>;
  delete(key: string): Promise<void>;
}

/** Where `fileEraCache` keeps its files, and for how long. */
export interface EraCacheOptions {
  /** The folder of the files. Default: in the system's folder for caches. */
  readonly folder?: string;
  /** How long an entry is valid. Default: 7 days. */
  readonly ttlMs?: number;
  readonly clock?: Clock;
}

/**
 * Keeps entries in files, one for each server, private to the user. A key may hold secrets (a command line often does),
 * so only its hash is written. Any number of processes may share the folder.
 */
export function fileEraCache(options: EraCacheOptions = {}): EraCache {
  const { folder = defaultFolder(), ttlMs = TTL_MS, clock = systemClock } = options;
  const isFresh = freshness(ttlMs, clock);
  let sets = 0;
  let hasSwept = false;
  if (folder === undefined) return memoryEraCache(options);

  const read = async (file: string): Promise<CachedEra | undefined> => {
    let verdict: CachedEra | undefined;
    try {
      // At once: the first answer of a bridge waits for it, and node:fs/promises would have to be loaded for it.
      verdict = decodeEntry(readFileSync(file, 'utf8'));
    } catch (error) {
      if (isAbsence(error)) return undefined;
    }
    if (verdict !== undefined && isFresh(verdict)) return verdict;
    // Another process may have replaced it since it was read. Then one probe is repeated.
    await remove(file);
    return undefined;
  };

  return {
    get(key) {
      // Once per process: without new entries `set` is not called, and nothing else would clean up. Not before the first
      // answer, which would wait for it.
      if (!hasSwept)
        clock.after(SWEEP_AFTER_MS, () => void removeDrafts(folder, clock), { background: true });
      hasSwept = true;
      return read(join(folder, fileName(key)));
    },
    async set(key, verdict) {
      const name = fileName(key);
      if (await replace(folder, name, encodeEntry(verdict))) {
        if (sets % SETS_PER_PRUNE === 0) await pruneExpired(folder, name, clock, read);
        sets += 1;
      }
    },
    delete: (key) => remove(join(folder, fileName(key))),
  };
}

/** Keeps entries in memory, for a bounded number of servers. */
export function memoryEraCache(options: Omit<EraCacheOptions, 'folder'> = {}): EraCache {
  const isFresh = freshness(options.ttlMs ?? TTL_MS, options.clock ?? systemClock);
  const verdicts = new Map<string, CachedEra>();
  return {
    async get(key) {
      const verdict = verdicts.get(key);
      if (verdict === undefined || isFresh(verdict)) return verdict;
      verdicts.delete(key);
      return undefined;
    },
    async set(key, { era, revision, at }) {
      verdicts.delete(key);
      verdicts.set(key, { era, revision, at });
      for (const oldest of verdicts.keys()) {
        if (verdicts.size <= MAX_IN_MEMORY) break;
        verdicts.delete(oldest);
      }
    },
    async delete(key) {
      verdicts.delete(key);
    },
  };
}

/** An entry from the future is invalid as well: the clock was set back, and it would never expire. */
function freshness(ttlMs: number, clock: Clock): (verdict: CachedEra) => boolean {
  return ({ at }) => Math.abs(clock.now() - at) < ttlMs;
}

function defaultFolder(): string | undefined {
  try {
    return join(cacheHome(), 'isthmus', 'eras');
  } catch {
    // A user without a home, as in some containers.
    return undefined;
  }
}

function cacheHome(): string {
  const { LOCALAPPDATA, XDG_CACHE_HOME } = process.env;
  if (process.platform === 'win32') return LOCALAPPDATA || join(homedir(), 'AppData', 'Local');
  if (process.platform === 'darwin') return join(homedir(), 'Library', 'Caches');
  // XDG Base Directory Specification, "Basics": ignore relative paths.
  if (XDG_CACHE_HOME && isAbsolute(XDG_CACHE_HOME)) return XDG_CACHE_HOME;
  return join(homedir(), '.cache');
}

function fileName(key: string): string {
  return `${sha256(key)}.json`;
}

function encodeEntry({ era, revision, at }: CachedEra): string {
  return `${JSON.stringify({ format: FORMAT, era, revision, at })}\n`;
}

/** Undefined for anything that this version would not have written. */
function decodeEntry(text: string): CachedEra | undefined {
  if (text.length > MAX_ENTRY_CHARS) return undefined;
  const { format, era, revision, at } = Object(JSON.parse(text)) as Record<string, unknown>;
  if (format !== FORMAT || (era !== 'legacy' && era !== 'modern')) return undefined;
  if (typeof revision !== 'string' || revision === '' || !Number.isFinite(at)) return undefined;
  return { era, revision, at: at as number };
}

/** Replaces a file atomically. False when that failed. */
async function replace(folder: string, name: string, text: string): Promise<boolean> {
  // No other process writes this draft. If one did, `wx` would fail, and there would be one entry less.
  const draft = join(folder, `${name}.${process.pid}-${Math.random().toString(36).slice(2)}${DRAFT}`);
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await writeFile(draft, text, { flag: 'wx', mode: 0o600 });
    await rename(draft, join(folder, name));
    return true;
  } catch {
    // The disk is full, the folder is read-only, or on Windows: another process reads the file at this moment.
    await remove(draft);
    return false;
  }
}

/** Reads a few files, from a random start so that all have their turn. `read` removes expired ones. */
async function pruneExpired(
  folder: string,
  justWritten: string,
  clock: Clock,
  read: (file: string) => Promise<unknown>,
): Promise<void> {
  const names = (await list(folder)).filter((name) => name !== justWritten);
  const start = Math.floor(Math.random() * names.length);
  for (const name of [...names.slice(start), ...names.slice(0, start)].slice(0, MAX_PRUNED)) {
    const file = join(folder, name);
    if (ENTRY_NAME.test(name)) await read(file);
  }
  await removeDrafts(folder, clock);
}

/** Removes drafts of processes that were killed between write and rename. */
async function removeDrafts(folder: string, clock: Clock): Promise<void> {
  for (const name of await list(folder)) {
    const file = join(folder, name);
    if (name.endsWith(DRAFT) && (await ageOf(file, clock)) > DRAFT_TTL_MS) await remove(file);
  }
}

async function list(folder: string): Promise<string[]> {
  const names: string[] = [];
  try {
    for await (const entry of await opendir(folder)) {
      if (names.push(entry.name) >= MAX_LISTED) break;
    }
  } catch {
    // The folder is gone. The names so far are enough.
  }
  return names;
}

async function ageOf(file: string, clock: Clock): Promise<number> {
  try {
    return clock.now() - (await stat(file)).mtimeMs;
  } catch {
    return 0;
  }
}

async function remove(file: string): Promise<void> {
  try {
    await unlink(file);
  } catch {
    // It does not exist, or belongs to another user.
  }
}

function isAbsence(error: unknown): boolean {
  const code = (error as NodeJS.ErrnoException).code;
  return code === 'ENOENT' || code === 'ENOTDIR';
}

const DAY_MS = 24 * 60 * 60 * 1000;
const TTL_MS = 7 * DAY_MS;
/** Changes whenever an older version would misread an entry. */
const FORMAT = 1;
const MAX_ENTRY_CHARS = 1024;
const MAX_IN_MEMORY = 1000;
const ENTRY_NAME = /^[0-9a-f]{64}\.json$/;
const DRAFT = '.tmp';
/** A draft exists for milliseconds, unless its process was killed between write and rename. */
const DRAFT_TTL_MS = 10 * 60 * 1000;
const SWEEP_AFTER_MS = 200;
const SETS_PER_PRUNE = 32;
const MAX_PRUNED = 32;
const MAX_LISTED = 1024;
