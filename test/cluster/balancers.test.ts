import { readFileSync } from 'node:fs';
import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { rawLegacy, rawModern } from '../../packages/gateway/test/support/chaos/raw-clients.js';
import { startHaproxy } from '../support/haproxy.js';
import { startNginx } from '../support/nginx.js';
import { connectV1 } from '../support/official-v1.js';
import { connectV2, MODERN } from '../support/official-v2.js';
import { hasClusterTools, type RunningCluster, startCluster } from './support.js';

const file = (name: string) => readFileSync(new URL(`../../deploy/cluster/${name}`, import.meta.url), 'utf8');

/** The files of deploy/cluster with real traffic. Only addresses are replaced. */
describe.skipIf(!hasClusterTools)(
  'three replicas behind a balancer of deploy/cluster (skipped without redis-server, nginx and haproxy)',
  () => {
    let cluster: RunningCluster;
    const hosts = () => cluster.replicas.map(({ origin }) => new URL(origin).host);
    beforeAll(async () => {
      cluster = await startCluster({ args: ['--drain-delay', '2500', '--grace', '30000'] });
    }, 60_000);
    afterAll(() => cluster?.stop());

    const nginx = () => {
      const text = file('nginx.conf');
      const upstream = /upstream isthmus \{[^}]*\}/.exec(text)![0];
      const places = hosts();
      return startNginx({
        http: upstream.replaceAll(/r([123]):8080/g, (_, at: string) => places[Number(at) - 1]!),
        server: text.slice(text.indexOf('    location / {'), text.lastIndexOf('  }\n}')),
      });
    };
    const haproxy = () => {
      const servers = hosts().map((host, at) => `  server r${at} ${host} check inter 1s fall 1 rise 1\n`);
      return startHaproxy((port) =>
        file('haproxy.cfg')
          .replace('bind :80', `bind 127.0.0.1:${port}`)
          // More connections than this machine may allow one process.
          .replace('maxconn 20000', 'maxconn 200')
          .replace(/ {2}server-template .*\n/, servers.join('')),
      );
    };

    it('serve clients of both eras through nginx', async () => {
      const { origin, stop } = await nginx();
      onTestFinished(stop);
      await tryBoth(`${origin}/mcp`);
      expect(await statusesOf(origin, '/status', '/metrics', '/readyz')).toEqual([403, 403, 200]);
    });

    it('serve clients of both eras through HAProxy', async () => {
      const { origin, stop } = await haproxy();
      onTestFinished(stop);
      await tryBoth(`${origin}/mcp`);
      expect(await statusesOf(origin, '/status', '/metrics', '/readyz')).toEqual([403, 403, 200]);
    });

    it.each([
      ['nginx, which keeps connections to them', nginx],
      ['HAProxy, which keeps connections to them', haproxy],
    ])('fail no request of %s, while one of them ends', async (_, start) => {
      const { origin, stop } = await start();
      onTestFinished(stop);
      await endOneUnderLoad(`${origin}/mcp`, cluster);
    });
  },
);

/** Clients of both eras call without a pause while a replica ends. */
async function endOneUnderLoad(url: string, { replicas, add }: RunningCluster): Promise<void> {
  const failures: string[] = [];
  const calls = { before: 0, during: 0, after: 0 };
  let phase: keyof typeof calls | undefined = 'before';
  const clients = await Promise.all([
    ...Array.from({ length: 4 }, () => rawModern(url)),
    ...Array.from({ length: 4 }, () => rawLegacy(url)),
  ]);
  const running = clients.map(async (client) => {
    while (phase !== undefined) {
      calls[phase] += 1;
      await client.call('echo', { text: 'hi' }, new AbortController().signal).catch((error: unknown) => {
        failures.push(`${phase}: ${String(error)}`);
      });
    }
  });
  const enough = (which: keyof typeof calls) =>
    expect.poll(() => calls[which], { timeout: 30_000 }).toBeGreaterThan(100);
  await enough('before');
  const { child, origin } = replicas[0]!;
  child.kill('SIGTERM');
  const readiness = async () => {
    const { status, headers } = await fetch(`${origin}/readyz`);
    return [status, headers.get('connection')];
  };
  await expect.poll(readiness).toEqual([503, 'close']);
  phase = 'during';
  await enough('during');
  expect(await child.exit()).toEqual({ code: 0, signal: null });
  phase = 'after';
  await enough('after');
  phase = undefined;
  await Promise.all(running);
  replicas.shift();
  await add();
  expect(failures).toEqual([]);
}

async function statusesOf(origin: string, ...paths: readonly string[]): Promise<readonly number[]> {
  return Promise.all(paths.map(async (path) => (await fetch(`${origin}${path}`)).status));
}

/** A session with a question and its standing stream, and modern calls. */
async function tryBoth(url: string): Promise<void> {
  const legacy = await connectV1(
    { url },
    {
      capabilities: { elicitation: {} },
      prepare: (peer) =>
        peer.setRequestHandler(ElicitRequestSchema, () => ({
          action: 'accept',
          content: { username: 'Ada' },
        })),
    },
  );
  onTestFinished(() => legacy.client.close());
  const modern = await connectV2({ url }, { mode: MODERN });
  onTestFinished(() => modern.client.close());
  for (let turn = 0; turn < 6; turn += 1) {
    const call = { name: 'echo', arguments: { text: `turn ${turn}` } };
    const content = [{ type: 'text', text: `turn ${turn}` }];
    expect(await legacy.client.callTool(call)).toMatchObject({ content });
    expect(await modern.client.callTool(call)).toMatchObject({ content });
  }
  expect(await legacy.client.callTool({ name: 'test_elicitation', arguments: {} })).toMatchObject({
    content: [{ text: 'Elicitation completed: action=accept, content={"username":"Ada"}' }],
  });
}
