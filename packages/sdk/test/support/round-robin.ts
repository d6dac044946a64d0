import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';
import { onTestFinished } from 'vitest';
import { eventually } from '../../../../test/support/until.js';
import { type Served, type ServeOptions, type Server, serve } from '../../src/index.js';
import { joinCluster, memoryStore } from '../../src/transport/cluster.js';
import { type HttpListenOptions, http } from '../../src/transport/http.js';

/** How many members serve what a test serves. With more than one, each connection goes to the next one. */
export const REPLICAS = Number(process.env['ISTHMUS_REPLICAS'] ?? '1');

/** Serves at so many members of a cluster, behind one port. The members share the server and what the test keeps in it. */
export async function serveReplicated(
  server: Server,
  options: HttpListenOptions,
  serveOptions: ServeOptions,
): Promise<Served> {
  const url = process.env['ISTHMUS_REPLICAS_REDIS'];
  count += 1;
  const place = url === undefined ? { store: memoryStore() } : { url, name: `test-${process.pid}-${count}` };
  const secret = 'a secret of a test, with enough characters';
  const members = await Promise.all(
    Array.from({ length: REPLICAS }, async () => {
      const cluster = await joinCluster({ ...place, secret, listen: 'http://127.0.0.1:0' });
      const served = await serve(server, http({ port: 0, ...options }), { ...serveOptions, cluster });
      return { cluster, served };
    }),
  );
  await eventually(() => {
    for (const { cluster } of members) {
      if (cluster.members.all.length < REPLICAS) throw new Error('not all have joined');
    }
  });
  const ports = members.map(({ served }) => Number(new URL(served.addresses[0]!).port));
  let turn = 0;
  const balancer = createServer((client) => {
    const member = connect(ports[turn % REPLICAS]!, '127.0.0.1');
    turn += 1;
    for (const [one, other] of [
      [client, member],
      [member, client],
    ] as const) {
      one.on('error', () => other.destroy());
      one.on('close', () => other.destroy());
      one.pipe(other);
    }
  }).listen(options.port ?? 0, '127.0.0.1');
  await once(balancer, 'listening');
  const { port } = balancer.address() as AddressInfo;
  const [first] = members;
  const path = new URL(first!.served.addresses[0]!).pathname;
  const close: Served['close'] = async (how) => {
    balancer.close();
    await Promise.all(members.map(({ served }) => served.close(how)));
    await Promise.all(members.map(({ cluster }) => cluster.leave()));
  };
  onTestFinished(() => close({ graceMs: 0 }));
  return {
    addresses: [`http://127.0.0.1:${port}${path}`],
    get connections() {
      return members.reduce((sum, { served }) => sum + served.connections, 0);
    },
    closed: first!.served.closed,
    close,
    [Symbol.asyncDispose]: () => close(),
  };
}

let count = 0;
