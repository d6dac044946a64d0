import { readdir } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { removeStaleSocket } from './private-socket.js';

/**
 * Removes the sockets that killed gateways have left beside ours. Whoever is killed cannot do it, and the next gateway
 * has another number in its name. A socket on which a process listens is never touched.
 */
export async function sweepSockets(own: string): Promise<void> {
  if (process.platform === 'win32') return;
  const folder = dirname(own);
  const names = await readdir(folder).catch(() => []);
  const others = names.filter((name) => LEFT.test(name) && name !== basename(own));
  for (const name of others.slice(0, MAX_SWEPT)) await removeStaleSocket(join(folder, name)).catch(() => {});
}

const LEFT = /^gateway-\d+\.sock$/;
/** At each start; the next one goes on. */
const MAX_SWEPT = 100;
