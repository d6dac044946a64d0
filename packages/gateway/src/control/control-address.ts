import { homedir, tmpdir, userInfo } from 'node:os';
import { isAbsolute, join } from 'node:path';
import { IsthmusError } from '@isthmus/sdk/internal/errors.js';
import { defaultLedgerFolder } from '@isthmus/sdk/internal/process/ledger-files.js';
import { attemptPrivateFolder, type FolderFacts } from './private-folder.js';

/** What decides where control sockets are. */
export interface ControlAddress {
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly platform?: NodeJS.Platform;
  readonly home?: () => string;
  readonly tmp?: string;
  readonly uid?: number | undefined;
  /** How a folder is looked at. */
  readonly look?: (path: string) => FolderFacts | undefined;
}

/**
 * The folders in which sockets of this user may be, the best first: a gateway that a service manager started may not
 * know the one of the desktop. On Windows there is one, and its sockets are pipes.
 */
export function controlFolders(place: ControlAddress = {}): readonly string[] {
  const { env = process.env, platform = process.platform, home = homedir, tmp = tmpdir() } = place;
  if (platform === 'win32') return [PIPES];
  const given = env['ISTHMUS_RUNTIME_DIR'];
  const runtime = env['XDG_RUNTIME_DIR'];
  // A program that another one starts may not be told of XDG_STATE_HOME.
  const states = [env, {}].map((each) => defaultLedgerFolder(platform, each, home));
  const folders = [
    ...(given && isAbsolute(given) ? [given] : []),
    ...(runtime && isAbsolute(runtime) ? [join(runtime, 'isthmus')] : []),
    ...states.flatMap((state) => (state === undefined ? [] : [join(state, '..', 'run')])),
    join(tmp, `isthmus-${place.uid ?? process.getuid?.() ?? 0}`),
  ];
  return [...new Set(folders)];
}

/** The path for a socket of that name, in the first folder that can be had and is private. The folder is made. */
export function controlPath(name: string, place: ControlAddress = {}): string {
  if (!/^[\w.-]{1,64}$/.test(name) || name.startsWith('.')) {
    throw new IsthmusError('INVALID_OPTION', `"${name}" cannot be the name of a control socket`);
  }
  const { platform = process.platform } = place;
  if (platform === 'win32') return `${PIPES}${pipePrefix(place.env)}${name}`;
  const refusals: string[] = [];
  for (const folder of controlFolders(place)) {
    const path = join(folder, `${name}.sock`);
    if (Buffer.byteLength(path) > MAX_PATH_BYTES)
      refusals.push(`${folder}: the path of a socket would be too long`);
    else {
      const problem = attemptPrivateFolder(folder, place);
      if (problem === undefined) return path;
      refusals.push(problem);
    }
  }
  throw new IsthmusError(
    'ADDRESS_UNAVAILABLE',
    `There is no private folder for a control socket: ${refusals.join('; ')}`,
    {
      evidence: refusals,
    },
  );
}

/** All pipes of the machine are in one folder, so the user is a part of the name. */
export function pipePrefix(env: ControlAddress['env'] = process.env): string {
  const user = env['USERNAME'] || userInfo().username;
  return `isthmus-${user.replace(/[^\w-]/g, '_')}-`;
}

const PIPES = '\\\\.\\pipe\\';

/** `sun_path` without its final zero, on the system that has the shortest. */
const MAX_PATH_BYTES = 103;
