import { randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { IsthmusError } from '@isthmus/sdk/internal/errors.js';
import { preparePrivateFolder } from '../control/private-socket.js';
import { type DaemonPaths, daemonPaths } from './daemon-paths.js';

/** The places, with their folders made and found to be private. Throws where somebody else could put things there. */
export function openPaths(places: DaemonPaths = daemonPaths()): DaemonPaths {
  if (process.platform === 'win32') {
    // Below the profile of the user, which others cannot read; modes mean nothing there.
    mkdirSync(places.folder, { recursive: true });
    return { ...places, socket: pipeOf(places) };
  }
  for (const folder of new Set([places.folder, dirname(places.socket)])) {
    const problem = preparePrivateFolder(folder);
    if (problem === undefined) continue;
    const hint = 'ISTHMUS_RUNTIME_DIR names another folder';
    throw new IsthmusError('ADDRESS_UNAVAILABLE', `There is no place for the daemon: ${problem}; ${hint}`);
  }
  return places;
}

/** All pipes of a machine are in one folder, where anybody may be first to take a name that can be guessed. */
function pipeOf({ folder, tag }: DaemonPaths): string {
  const file = join(folder, `${tag}.pipe`);
  try {
    writeFileSync(file, randomBytes(16).toString('hex'), { mode: 0o600, flag: 'wx' });
  } catch {
    // Somebody of this user was first.
  }
  return `\\\\.\\pipe\\isthmus-${readFileSync(file, 'utf8').trim()}`;
}
