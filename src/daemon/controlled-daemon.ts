import { IsthmusError } from '../errors.js';
import type { Controlled } from '../gateway/control/index.js';
import type { LogTail } from '../gateway/log-tail.js';
import type { GatewayStatus } from '../gateway/status.js';
import type { Redactor } from '../gateway/telemetry/redactor.js';
import type { DaemonPlaces } from './places.js';
import type { SharedServer } from './shared-server.js';
import type { SharedServers } from './shared-servers.js';

export interface DaemonParts {
  readonly places: DaemonPlaces;
  readonly version: string;
  readonly servers: SharedServers;
  readonly lines: LogTail;
  readonly redactor: Redactor;
  shutdown(): void;
}

/** The daemon as the commands that talk to a gateway see it: they work with both. */
export function controlledDaemon(parts: DaemonParts): Controlled {
  const { places, version, servers, lines, redactor, shutdown } = parts;
  const startedAt = new Date().toISOString();
  const find = (name: string): SharedServer => {
    const found = servers.all().find((server) => server.name === name);
    if (found) return found;
    const names = servers.all().map((server) => server.name);
    const known = names.length > 0 ? `there are ${names.join(', ')}` : 'there are none';
    throw new IsthmusError(
      'INVALID_OPTION',
      `No host is attached to a server ${JSON.stringify(name)}; ${known}`,
    );
  };
  return {
    async status() {
      const all = await Promise.all(servers.all().map((server) => server.status()));
      const status: GatewayStatus = {
        pid: process.pid,
        version,
        startedAt,
        listening: [places.socket],
        ready: all.every(({ state }) => state !== 'failed'),
        servers: Object.fromEntries(all.map((status) => [status.name, status])),
        configProblem: undefined,
      };
      return JSON.parse(redactor.json(JSON.stringify(status))) as GatewayStatus;
    },
    restart: (name) => find(name).restart(),
    stop: (name) => find(name).stop(),
    start: (name) => find(name).start(),
    async reload() {
      // Each host brings its own configuration, and the current one whenever it attaches.
      const unchanged = servers.all().map(({ name }) => name);
      return { added: [], changed: [], removed: [], unchanged, problem: undefined };
    },
    logs(name, options, signal) {
      if (name !== undefined) find(name);
      return lines.read(name, options, signal);
    },
    shutdown,
  };
}
