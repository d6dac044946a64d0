import { expect } from 'vitest';
import { startHaproxy } from '../../support/haproxy.js';
import { freePort, startRedis } from '../../support/redis.js';
import { allKnown, CLUSTER_SECRET, type Replica, startReplica } from '../support.js';

/** Round robin over what is ready. A request is repeated only if no connection could be made for it. */
function askingReadiness(port: number, replicas: readonly number[]): string {
  const servers = replicas.map(
    (each, at) => `  server r${at} 127.0.0.1:${each} check inter 300ms fall 1 rise 1`,
  );
  return `defaults
  mode http
  timeout connect 5s
  timeout check 10s
  timeout client 1h
  timeout server 1h
frontend clients
  bind 127.0.0.1:${port}
  default_backend isthmus
backend isthmus
  balance roundrobin
  option httpchk GET /readyz
  option redispatch
  retry-on conn-failure
${servers.join('\n')}
`;
}

/** Three replicas at ports that the balancer knows. What has to be closed is added to `closing`. */
export async function openRollingStage(closing: (() => Promise<unknown>)[]) {
  const redis = await startRedis();
  closing.push(() => redis.stop());
  const ports = await Promise.all([0, 1, 2].map(() => freePort()));
  const start = (place: number, secrets: string) =>
    startReplica(redis.url, ['--port', String(ports[place]), '--drain-delay', '3000', '--grace', '30000'], {
      ISTHMUS_CLUSTER_SECRET: secrets,
    });
  const replicas: Replica[] = await Promise.all(ports.map((_, place) => start(place, CLUSTER_SECRET)));
  closing.push(() => Promise.all(replicas.map(({ child }) => child.reap())));
  await allKnown(replicas, 3);
  const haproxy = await startHaproxy((port) => askingReadiness(port, ports));
  closing.push(() => haproxy.stop());
  return {
    url: `${haproxy.origin}/mcp`,
    redis,
    redisUrl: redis.url,
    replicas,
    async restart(place: number, secrets = CLUSTER_SECRET) {
      const { child } = replicas[place]!;
      child.kill('SIGTERM');
      expect(await child.exit()).toEqual({ code: 0, signal: null });
      replicas[place] = await start(place, secrets);
      await allKnown(replicas, 3);
    },
  };
}
