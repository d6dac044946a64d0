import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { startReplica } from '../../../../test/cluster/support.js';
import { hasOpenssl, makeCertificates } from '../../../../test/support/certificates.js';
import { freePort, hasRedis, sendCommand, startRedis } from '../../../../test/support/redis.js';
import { eventually, until } from '../../../../test/support/until.js';
import { redisStore } from '../../src/cluster/redis/redis-store.js';
import type { ClusterStore } from '../../src/cluster/store.js';

describe.skipIf(!hasRedis)('other kinds of Redis (skipped without redis-server)', () => {
  it('redis+cluster:// uses a Redis cluster', async () => {
    const redis = await startRedis({ args: ['--cluster-enabled', 'yes'] });
    onTestFinished(() => redis.stop());
    await redis.command('CLUSTER', 'ADDSLOTSRANGE', '0', '16383');
    await eventually(async () =>
      expect(await redis.command('CLUSTER', 'INFO')).toContain('cluster_state:ok'),
    );
    await useStore(`redis+cluster://127.0.0.1:${redis.port}`);
  });

  it('redis+sentinel:// asks the sentinels where Redis is, and follows it to another server', async () => {
    const first = await startRedis();
    const second = await startRedis({ args: ['--replicaof', '127.0.0.1', String(first.port)] });
    onTestFinished(() => second.stop());
    const sentinel = await startSentinel(first.port);
    const store = await useStore(`redis+sentinel://127.0.0.1:${sentinel}/main`);
    await eventually(async () =>
      expect(await second.command('INFO', 'replication')).toContain('master_link_status:up'),
    );
    await eventually(async () => expect(await ask(sentinel, 'replicas')).toContain(String(second.port)));
    await first.stop();
    // The sentinel notices, promotes the other server, and the library follows.
    await eventually(() => store.put('after', { by: 'a', epoch: 1, value: Buffer.from('x'), ttlMs: 10_000 }));
  }, 60_000);

  it.skipIf(!hasOpenssl)('rediss:// uses TLS, with the authorities that Node trusts', async () => {
    const { ca, cert, key } = makeCertificates();
    const tlsPort = await freePort();
    const files = ['--tls-cert-file', cert, '--tls-key-file', key, '--tls-ca-cert-file', ca];
    const redis = await startRedis({
      args: ['--tls-port', String(tlsPort), ...files, '--tls-auth-clients', 'no'],
    });
    onTestFinished(() => redis.stop());
    const replica = await startReplica(`rediss://127.0.0.1:${tlsPort}`, [], { NODE_EXTRA_CA_CERTS: ca });
    onTestFinished(() => replica.child.reap());
    const { cluster } = await replica.status();
    expect(cluster.members.map((each) => each.replica)).toEqual([cluster.replica]);
    // Without the authority the connection is refused, so nothing can be joined.
    const store = await redisStore({ url: `rediss://127.0.0.1:${tlsPort}`, name: 'kinds' });
    onTestFinished(() => store.close());
    await expect(store.read('x')).rejects.toThrow('cannot be used');
  });

  it('a user and a password of the URL are used, and errors do not show them', async () => {
    const redis = await startRedis();
    onTestFinished(() => redis.stop());
    await redis.command('CONFIG', 'SET', 'requirepass', 'a secret/word');
    await useStore(`redis://:${encodeURIComponent('a secret/word')}@127.0.0.1:${redis.port}`);
    const store = await redisStore({ url: `redis://:wrong-word@127.0.0.1:${redis.port}`, name: 'x' });
    onTestFinished(() => store.close());
    const error = await store.read('x').then(String, String);
    expect(error).not.toContain('wrong-word');
    expect(error).toContain('cannot be used');
  });
});

/** A record, a log, permits and news: one of each kind of command. */
async function useStore(url: string): Promise<ClusterStore> {
  const store = await redisStore({ url, name: 'kinds' });
  onTestFinished(() => store.close());
  await eventually(() => store.read('ready'));
  expect(await store.put('k', { by: 'a', epoch: 1, value: Buffer.from('v'), ttlMs: 10_000 })).toBe(true);
  expect(await store.claim('k', { by: 'b', from: 'a', ttlMs: 10_000 })).toMatchObject({
    kind: 'mine',
    epoch: 2,
  });
  await store.append('k', [Buffer.from('1'), Buffer.from('2')], 10_000);
  expect((await store.read('k')).map(String)).toEqual(['1', '2']);
  expect((await store.take('b', 1, { everyMs: 1000, burst: 1 })).granted).toBe(1);
  const beat = await store.beat({ member: 'aaaaaaaa', facts: Buffer.from('f'), ttlMs: 5000 });
  expect(beat.members.map(({ member }) => member)).toEqual(['aaaaaaaa']);
  const heard: string[] = [];
  store.subscribe(
    'n',
    (value) => heard.push(String(value)),
    () => {},
  );
  await until('news come', () => {
    store.publish('n', Buffer.from('hello')).catch(() => {});
    return heard.includes('hello');
  });
  return store;
}

async function startSentinel(redisPort: number): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), 'isthmus-sentinel-'));
  const port = await freePort();
  const file = join(folder, 'sentinel.conf');
  const lines = [
    ...[`port ${port}`, 'bind 127.0.0.1', `dir ${folder}`, `sentinel monitor main 127.0.0.1 ${redisPort} 1`],
    ...['sentinel down-after-milliseconds main 500', 'sentinel failover-timeout main 2000'],
  ];
  writeFileSync(file, `${lines.join('\n')}\n`);
  const child = spawn('redis-server', [file, '--sentinel'], { stdio: 'ignore' });
  const ended = once(child, 'close');
  onTestFinished(async () => {
    child.kill('SIGKILL');
    await ended;
    rmSync(folder, { recursive: true, force: true });
  });
  await eventually(() => ask(port, 'master'));
  return port;
}

function ask(port: number, what: 'master' | 'replicas'): Promise<string> {
  return sendCommand(port, ['SENTINEL', what, 'main']);
}
