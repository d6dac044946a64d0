import { chmodSync, lstatSync, mkdirSync, statSync, unlinkSync } from 'node:fs';
import { connect, type Server } from 'node:net';
import { dirname } from 'node:path';
import { IsthmusError, messageOf } from '@isthmus/sdk/internal/errors.js';
import { withPathLock } from './path-lock.js';
import { type FolderJudge, judgeFolder, lookAt } from './private-folder.js';

/**
 * Listens where nobody but this user can come, from the first moment on: the folder must be ours alone to write to,
 * and the socket is made with mode 0600. A socket that nobody listens on any more is replaced, a living one never.
 */
export async function listenPrivately(server: Server, path: string, judge: FolderJudge = {}): Promise<void> {
  // A pipe is its creator's, and the first instance of a name cannot be taken by a second one.
  if (process.platform === 'win32') return listen(server, path);
  const { look = lookAt, uid = process.getuid?.() } = judge;
  const folder = dirname(path);
  if (!look(folder)) mkdirSync(folder, { recursive: true, mode: 0o700 });
  const problem = judgeFolder(folder, look(folder), look(dirname(folder)), uid);
  if (problem !== undefined) throw unavailable(path, problem);
  await withPathLock(path, async () => {
    if ((await judgeSocket(path)) === 'living') throw unavailable(path, 'another process listens there');
    removeIfThere(path);
    await listenWithOwnerOnlyFiles(server, path);
  });
}

/** Removes a socket that nobody listens on any more. Anything else is left alone. */
export async function removeStaleSocket(path: string): Promise<void> {
  if (process.platform === 'win32') return;
  await withPathLock(path, async () => {
    if ((await judgeSocket(path)) === 'stale') removeIfThere(path);
  });
}

/**
 * Why a socket at this path should not be trusted; undefined where it is this user's own, or root's. Root trusts its
 * own alone: whoever owns a socket, or the folder that it is in, decides who answers.
 */
export function socketProblem(path: string, uid = process.getuid?.()): string | undefined {
  if (process.platform === 'win32' || uid === undefined) return undefined;
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (!stats) return 'no process listens there';
  if (!stats.isSocket()) return 'that is no socket';
  const owner = [stats, statSync(dirname(path))].find((each) => each.uid !== uid && each.uid !== 0)?.uid;
  if (owner === undefined) return undefined;
  const advice = uid === 0 ? `; run the command as that user: sudo -u '#${owner}' isthmus …` : '';
  return `it belongs to somebody else (user ${owner})${advice}`;
}

async function judgeSocket(path: string): Promise<'none' | 'stale' | 'living'> {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (!stats) return 'none';
  if (!stats.isSocket()) throw unavailable(path, 'the path exists and is not a socket');
  return (await isAnswering(path)) ? 'living' : 'stale';
}

function isAnswering(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = connect(path);
    probe.once('connect', () => {
      probe.destroy();
      resolve(true);
    });
    // Anything but a refusal may be a living process that is busy.
    probe.once('error', (error: NodeJS.ErrnoException) =>
      resolve(error.code !== 'ECONNREFUSED' && error.code !== 'ENOENT'),
    );
  });
}

/** The file is made by `listen` itself, and at once: its mode must be right before, not after. */
async function listenWithOwnerOnlyFiles(server: Server, path: string): Promise<void> {
  let before: number | undefined;
  try {
    before = process.umask(0o177);
  } catch {
    // A worker thread may not set it; there the folder has to do until the next line.
  }
  const listening = listen(server, path);
  if (before !== undefined) process.umask(before);
  await listening;
  chmodSync(path, 0o600);
}

function listen(server: Server, path: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const onError = (error: NodeJS.ErrnoException) =>
      reject(
        unavailable(
          path,
          error.code === 'EADDRINUSE' ? 'another process listens there' : messageOf(error),
          error,
        ),
      );
    server.once('error', onError);
    server.listen(path, () => {
      server.off('error', onError);
      resolve();
    });
  });
}

function removeIfThere(path: string): void {
  if (lstatSync(path, { throwIfNoEntry: false })) unlinkSync(path);
}

function unavailable(path: string, why: string, cause?: unknown): IsthmusError {
  return new IsthmusError('ADDRESS_UNAVAILABLE', `Cannot open the control socket ${path}: ${why}`, { cause });
}
