import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock, within } from '@isthmus/sdk/internal/async/clock.js';
import { onTestFinished } from 'vitest';
import { until } from '../../../../test/support/until.js';
import { childrenOf } from '../../../sdk/test/support/host-lifetime.js';
import { type Answer, ask } from '../../../sdk/test/support/http-server.js';
import { createGateway, type Gateway, type GatewayOptions } from '../../src/create-gateway.js';
import type { GatewayServerSpec } from '../../src/server-definition.js';
import type { GatewayStatus } from '../../src/server-state.js';

export interface Opened {
  readonly gateway: Gateway;
  readonly origin: string;
  /** The address of all of them, or of the only one. */
  readonly url: string;
  at(path: string): string;
  get(path: string): Promise<Answer>;
  /** What `/status` says, whatever its code. */
  status(): Promise<GatewayStatus>;
}

export type OpenOptions = Partial<Omit<GatewayOptions, 'units'>>;

/** A gateway in this process, on a free port. When the test ends it is closed, and no process may be left. */
export async function openGateway(
  units: readonly GatewayServerSpec[],
  options: OpenOptions = {},
): Promise<Opened> {
  const before = new Set(childrenOf(process.pid));
  const gateway = await createGateway({
    units,
    addresses: ['http://127.0.0.1:0/mcp'],
    host: { ledger: false, cache: false, random: () => 0.5 },
    ...options,
  });
  onTestFinished(async () => {
    const isClosed = await within(systemClock, 10_000, gateway.close({ graceMs: 0 }));
    if (!isClosed) throw new Error('the gateway was not closed within 10 s');
    const left = () => childrenOf(process.pid).filter((pid) => !before.has(pid));
    await until('no process is left behind', () => left().length === 0, 5000);
  });
  const url = gateway.addresses.find((address) => address.startsWith('http'))!;
  const { origin } = new URL(url);
  const get = (path: string) => ask(`${origin}${path}`, { method: 'GET' });
  return {
    gateway,
    origin,
    url,
    at: (path) => `${origin}${path}`,
    get,
    status: async () => JSON.parse((await get('/status')).text) as GatewayStatus,
  };
}

/** A folder for this test alone. */
export function freshFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'isthmus-gateway-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
