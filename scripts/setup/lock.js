import { mkdir, readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { progress, SetupError } from './main.js';

const beatMs = 1_000;
const silentAfterMs = 15_000;
const patienceMs = 600_000;

/**
 * Runs `work` while no other process runs work with the same `path`.
 *
 * The lock is a file whose owner touches it every second. It is free again when its owner has deleted it,
 * is known to be dead, or has been silent for 15 seconds (another host or container: no pid to ask).
 */
export async function withLock(path, work) {
  await mkdir(dirname(path), { recursive: true });
  await acquire(path);
  const beat = setInterval(() => touch(path), beatMs);
  try {
    return await work();
  } finally {
    clearInterval(beat);
    await rm(path, { force: true });
  }
}

async function acquire(path) {
  const me = JSON.stringify({ host: hostname(), pid: process.pid });
  const deadline = Date.now() + patienceMs;
  let told = false;
  while (!(await create(path, me))) {
    const abandoned = await findAbandoned(path);
    if (abandoned !== undefined) {
      await remove(path, abandoned);
      continue;
    }
    if (Date.now() > deadline) {
      throw new SetupError(
        `Another run has held ${path} for ten minutes. If there is none, delete that file.`,
      );
    }
    if (!told) progress('waiting for another run to finish its set-up');
    told = true;
    await sleep(100);
  }
}

async function create(path, content) {
  try {
    await writeFile(path, content, { flag: 'wx' });
    return true;
  } catch (error) {
    if (error.code === 'EEXIST') return false;
    throw error;
  }
}

/** The content of a lock whose owner is gone, or undefined when it is held or has just been released. */
async function findAbandoned(path) {
  try {
    const content = await readFile(path, 'utf8');
    const { mtimeMs } = await stat(path);
    if (Date.now() - mtimeMs > silentAfterMs) return content;
    // Empty: created a moment ago, not yet written.
    const owner = content === '' ? undefined : JSON.parse(content);
    return owner?.host === hostname() && !isAlive(owner.pid) ? content : undefined;
  } catch (error) {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  }
}

/** Removes an abandoned lock. Two processes may try: one that has moved a fresh lock puts it back. */
async function remove(path, expected) {
  const aside = `${path}.${process.pid}`;
  try {
    await rename(path, aside);
    const moved = await readFile(aside, 'utf8');
    if (moved !== expected) await rename(aside, path);
    else await rm(aside, { force: true });
  } catch (error) {
    if (error.code !== 'ENOENT') throw error;
  }
}

function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === 'EPERM';
  }
}

function touch(path) {
  const now = new Date();
  utimes(path, now, now).catch(() => {});
}
