import { chmodSync, lstatSync, mkdirSync, statSync, unlinkSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { connect, type Server } from 'node:net';
import { basename, dirname, join } from 'node:path';
import { IsthmusError, messageOf } from '@isthmus/sdk/internal/errors.js';
import { withPathLock } from './path-lock.js';

export interface FolderFacts {
  readonly isFolder: boolean;
  readonly uid: number;
  readonly mode: number;
}

export interface FolderCheckOptions {
  readonly uid?: number | undefined;
  /** Reads the facts of a folder. */
  readonly look?: (path: string) => FolderFacts | undefined;
}

/**
 * Makes the folder for its owner alone (0700) when it does not exist. Returns why the folder cannot be used: a user who may
 * write to it could replace our socket.
 */
export function preparePrivateFolder(folder: string, options: FolderCheckOptions = {}): string | undefined {
  const { look = lookAt, uid = process.getuid?.() } = options;
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const problem = folderProblem(folder, look(folder), look(dirname(folder)), uid);
    // An earlier version made this folder readable for others. The mode of any other folder is its owner's decision.
    const isOurs = /(^|\/)isthmus(-\d+|\/run)?$/.test(folder);
    if (problem === undefined && isOurs && (look(folder)!.mode & 0o077) !== 0) chmodSync(folder, 0o700);
    return problem;
  } catch (error) {
    return `${folder} cannot be used: ${messageOf(error)}`;
  }
}

/** Why a socket in this folder would not be private. Pure. A folder that others may only read is fine. */
export function folderProblem(
  folder: string,
  facts: FolderFacts | undefined,
  parent: FolderFacts | undefined,
  uid: number | undefined,
): string | undefined {
  if (!facts) return `${folder} does not exist`;
  // A symbolic link may lead to another folder later.
  if (!facts.isFolder) return `${folder} is not a folder`;
  if (uid !== undefined && facts.uid !== uid) return `${folder} belongs to another user (${facts.uid})`;
  if ((facts.mode & 0o022) !== 0) {
    return `${folder} can be written to by others (mode ${(facts.mode & 0o777).toString(8).padStart(4, '0')})`;
  }
  if (parent && (parent.mode & 0o002) !== 0 && (parent.mode & STICKY) === 0) {
    return `${folder} can be replaced by others: any user can write to ${dirname(folder)}`;
  }
  return undefined;
}

const STICKY = 0o1000;

function lookAt(path: string): FolderFacts | undefined {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  return stats && { isFolder: stats.isDirectory(), uid: stats.uid, mode: stats.mode };
}

/**
 * Listens so that only this user can ever connect: only this user can write to the folder, and the socket is made with
 * mode 0600. A socket without a listening process is replaced, a live one never.
 */
export async function listenPrivately(
  server: Server,
  path: string,
  options: FolderCheckOptions = {},
): Promise<void> {
  // A pipe belongs to its creator, and a second process cannot create the same name.
  if (process.platform === 'win32') return listen(server, path);
  const { look = lookAt, uid = process.getuid?.() } = options;
  const folder = dirname(path);
  if (!look(folder)) mkdirSync(folder, { recursive: true, mode: 0o700 });
  const problem = folderProblem(folder, look(folder), look(dirname(folder)), uid);
  if (problem !== undefined) throw unavailable(path, problem);
  await withPathLock(path, async () => {
    if ((await socketState(path)) === 'live') throw unavailable(path, 'another process listens there');
    removeIfPresent(path);
    await listenWithOwnerOnlyFiles(server, path);
  });
}

/** Removes a socket without a listening process. Anything else is left alone. */
export async function removeStaleSocket(path: string): Promise<void> {
  if (process.platform === 'win32') return;
  await withPathLock(path, async () => {
    if ((await socketState(path)) === 'stale') removeIfPresent(path);
  });
}

/**
 * Removes the sockets that killed gateways have left in the folder of `own`. The name of a gateway's socket has its
 * pid, so the next gateway does not reuse it.
 */
export async function sweepSockets(own: string): Promise<void> {
  if (process.platform === 'win32') return;
  const folder = dirname(own);
  const names = await readdir(folder).catch(() => []);
  const others = names.filter((name) => /^gateway-\d+\.sock$/.test(name) && name !== basename(own));
  for (const name of others.slice(0, MAX_SWEPT)) await removeStaleSocket(join(folder, name)).catch(() => {});
}

/** At each start. The next start removes more. */
const MAX_SWEPT = 100;

/**
 * Why a socket must not be trusted. Undefined when it belongs to this user or to root. Root trusts only its own: the
 * owner of a socket, or of its folder, decides which process answers.
 */
export function socketProblem(path: string, uid = process.getuid?.()): string | undefined {
  if (process.platform === 'win32' || uid === undefined) return undefined;
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (!stats) return 'no process listens there';
  if (!stats.isSocket()) return 'it is not a socket';
  const owner = [stats, statSync(dirname(path))].find((each) => each.uid !== uid && each.uid !== 0)?.uid;
  if (owner === undefined) return undefined;
  const advice = uid === 0 ? `; run the command as that user: sudo -u '#${owner}' isthmus …` : '';
  return `it belongs to another user (${owner})${advice}`;
}

async function socketState(path: string): Promise<'none' | 'stale' | 'live'> {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (!stats) return 'none';
  if (!stats.isSocket()) throw unavailable(path, 'the path exists and is not a socket');
  return (await isAnswering(path)) ? 'live' : 'stale';
}

function isAnswering(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = connect(path);
    probe.once('connect', () => {
      probe.destroy();
      resolve(true);
    });
    // Any other error may come from a live process that is busy.
    probe.once('error', (error: NodeJS.ErrnoException) =>
      resolve(error.code !== 'ECONNREFUSED' && error.code !== 'ENOENT'),
    );
  });
}

/** `listen` makes the file before it returns, so the umask must be right before. */
async function listenWithOwnerOnlyFiles(server: Server, path: string): Promise<void> {
  let before: number | undefined;
  try {
    before = process.umask(0o177);
  } catch {
    // A worker thread cannot set the umask. There the folder protects the socket until `chmod`.
  }
  const listening = listen(server, path);
  if (before !== undefined) process.umask(before);
  await listening;
  chmodSync(path, 0o600);
}

function listen(server: Server, path: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const onError = (error: NodeJS.ErrnoException) => {
      const why = error.code === 'EADDRINUSE' ? 'another process listens there' : messageOf(error);
      reject(unavailable(path, why, error));
    };
    server.once('error', onError);
    // Exclusive: a worker of several listens by itself, and not through their parent.
    server.listen({ path, exclusive: true }, () => {
      server.off('error', onError);
      resolve();
    });
  });
}

function removeIfPresent(path: string): void {
  if (lstatSync(path, { throwIfNoEntry: false })) unlinkSync(path);
}

function unavailable(path: string, why: string, cause?: unknown): IsthmusError {
  return new IsthmusError('ADDRESS_UNAVAILABLE', `Cannot open the control socket ${path}: ${why}`, { cause });
}
