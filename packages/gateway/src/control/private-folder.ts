import { chmodSync, lstatSync, mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { messageOf } from '@isthmus/sdk/internal/errors.js';

/** What is known of a folder before anything is put into it. */
export interface FolderFacts {
  readonly isFolder: boolean;
  readonly uid: number;
  readonly mode: number;
}

export interface FolderJudge {
  readonly uid?: number | undefined;
  readonly look?: (path: string) => FolderFacts | undefined;
}

/**
 * Makes the folder when it is not there, for its owner alone (0700). Says why it cannot be used: whoever may write
 * into it could put a socket of their own in the place of ours.
 */
export function attemptPrivateFolder(folder: string, judge: FolderJudge = {}): string | undefined {
  const { look = lookAt, uid = process.getuid?.() } = judge;
  try {
    // Does nothing, and does not fail, where there is one.
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const problem = judgeFolder(folder, look(folder), look(dirname(folder)), uid);
    // One of our making from an earlier time, and others may look into it. Any other is its owner's to judge.
    const isOurs = /(^|\/)isthmus(-\d+|\/run)?$/.test(folder);
    if (problem === undefined && isOurs && (look(folder)!.mode & 0o077) !== 0) chmodSync(folder, 0o700);
    return problem;
  } catch (error) {
    return `${folder} cannot be used: ${messageOf(error)}`;
  }
}

/** Why a socket in this folder would not be private. Pure; a folder that others may read is no reason. */
export function judgeFolder(
  folder: string,
  facts: FolderFacts | undefined,
  around: FolderFacts | undefined,
  uid: number | undefined,
): string | undefined {
  if (!facts) return `${folder} is not there`;
  // A link may lead anywhere, and later somewhere else.
  if (!facts.isFolder) return `${folder} is no folder`;
  if (uid !== undefined && facts.uid !== uid) return `${folder} belongs to somebody else (user ${facts.uid})`;
  if ((facts.mode & 0o022) !== 0) {
    return `${folder} can be written to by others (mode ${(facts.mode & 0o777).toString(8).padStart(4, '0')})`;
  }
  if (around && (around.mode & 0o002) !== 0 && (around.mode & STICKY) === 0) {
    return `${folder} could be replaced by others: ${dirname(folder)} can be written to by anybody`;
  }
  return undefined;
}

const STICKY = 0o1000;

export function lookAt(path: string): FolderFacts | undefined {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  return stats && { isFolder: stats.isDirectory(), uid: stats.uid, mode: stats.mode };
}
