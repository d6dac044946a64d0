// A whole cluster on this machine, for as long as something works with it.
import { setTimeout as sleep } from 'node:timers/promises';
import { missingPrograms, startNginx, startRedis, startReplica } from './programs.js';

/**
 * Replicas behind nginx, which sends each request to the next one. `work` gets the address of nginx and all parts.
 * Everything is ended after it.
 */
export async function withCluster({ count = 3, args = [] }, work) {
  const missing = missingPrograms();
  if (missing.length > 0) throw new Error(`${missing.join(' and ')} must be installed for a cluster`);
  const opened = [];
  const keep = async (starting) => {
    const part = await starting;
    opened.push(part);
    return part;
  };
  try {
    const redis = await keep(startRedis());
    const start = (port) => keep(startReplica({ redisUrl: redis.url, port, args }));
    const replicas = await Promise.all(Array.from({ length: count }, () => start()));
    await allKnown(replicas);
    const nginx = await keep(startNginx(replicas.map(({ host }) => host)));
    return await work({ url: `${nginx.origin}/mcp`, redis, nginx, replicas, start, keep });
  } finally {
    await Promise.all(opened.map((part) => part.stop()));
  }
}

/** Until each replica knows all of them. */
export async function allKnown(replicas) {
  for (;;) {
    const all = await Promise.all(replicas.map(({ status }) => status()));
    if (all.every(({ cluster }) => cluster.members.length === replicas.length)) return;
    await sleep(50);
  }
}
