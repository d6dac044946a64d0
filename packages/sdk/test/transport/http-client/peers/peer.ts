import { spawn } from 'node:child_process';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';

/** A server that somebody else wrote, on a free port. */
export interface Peer {
  readonly url: string;
  close(): Promise<void>;
}

export async function listenOn(handler: RequestListener): Promise<Peer> {
  const server = createServer(handler);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** The reference server, as a process. */
export async function everything(transport: 'streamableHttp' | 'sse'): Promise<Peer> {
  const script = '../../../../../../node_modules/@modelcontextprotocol/server-everything/dist/index.js';
  const child = spawn(
    process.execPath,
    ['--import', new URL('tell-port.mjs', import.meta.url).href, local(script), transport],
    { env: { PATH: process.env['PATH'], PORT: '0' }, stdio: ['ignore', 'pipe', 'ignore'] },
  );
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const port = await new Promise<string>((resolve, reject) => {
    let said = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      said += text;
      const found = /^port (\d+)$/m.exec(said)?.[1];
      if (found) resolve(found);
    });
    void exited.then(() => reject(new Error(`server-everything ended without a port: ${said}`)));
  });
  return {
    url: `http://127.0.0.1:${port}/${transport === 'sse' ? 'sse' : 'mcp'}`,
    async close() {
      child.kill('SIGKILL');
      await exited;
    },
  };
}

function local(path: string): string {
  return fileURLToPath(new URL(path, import.meta.url));
}
