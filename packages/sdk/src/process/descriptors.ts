import { readdirSync, readFileSync } from 'node:fs';
import { type Clock, systemClock } from '../async/clock.js';

export interface DescriptorUse {
  readonly open: number;
  readonly limit: number;
}

/** How many file descriptors we have open, and may have; undefined where the system does not say it in files. */
export function descriptorUse(): DescriptorUse | undefined {
  try {
    const [, soft] = /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? [];
    if (soft === undefined) return undefined;
    const limit = Number(soft);
    lastLimit = limit;
    return { open: readdirSync('/proc/self/fd').length, limit };
  } catch (error) {
    // To look takes a descriptor, too.
    const isNoneLeft = (error as NodeJS.ErrnoException).code === 'EMFILE' && lastLimit !== undefined;
    return isNoneLeft ? { open: lastLimit!, limit: lastLimit! } : undefined;
  }
}

let lastLimit: number | undefined;

/**
 * Tells when file descriptors are nearly used up, and when there is room again. Without descriptors connections are
 * closed as they come, by the system and without a word, so nobody else would say it.
 */
export function watchDescriptors(
  onChange: (use: DescriptorUse, isScarce: boolean) => void,
  {
    clock = systemClock,
    look = descriptorUse,
  }: { clock?: Clock; look?: () => DescriptorUse | undefined } = {},
): () => void {
  let isScarce = false;
  let callOff = () => {};
  const next = () => {
    const use = look();
    // Where it cannot be known, it is not asked again.
    if (!use) return;
    const share = use.open / use.limit;
    if (isScarce ? share < ENOUGH : share > SCARCE) {
      isScarce = !isScarce;
      onChange(use, isScarce);
    }
    callOff = clock.after(LOOK_MS, next, { background: true });
  };
  next();
  return () => callOff();
}

const SCARCE = 0.9;
const ENOUGH = 0.8;
const LOOK_MS = 2000;
