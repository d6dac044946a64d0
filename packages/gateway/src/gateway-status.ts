import type { Host } from '@isthmus/sdk/internal/host/create-host.js';
import { VERSION } from '@isthmus/sdk/internal/version.js';
import type { Implementation } from '@isthmus/sdk/internal/wire/model.js';
import { clusterStatus } from './cluster/cluster-status.js';
import type { Gateway, GatewayOptions } from './gateway.js';
import type { GatewayServer } from './gateway-server.js';
import { pathsOf } from './reload-plan.js';
import {
  type GatewayServerStatus,
  type GatewayStatus,
  isHealthy,
  type UnreadyServer,
} from './server-state.js';

export const GATEWAY: Implementation = { name: 'isthmus', version: VERSION };

/** What a gateway says of itself. Secrets of the configuration are removed. */
export async function statusOf(
  gateway: Gateway,
  servers: readonly GatewayServer[],
  { own, redactor, cluster }: Pick<GatewayOptions, 'own' | 'redactor' | 'cluster'>,
  startedAt: number,
): Promise<GatewayStatus> {
  const statuses = await Promise.all(servers.map((server) => server.status(pathsOf(server.name))));
  if (own) statuses.push(ownStatus(own.name));
  const byName: Record<string, GatewayServerStatus> = Object.create(null);
  for (const status of statuses) byName[status.name] = status;
  const status: GatewayStatus = {
    pid: process.pid,
    version: GATEWAY.version,
    startedAt: new Date(startedAt).toISOString(),
    listening: gateway.addresses,
    ready: statuses.every(isNotMissed),
    servers: byName,
    configProblem: gateway.configProblem,
    ...(cluster && { cluster: clusterStatus(cluster, gateway.definitions, gateway.placements()) }),
  };
  return redactor ? JSON.parse(redactor.json(JSON.stringify(status))) : status;
}

/** The servers that are needed and not ready. */
export async function unreadyAmong(servers: readonly GatewayServer[]): Promise<readonly UnreadyServer[]> {
  await Promise.all(servers.map((server) => server.refreshState()));
  return servers
    .filter((server) => !isNotMissed({ ...server.state(), needed: server.definition.needed ?? true }))
    .map((server) => ({ name: server.name, needsLogin: server.state().state === 'needs-login' }));
}

/** How many calls wait for a person at these servers, and whether one of the processes can have no more of them. */
export function parkedAt(
  host: Host,
  names: readonly string[],
): { readonly count: number; readonly isFull: boolean } {
  const known = names.flatMap((name) => host.snapshot(name) ?? []);
  return {
    count: known.reduce((sum, { parked }) => sum + parked, 0),
    isFull: known.some(({ processes, maxParked }) => processes.some((each) => each.parked >= maxParked)),
  };
}

function isNotMissed({ needed, state }: Pick<GatewayServerStatus, 'needed' | 'state'>): boolean {
  return !needed || state === 'off' || isHealthy({ state });
}

/** A service of this process is ready as long as the process runs. */
function ownStatus(name: string): GatewayServerStatus {
  return {
    name,
    kind: 'command',
    needed: true,
    state: 'ready',
    reason: undefined,
    era: undefined,
    evidence: undefined,
    server: undefined,
    paths: [],
    processes: undefined,
  };
}
