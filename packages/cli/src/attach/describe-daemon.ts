import type { GatewayServerStatus, GatewayStatus } from '@isthmus/gateway/internal/server-state.js';
import { oneLine } from '../terminal/text.js';

/** A daemon in the words that a person gets: one line for itself, one for each server. */
export function describeDaemon({ pid, version, startedAt, listening, servers }: GatewayStatus): string[] {
  const all = Object.values(servers);
  const width = Math.max(0, ...all.map(({ name }) => oneLine(name).length));
  return [
    `daemon ${version}, process ${pid}, since ${startedAt}, at ${listening.join(', ')}`,
    ...(all.length === 0 ? ['no servers'] : []),
    ...all.map((server) => `  ${oneLine(server.name).padEnd(width)}  ${describeServer(server)}`),
  ];
}

function describeServer(server: GatewayServerStatus): string {
  const { state, reason, era, processes } = server;
  const hosts = (server as { attached?: number }).attached ?? 0;
  const pids = processes?.processes.flatMap(({ pid }) => pid ?? []) ?? [];
  return [
    state,
    ...(era ? [era] : []),
    `${hosts} ${hosts === 1 ? 'host' : 'hosts'}`,
    ...(pids.length > 0 ? [`process ${pids.join(', ')}`] : []),
    ...(reason === undefined ? [] : [oneLine(reason)]),
  ].join(', ');
}
