import { join } from 'node:path';
import { createServer, type Served, type ServeOptions, type Server, serve } from '@isthmus/sdk';
import type { ServerSettings } from '@isthmus/sdk/internal/config/server-spec.js';
import { unixSocket } from '@isthmus/sdk/socket';
import { onTestFinished } from 'vitest';
import type { GatewayServerSpec } from '../../src/server-definition.js';
import { freshFolder } from './open-gateway.js';
import { socketUnit } from './server-definitions.js';

/** A server in this process, on a Unix socket: what it does, a test can decide and watch. */
export interface Far {
  readonly server: Server;
  readonly served: Served;
  readonly address: string;
  /** As one of the servers of a gateway. */
  unit(name: string, more?: ServerSettings): GatewayServerSpec;
}

export type Build = (server: Server) => void;

export async function openFar(build: Build = () => {}, options: FarOptions = {}): Promise<Far> {
  const { name = 'far', instructions, pageSize, path = join(freshFolder(), 's'), ...serving } = options;
  const server = createServer({
    name,
    version: '1',
    ...(instructions !== undefined && { instructions }),
    ...(pageSize !== undefined && { pageSize }),
  });
  build(server);
  const served = await serve(server, unixSocket(path), serving);
  onTestFinished(() => served.close({ graceMs: 0 }));
  const address = `unix:${path}`;
  return { server, served, address, unit: (unit, more) => socketUnit(unit, address, more) };
}

export interface FarOptions extends ServeOptions {
  readonly name?: string;
  readonly instructions?: string;
  readonly pageSize?: number;
  /** Where it listens; for one that comes back. */
  readonly path?: string;
}

/** A server with tools that say their names and whose they are. */
export function withTools(...names: readonly string[]): Build {
  return (server) => {
    for (const name of names) server.tool(name, {}, () => `${name} of ${server.info.name}`);
  };
}
