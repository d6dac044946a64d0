import { withoutStderr } from '../bridge/far-errors.js';
import type { LastExit, ServerStatus } from '../host/status.js';
import type { GatewayStatus, UnitStatus } from './status.js';

/** What everybody who may use the servers may know: which there are, where, and how they are. */
export interface HealthView {
  readonly ready: boolean;
  readonly servers: Readonly<Record<string, Pick<UnitStatus, 'name' | 'state' | 'paths'>>>;
}

export function healthView({ ready, servers }: GatewayStatus): HealthView {
  return { ready, servers: mapped(servers, ({ name, state, paths }) => ({ name, state, paths })) };
}

/** For users of this machine who have not said who they are: all but what processes wrote to stderr. */
export function withoutWords(status: GatewayStatus): GatewayStatus {
  const servers = mapped(status.servers, (unit) => ({
    ...unit,
    reason: unit.reason && withoutStderr(unit.reason),
    processes: unit.processes && quietServer(unit.processes),
  }));
  return { ...status, servers };
}

function quietServer(status: ServerStatus): ServerStatus {
  const processes = status.processes.map((each) => ({ ...each, lastExit: quietExit(each.lastExit) }));
  return { ...status, lastExit: quietExit(status.lastExit), processes };
}

function quietExit(exit: LastExit | undefined): LastExit | undefined {
  return exit && { ...exit, reason: withoutStderr(exit.reason), stderrTail: '' };
}

/** Names of servers may be anything, `__proto__` too. */
function mapped<T, U>(servers: Readonly<Record<string, T>>, change: (unit: T) => U): Record<string, U> {
  const changed: Record<string, U> = Object.create(null);
  for (const [name, unit] of Object.entries(servers)) changed[name] = change(unit);
  return changed;
}
