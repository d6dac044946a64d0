import { AdminPages } from '@isthmus/gateway/internal/http/admin-pages.js';
import { openHttpFrontends } from '@isthmus/gateway/internal/http/frontend.js';
import { systemClock } from '@isthmus/sdk/internal/async/clock.js';
import { serve } from '@isthmus/sdk/internal/server/serve.js';
import { VERSION } from '@isthmus/sdk/internal/version.js';
import { createDemoServer } from '../demo/demo-server.js';
import { cannotListen, listenAt } from './addresses.js';
import type { HttpAccess } from './http-access.js';

/** Serves our own server, which needs no process: it is there as long as we are. */
export async function serveDemo(
  addresses: readonly string[],
  { endpoint, places }: HttpAccess,
  stateKey: readonly string[] | undefined,
): Promise<readonly string[]> {
  const startedAt = new Date().toISOString();
  const isHttp = (address: string) => address.startsWith('http://');
  const pages = new AdminPages({
    endpoint,
    healthPaths: places.healthPaths,
    unready: async () => [],
    metrics: async () => ({ type: 'text/plain; version=0.0.4', text: '' }),
    status: async () => ({
      pid: process.pid,
      version: VERSION,
      startedAt,
      listening: served.addresses,
      ready: true,
      servers: { demo: DEMO },
      configProblem: undefined,
    }),
  });
  const { sse } = places;
  const settings = { endpoint, pages, sse, clock: systemClock };
  const fronts = await openHttpFrontends(addresses.filter(isHttp), settings).catch((error: unknown) => {
    throw cannotListen(addresses, error);
  });
  const close = async () => {
    fronts.stop();
    await fronts.release();
  };
  const mains = [...fronts.main()];
  const listeners = addresses.map((address) => (isHttp(address) ? mains.shift()! : listenAt(address)));
  const served = await serve(createDemoServer(), listeners, {
    ownsProcess: true,
    onClose: close,
    ...(stateKey && { stateKey }),
  }).catch(async (error: unknown) => {
    await close();
    throw error;
  });
  return served.addresses;
}

const DEMO = {
  name: 'demo',
  kind: 'command',
  needed: true,
  state: 'ready',
  reason: undefined,
  era: undefined,
  evidence: undefined,
  server: undefined,
  paths: [],
  processes: undefined,
} as const;
