import { connect } from 'node:net';
import { type Clock, systemClock } from '../async/clock.js';
import { IsthmusError } from '../errors.js';
import { type Lock, tryLock } from './lock.js';
import type { DaemonPlaces } from './places.js';

/**
 * Becomes the one daemon of this user. One that is ending is waited for, since its processes may still be there.
 * Undefined: there is one, and it answers.
 */
export async function takePlace(
  { folder, tag, socket }: DaemonPlaces,
  { waitMs = WAIT_MS, clock = systemClock }: { readonly waitMs?: number; readonly clock?: Clock } = {},
): Promise<Lock | undefined> {
  const until = clock.now() + waitMs;
  for (;;) {
    const attempt = tryLock(folder, tag);
    if (attempt.kind === 'taken') return attempt.lock;
    if (await answers(socket)) return undefined;
    if (clock.now() > until) {
      const message = `Another daemon (process ${attempt.pid}) neither answers nor ends; kill ${attempt.pid} helps`;
      throw new IsthmusError('BUSY', message, { sent: 'no' });
    }
    await new Promise<void>((resolve) => void clock.after(RETRY_MS, resolve));
  }
}

/** Somebody listens. Whether they do anything else is for those to find out who ask. */
export function answers(socket: string): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = connect(socket);
    probe.once('connect', () => {
      probe.destroy();
      resolve(true);
    });
    probe.once('error', () => resolve(false));
  });
}

/** Servers are given 5 s to end. */
const WAIT_MS = 15_000;
const RETRY_MS = 25;
