import { createHash } from 'node:crypto';
import { homedir, hostname } from 'node:os';
import { isAbsolute, join } from 'node:path';
import { IsthmusError } from '@isthmus/sdk/internal/errors.js';

/** Where the daemon of this user is found. */
export interface DaemonPaths {
  /** Private to the user: what is in it is trusted. */
  readonly folder: string;
  /** The socket, in a folder that is as private. On Windows the name of the pipe is in the folder: see `openPlaces`. */
  readonly socket: string;
  readonly log: string;
  /** Tells apart machines that share a home. */
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
 * The same for every program of the user, however little of the environment its host hands on: nothing counts but
 * the home, and `ISTHMUS_RUNTIME_DIR` for those who want another daemon.
 */
export function daemonPaths(around: DaemonSurroundings = {}): DaemonPaths {
  const { env = process.env, platform = process.platform, home = homedir } = around;
  const given = env['ISTHMUS_RUNTIME_DIR'];
  if (given && !isAbsolute(given) && platform !== 'win32') {
    throw new IsthmusError('INVALID_OPTION', `ISTHMUS_RUNTIME_DIR must be an absolute path, and is ${given}`);
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

/** The path of a socket has little room; where it does not fit, a folder of the user's own below /tmp has to do. */
function socketFolder(folder: string, name: string, uid: number | undefined): string {
  if (Buffer.byteLength(join(folder, `${name}.sock`)) <= MAX_PATH_BYTES) return folder;
  return `/tmp/isthmus-${uid ?? 0}-${short(folder)}`;
}

function short(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 8);
}

/** Daemons and shims that do not understand each other do not meet. */
const PROTOCOL = 2;
/** `sun_path` without its final zero, on the system that has the shortest. */
const MAX_PATH_BYTES = 103;
