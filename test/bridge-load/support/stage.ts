import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Served, type ServeOptions, serve } from '@isthmus/sdk';
import { type Bridge, type BridgeOptions, createBridge, type Upstream } from '@isthmus/sdk/bridge';
import { type HttpListenOptions, http } from '@isthmus/sdk/http';
import type { Connector } from '@isthmus/sdk/internal/exchange/connection.js';
import { unixSocket } from '@isthmus/sdk/socket';
import { onTestFinished } from 'vitest';
import { type HttpNearOptions, legacyHttp, modernHttp } from '../near/http.js';
import type { Near } from '../near/near.js';
import { onSocket } from '../near/socket.js';

/** The ways to a bridge. */
export type Way = 'modern HTTP' | 'legacy HTTP' | 'modern socket' | 'legacy socket';
export const WAYS: readonly Way[] = ['modern HTTP', 'legacy HTTP', 'modern socket', 'legacy socket'];

export interface StageOptions {
  readonly bridge?: BridgeOptions;
  readonly serve?: ServeOptions;
  readonly http?: HttpListenOptions;
}

/** A bridge in this process, on a free port and on a Unix socket. */
export interface Stage {
  readonly bridge: Bridge;
  readonly served: Served;
  readonly url: string;
  readonly socket: string;
  /** A client that comes one of the ways. */
  enter(way: Way, name: string, options?: HttpNearOptions): Promise<Near>;
}

/** Closed when the test ends; who opened the upstream closes that. */
export async function stage(upstream: Upstream | Connector, options: StageOptions = {}): Promise<Stage> {
  const folder = mkdtempSync(join(tmpdir(), 'isthmus-load-'));
  const bridge = createBridge(upstream, options.bridge);
  const listeners = [http({ port: 0, ...options.http }), unixSocket(join(folder, 's'))];
  const served = await serve(bridge, listeners, options.serve);
  onTestFinished(async () => {
    await served.close({ graceMs: 0 });
    await bridge.close();
    rmSync(folder, { recursive: true, force: true });
  });
  const [url, socket] = served.addresses as [string, string];
  return {
    bridge,
    served,
    url,
    socket,
    async enter(way, name, nearOptions) {
      if (way === 'modern HTTP') return modernHttp(url, name, nearOptions);
      if (way === 'legacy HTTP') return legacyHttp(url, name, nearOptions);
      return onSocket(socket, name, way === 'modern socket' ? 'modern' : 'legacy');
    },
  };
}
