import type { ServerStatus } from '@isthmus/sdk/internal/host/status.js';
import type { GatewayServerStatus, GatewayStatus } from '../server-state.js';

/** One of the processes that serve the same addresses. */
export interface WorkerStatus {
  readonly pid: number;
  /** ISO 8601. */
  readonly startedAt: string;
  readonly ready: boolean;
}

/** What the parent of the workers knows by itself. */
export interface WorkersFacts {
  readonly pid: number;
  readonly version: string;
  readonly startedAt: string;
}

/** The statuses of all workers as that of one gateway. */
export function mergeStatus(facts: WorkersFacts, statuses: readonly GatewayStatus[]): GatewayStatus {
  const [first] = statuses;
  const names = new Set(statuses.flatMap(({ servers }) => Object.keys(servers)));
  const servers: Record<string, GatewayServerStatus> = Object.create(null);
  for (const name of names) {
    servers[name] = mergeServers(statuses.flatMap((status) => status.servers[name] ?? []));
  }
  const cluster = first?.cluster;
  return {
    ...facts,
    listening: first?.listening ?? [],
    ready: statuses.length > 0 && statuses.every(({ ready }) => ready),
    servers,
    configProblem: statuses.find(({ configProblem }) => configProblem !== undefined)?.configProblem,
    workers: statuses.map(({ pid, startedAt, ready }) => ({ pid, startedAt, ready })),
    ...(cluster && { cluster }),
  };
}

/** A server of all workers. The worst state counts, except that a worker without a process of it says nothing. */
function mergeServers(all: readonly GatewayServerStatus[]): GatewayServerStatus {
  const shown = STATES.flatMap((state) => all.filter((each) => each.state === state))[0]!;
  const known = all.find(({ server }) => server) ?? shown;
  const processes = all.flatMap((each) => each.processes ?? []);
  return {
    ...shown,
    era: known.era,
    evidence: known.evidence,
    server: known.server,
    processes: processes.length > 0 ? mergeProcesses(processes) : undefined,
  };
}

function mergeProcesses(all: readonly ServerStatus[]): ServerStatus {
  const shown =
    all.find(({ ready }) => ready) ?? all.find(({ processes }) => processes.length > 0) ?? all[0]!;
  const sum = (pick: (status: ServerStatus) => number) => all.reduce((total, each) => total + pick(each), 0);
  return {
    ...shown,
    conversations: sum(({ conversations }) => conversations),
    inFlight: sum(({ inFlight }) => inFlight),
    parked: sum(({ parked }) => parked),
    queued: sum(({ queued }) => queued),
    restarts: sum(({ restarts }) => restarts),
    processes: all.flatMap(({ processes }) => processes),
    lastExit: all.find(({ lastExit }) => lastExit)?.lastExit,
  };
}

/** The most important first. */
const STATES: readonly GatewayServerStatus['state'][] = [
  'failed',
  'needs-login',
  'restarting',
  'starting',
  'ready',
  'asleep',
  'off',
];
