import { lstatSync, readdirSync } from 'node:fs';
import { homedir, tmpdir, userInfo } from 'node:os';
import { basename, isAbsolute, join } from 'node:path';
import { IsthmusError, messageOf } from '@isthmus/sdk/internal/errors.js';
import { defaultLedgerFolder } from '@isthmus/sdk/internal/process/ledger/ledger-files.js';
import { daemonSocket } from '../daemon/daemon-paths.js';
import type { GatewayStatus } from '../server-state.js';
import { controlClient } from './control-client.js';
import { isUnreachable } from './control-request.js';
import { type FolderCheckOptions, preparePrivateFolder, removeStaleSocket } from './private-socket.js';

/** What decides where control sockets are. Tests replace it. */
export interface ControlAddress extends FolderCheckOptions {
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly platform?: NodeJS.Platform;
  readonly home?: () => string;
  readonly tmp?: string;
}

/**
 * The folders in which sockets of this user may be, the preferred one first. There are several since a gateway that a
 * service manager starts may not know the runtime folder of the desktop. On Windows there is one, for pipes.
 */
export function controlFolders(address: ControlAddress = {}): readonly string[] {
  const { env = process.env, platform = process.platform, home = homedir, tmp = tmpdir() } = address;
  if (platform === 'win32') return [PIPES];
  const given = env['ISTHMUS_RUNTIME_DIR'];
  const runtime = env['XDG_RUNTIME_DIR'];
  // A program may be started without XDG_STATE_HOME.
  const states = [env, {}].map((each) => defaultLedgerFolder(platform, each, home));
  const folders = [
    ...(given && isAbsolute(given) ? [given] : []),
    ...(runtime && isAbsolute(runtime) ? [join(runtime, 'isthmus')] : []),
    ...states.flatMap((state) => (state === undefined ? [] : [join(state, '..', 'run')])),
    join(tmp, `isthmus-${address.uid ?? process.getuid?.() ?? 0}`),
  ];
  return [...new Set(folders)];
}

/** The path for a socket of that name, in the first folder that is private. Makes the folder. */
export function controlPath(name: string, address: ControlAddress = {}): string {
  if (!/^[\w.-]{1,64}$/.test(name) || name.startsWith('.')) {
    throw new IsthmusError('INVALID_OPTION', `"${name}" is not a valid name for a control socket`);
  }
  const { platform = process.platform } = address;
  if (platform === 'win32') return `${PIPES}${pipePrefix(address.env)}${name}`;
  const refusals: string[] = [];
  for (const folder of controlFolders(address)) {
    const path = join(folder, `${name}.sock`);
    if (Buffer.byteLength(path) > MAX_PATH_BYTES)
      refusals.push(`${folder}: the path of the socket is too long`);
    else {
      const problem = preparePrivateFolder(folder, address);
      if (problem === undefined) return path;
      refusals.push(problem);
    }
  }
  throw new IsthmusError(
    'ADDRESS_UNAVAILABLE',
    `No private folder for a control socket: ${refusals.join('; ')}`,
    { evidence: refusals },
  );
}

/** All users share one folder of pipes, so the name contains the user. */
function pipePrefix(env: ControlAddress['env'] = process.env): string {
  const user = env['USERNAME'] || userInfo().username;
  return `isthmus-${user.replace(/[^\w-]/g, '_')}-`;
}

const PIPES = '\\\\.\\pipe\\';

/** Of `sun_path` without its final zero, on macOS, where it is shortest. */
const MAX_PATH_BYTES = 103;

/** A control socket on which a process listens. `isDaemon`: it is the daemon of `isthmus attach`. */
export type FoundGateway = { readonly name: string; readonly path: string; readonly isDaemon: boolean } & (
  | { readonly status: GatewayStatus; readonly problem?: undefined }
  /** No status: another version, too busy, or not a gateway. */
  | { readonly status?: undefined; readonly problem: string }
);

export interface ListGatewaysOptions extends ControlAddress {
  /** Looks only in this folder. Default: the folders of this user, and the daemon. */
  readonly folder?: string;
  /** How long each gateway may take to answer. Default 2 s. */
  readonly askMs?: number;
}

/** The running gateways of this user and the daemon of `isthmus attach`, the longest running first. Removes the sockets of dead ones. */
export async function listGateways(options: ListGatewaysOptions = {}): Promise<FoundGateway[]> {
  const { askMs = 2000 } = options;
  const { folder } = options;
  const daemon = folder === undefined ? daemonSocket(options) : undefined;
  const folders = folder === undefined ? controlFolders(options) : [folder];
  const paths = new Set([...socketPaths(folders, options), ...(daemon === undefined ? [] : [daemon])]);
  const asked = await Promise.all([...paths].map((path) => askAt(path, path === daemon, askMs)));
  const found = asked.filter((each) => each !== undefined);
  return [
    ...found
      .filter(({ status }) => status)
      .sort((a, b) => (a.status!.startedAt < b.status!.startedAt ? -1 : 1)),
    ...found.filter(({ status }) => !status),
  ];
}

async function askAt(path: string, isDaemon: boolean, askMs: number): Promise<FoundGateway | undefined> {
  const name = basename(path).replace(/\.sock$/, '');
  try {
    return { name, path, isDaemon, status: await controlClient(path, { statusMs: askMs }).status() };
  } catch (error) {
    if (!isUnreachable(error)) return { name, path, isDaemon, problem: messageOf(error) };
    await removeStaleSocket(path).catch(() => {});
    const exists = process.platform !== 'win32' && lstatSync(path, { throwIfNoEntry: false }) !== undefined;
    return exists ? { name, path, isDaemon, problem: messageOf(error) } : undefined;
  }
}

function socketPaths(folders: readonly string[], address: ControlAddress): string[] {
  const isWindows = (address.platform ?? process.platform) === 'win32';
  const prefix = isWindows ? pipePrefix(address.env) : '';
  return folders.flatMap((folder) =>
    namesIn(folder)
      .filter((name) => (isWindows ? name.startsWith(prefix) : name.endsWith('.sock')))
      .map((name) => (isWindows ? `${folder}${name}` : join(folder, name)))
      .filter((path) => isWindows || lstatSync(path, { throwIfNoEntry: false })?.isSocket()),
  );
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder).sort().slice(0, MAX_SOCKETS);
  } catch {
    return [];
  }
}

const MAX_SOCKETS = 1000;
