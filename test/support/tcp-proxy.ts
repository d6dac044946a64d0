import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** A network between a client and a server that can be bad. */
export interface TcpProxy {
  readonly port: number;
  /** Where new connections go. */
  target: number;
  /** Each piece is held back for a time up to this, in order. */
  delayMs: number;
  /** Connections that are open now stay open, and nothing passes through them any more. */
  silence(): void;
  /** Resets all connections that are open now. */
  cut(): void;
  close(): Promise<void>;
}

export async function startTcpProxy(target: number, random: () => number = Math.random): Promise<TcpProxy> {
  const open = new Set<{ near: Socket; far: Socket; isSilent: boolean }>();
  const server = createServer({ noDelay: true }, (near) => {
    const far = connect({ port: proxy.target, host: '127.0.0.1', noDelay: true });
    const pair = { near, far, isSilent: false };
    open.add(pair);
    pipe(near, far, pair);
    pipe(far, near, pair);
    const end = () => {
      open.delete(pair);
      near.destroy();
      far.destroy();
    };
    for (const socket of [near, far]) socket.on('error', () => {}).on('close', end);
  });
  const pipe = (from: Socket, to: Socket, pair: { readonly isSilent: boolean }) => {
    let last = Promise.resolve();
    from.on('data', (piece) => {
      const ms = proxy.delayMs === 0 ? 0 : random() * proxy.delayMs;
      const waited = ms === 0 ? undefined : new Promise((resolve) => setTimeout(resolve, ms));
      last = last.then(async () => {
        await waited;
        if (!pair.isSilent) to.write(piece);
      });
    });
    from.on('end', () => void last.then(() => pair.isSilent || to.end()));
  };
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const proxy: TcpProxy = {
    port: (server.address() as AddressInfo).port,
    target,
    delayMs: 0,
    silence() {
      for (const pair of open) pair.isSilent = true;
    },
    cut() {
      for (const { near, far } of [...open]) {
        near.resetAndDestroy();
        far.destroy();
      }
    },
    async close() {
      proxy.cut();
      server.close();
      await once(server, 'close');
    },
  };
  return proxy;
}
