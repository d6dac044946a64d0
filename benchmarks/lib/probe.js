/**
 * Loaded into a measured process with `node --expose-gc --import`: collects garbage and tells its memory when the
 * benchmark asks over the channel between the processes. It does not keep the process alive.
 */

import { setTimeout as sleep } from 'node:timers/promises';

process.on('message', async (message) => {
  if (message !== 'memory') return;
  // What the first collection finds may free more, and finalizers run between the two.
  globalThis.gc?.();
  await sleep(100);
  globalThis.gc?.();
  process.send?.(process.memoryUsage());
});
process.channel?.unref();
