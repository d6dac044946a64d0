import { randomBytes } from 'node:crypto';
import { lstatSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { homedir, hostname } from 'node:os';
import { dirname, isAbsolute, join } from 'node:path';
import { IsthmusError } from '@isthmus/sdk/internal/errors.js';
import { sha256 } from '@isthmus/sdk/internal/wire/sha256.js';
import { preparePrivateFolder } from '../control/private-socket.js';

/** The paths of the daemon of this user. */
export interface DaemonPaths {
  /** Private to the user. Its files are trusted. */
  readonly folder: string;
  /** In a private folder, too. On Windows a file of the folder has the name of the pipe: see `openPaths`. */
  readonly socket: string;
  readonly log: string;
  /** Begins the names of all files. Machines that share a home have different tags. */
  readonly tag: string;
}

export interface DaemonSurroundings {
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly platform?: NodeJS.Platform;
  readonly home?: () => string;
  readonly uid?: number | undefined;
  readonly host?: string;
}

/**
 * The same for every program of the user, even when its host passes on only a few variables: the paths depend on the home
 * alone, and on `ISTHMUS_RUNTIME_DIR` for users who want another daemon.
 */
export function daemonPaths(around: DaemonSurroundings = {}): DaemonPaths {
  const { env = process.env, platform = process.platform, home = homedir } = around;
  const given = env['ISTHMUS_RUNTIME_DIR'];
  if (given && !isAbsolute(given) && platform !== 'win32') {
    throw new IsthmusError('INVALID_OPTION', `ISTHMUS_RUNTIME_DIR must be an absolute path; it is ${given}`);
  }
  const folder = given || defaultFolder(platform, home(), env);
  const tag = short(around.host ?? hostname());
  const name = `daemon-${PROTOCOL}-${tag}`;
  return {
    folder,
    socket: join(socketFolder(folder, name, around.uid ?? process.getuid?.()), `${name}.sock`),
    log: join(folder, `${name}.log`),
    tag: name,
  };
}

/** Makes the folders. Throws when another user could write to one of them. */
export function openPaths(paths: DaemonPaths = daemonPaths()): DaemonPaths {
  if (process.platform === 'win32') {
    // The folder is below the user's profile, which others cannot read.
    mkdirSync(paths.folder, { recursive: true });
    return { ...paths, socket: pipeOf(paths) };
  }
  for (const folder of new Set([paths.folder, dirname(paths.socket)])) {
    const problem = preparePrivateFolder(folder);
    if (problem === undefined) continue;
    const hint = 'set ISTHMUS_RUNTIME_DIR to another folder';
    throw new IsthmusError('ADDRESS_UNAVAILABLE', `The daemon has no private folder: ${problem}; ${hint}`);
  }
  return paths;
}

/** The socket of the daemon, if there is one. Makes nothing. */
export function daemonSocket(around: DaemonSurroundings = {}): string | undefined {
  try {
    const paths = daemonPaths(around);
    const { platform = process.platform } = around;
    if (platform === 'win32') return pipeNamed(readFileSync(pipeFile(paths), 'utf8'));
    return lstatSync(paths.socket).isSocket() ? paths.socket : undefined;
  } catch {
    return undefined;
  }
}

/** All users share one folder of pipes. Another user could take a name that can be guessed. */
function pipeOf(paths: DaemonPaths): string {
  const file = pipeFile(paths);
  try {
    writeFileSync(file, randomBytes(16).toString('hex'), { mode: 0o600, flag: 'wx' });
  } catch {
    // Another process of this user has made the file.
  }
  return pipeNamed(readFileSync(file, 'utf8'));
}

function pipeFile({ folder, tag }: DaemonPaths): string {
  return join(folder, `${tag}.pipe`);
}

function pipeNamed(text: string): string {
  return `\\\\.\\pipe\\isthmus-${text.trim()}`;
}

function defaultFolder(
  platform: NodeJS.Platform,
  home: string,
  env: NonNullable<DaemonSurroundings['env']>,
): string {
  if (platform === 'win32')
    return join(env['LOCALAPPDATA'] || join(home, 'AppData', 'Local'), 'isthmus', 'daemon');
  if (platform === 'darwin') return join(home, 'Library', 'Application Support', 'isthmus', 'daemon');
  return join(home, '.local', 'state', 'isthmus', 'daemon');
}

/** The path of a socket must be short. Where it does not fit, the socket is in a folder of the user below /tmp. */
function socketFolder(folder: string, name: string, uid: number | undefined): string {
  if (Buffer.byteLength(join(folder, `${name}.sock`)) <= MAX_PATH_BYTES) return folder;
  return `/tmp/isthmus-${uid ?? 0}-${short(folder)}`;
}

function short(text: string): string {
  return sha256(text).slice(0, 8);
}

/** A part of the names, so that daemons and shims of different protocols do not meet. */
const PROTOCOL = 2;
/** Of `sun_path` without its final zero, on macOS, where it is shortest. */
const MAX_PATH_BYTES = 103;
