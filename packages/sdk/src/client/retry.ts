import { IsthmusError, type LocalErrorCode } from '../errors.js';

/**
 * Whether a call that failed may be made again. What certainly did not leave may be, a few times; what may have
 * run is made once more only when that does no harm. Any failure but a lost connection is an answer.
 */
export function mayGoAgain(error: unknown, isSafe: () => boolean, tries: number): error is IsthmusError {
  if (!(error instanceof IsthmusError) || !LOST.has(error.code)) return false;
  return error.sent === 'no' ? tries < MAX_UNSENT : tries === 0 && isSafe();
}

const LOST: ReadonlySet<LocalErrorCode> = new Set(['CHILD_EXITED', 'CONNECTION_CLOSED']);

/** A server that dies each time before it reads is not going to read. */
const MAX_UNSENT = 3;
