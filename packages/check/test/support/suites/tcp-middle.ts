import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { httpTarget } from '../../../src/index.js';
import type { HttpTarget } from '../../../src/wire/targets.js';
import { demoHttpTarget } from './http-proxy.js';
import type { HttpBase, TcpHooks } from './mutant.js';

/** The demo at a URL, with a man in the middle of every connection. */
export async function tcpTarget(
  makeHooks: () => TcpHooks,
  base: HttpBase = demoHttpTarget,
): Promise<{ target: HttpTarget; close(): Promise<void> }> {
  const demo = await base();
  const hooks = makeHooks();
  const open = new Set<Socket>();
  const { url } = demo.target;
  const server = createServer((referee) => {
    const upstream = connect(Number(url.port), url.hostname);
    for (const socket of [referee, upstream]) {
      open.add(socket);
      socket.on('error', () => {});
      socket.on('close', () => open.delete(socket));
    }
    if (hooks.connected?.(referee) === false) return;
    pass(referee, upstream, (bytes) => (hooks.incoming ? hooks.incoming(bytes, referee) : bytes));
    pass(upstream, referee, (bytes) => (hooks.outgoing ? hooks.outgoing(bytes, referee) : bytes));
  });
  await new Promise<void>((resolve) => server.listen(0, hooks.host ?? '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    target: httpTarget(`http://127.0.0.1:${port}${url.pathname}`, { headers: demo.target.headers }),
    async close() {
      for (const socket of open) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
      await demo.close();
    },
  };
}

function pass(from: Socket, to: Socket, change: (bytes: Buffer) => Buffer | string | undefined): void {
  from.on('data', (bytes: Buffer) => {
    const changed = change(bytes);
    if (changed !== undefined && to.writable) to.write(changed);
  });
  from.on('end', () => to.end());
  from.on('close', () => to.destroy());
}
