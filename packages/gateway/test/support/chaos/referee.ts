import type { ProcessStatus } from '@isthmus/sdk/internal/host/status.js';
import type { GatewayServerStatus, GatewayStatus } from '../../../src/server-state.js';
import type { Metrics } from './metrics.js';
import type { Processes } from './processes.js';
import type { Remote } from './remote.js';

/** What the pages of a gateway said at one moment. */
export interface Said {
  readonly code: number;
  readonly status: GatewayStatus;
  readonly askedAt: number;
}

/** `/readyz`, asked between two looks at `/status`. */
export interface Readyz {
  readonly code: number;
  readonly waitingFor: readonly string[];
}

/** What one answer of `/status` has against itself. */
export function contradictionsWithin({ code, status }: Said): string[] {
  const units = Object.values(status.servers);
  const wrong = units.flatMap((unit) => contradictionsOf(unit));
  const isAnyHealthy = units.some(isHealthy);
  if (code !== (isAnyHealthy ? 200 : 503)) wrong.push(`/status is ${code} while ${statesOf(units)}`);
  const isReady = units.every((unit) => !isMissed(unit));
  if (status.ready !== isReady) wrong.push(`"ready" is ${status.ready} while ${statesOf(units)}`);
  return wrong;
}

function contradictionsOf({ name, kind, state, processes }: GatewayServerStatus): string[] {
  if (kind !== 'command' || !processes) return [];
  const wrong: string[] = [];
  const proven = processes.processes.filter((each) => each.state === 'ready' && each.receipt?.complete);
  if ((state === 'ready') !== (processes.enabled && processes.ready)) {
    wrong.push(`${name} is ${state}, and its processes are ${processes.ready ? '' : 'not '}ready`);
  }
  if (state === 'ready' && proven.length === 0) wrong.push(`${name} is ready without a receipt`);
  for (const { receipt, pid, generation } of proven) {
    if (receipt?.pid === pid && receipt?.generation === generation) continue;
    wrong.push(`${name}: the receipt of ${receipt?.pid} is shown for ${pid}`);
  }
  return wrong;
}

/** What is said of processes that have long been something else. */
export function liesOfTheDead({ status, askedAt }: Said, processes: Processes, remote: Remote): string[] {
  const before = askedAt - NOTICE_MS;
  return Object.values(status.servers).flatMap((unit) => {
    const { name, kind, state } = unit;
    if (state !== 'ready') return [];
    if (kind === 'url') {
      const isLongGone = !remote.isUp && remote.changedAt < askedAt - REMOTE_MS;
      return isLongGone ? [`${name} is ready, and was gone for ${REMOTE_MS} ms`] : [];
    }
    const { pid, generation } = provenOf(unit) ?? {};
    if (pid === undefined || generation === undefined) return [];
    const wrong = processes.wasDead(pid, before) ? [`${name} is ready, and its process ${pid} is dead`] : [];
    const latest = processes.latest(name, before) ?? generation;
    if (generation < latest) wrong.push(`${name} shows life ${generation}, and life ${latest} was ready`);
    return wrong;
  });
}

/** What the end of a process may take to be noticed: others of its tree may hold its pipes for a while. */
const NOTICE_MS = 500;
/** How long an answer of a server that runs elsewhere counts, and some time to find out. */
const REMOTE_MS = 7000;

/** Whether `/readyz` said something else than `/status` did, before and after it. */
export function readyzLies(before: Said, { code, waitingFor }: Readyz, after: Said): string[] {
  const units = Object.values(before.status.servers);
  const hasChanged = (unit: GatewayServerStatus) => !isSame(unit, after.status.servers[unit.name]);
  const wrong = units
    .filter((unit) => !hasChanged(unit) && isMissed(unit) !== waitingFor.includes(unit.name))
    .map(({ name, state }) => `${name} is ${state}, and /readyz waits for [${waitingFor}]`);
  if (code !== (waitingFor.length === 0 ? 200 : 503)) wrong.push(`/readyz is ${code} for [${waitingFor}]`);
  return wrong;
}

/** Whether `/metrics` counted something else. */
export function metricsLies(before: Said, metrics: Metrics, after: Said): string[] {
  return Object.values(before.status.servers).flatMap((unit) => {
    const again = after.status.servers[unit.name];
    if (unit.kind !== 'command' || !isSame(unit, again)) return [];
    const counted = metrics.get('isthmus_server_ready')?.get(unit.name);
    const isReady = unit.processes?.ready ? 1 : 0;
    const isTrue = counted === isReady || (counted === undefined && unit.processes === undefined);
    return isTrue ? [] : [`${unit.name} is ${unit.state}, and /metrics has ${counted}`];
  });
}

/** Whether a call that was made in between is against what was said. */
export function callLies(before: Said, after: Said, name: string, failure: string | undefined): string[] {
  const [first, second] = [before.status.servers[name], after.status.servers[name]];
  if (!first || !isSame(first, second)) return [];
  if (failure !== undefined && first.state === 'ready')
    return [`${name} is ready, and a call failed: ${failure}`];
  const isSilent = first.state === 'off' || first.state === 'asleep';
  return failure === undefined && isSilent ? [`${name} is ${first.state}, and answered`] : [];
}

/** Nothing has happened between the two: each life of a process has a number of its own. */
function isSame(unit: GatewayServerStatus, again: GatewayServerStatus | undefined): boolean {
  return again !== undefined && markOf(unit) === markOf(again);
}

function markOf({ state, needed, processes }: GatewayServerStatus): string {
  const lives = processes?.processes.map((each) => [each.pid, each.generation, each.state]);
  return JSON.stringify([state, needed, lives]);
}

/** The process of which it says that it has answered. */
export function provenOf({ processes }: GatewayServerStatus): ProcessStatus | undefined {
  return processes?.processes.find(({ receipt }) => receipt?.complete);
}

function isMissed(unit: GatewayServerStatus): boolean {
  return unit.needed && unit.state !== 'off' && !isHealthy(unit);
}

function isHealthy({ state }: GatewayServerStatus): boolean {
  return state === 'ready' || state === 'asleep';
}

function statesOf(units: readonly GatewayServerStatus[]): string {
  return units.map(({ name, state }) => `${name} is ${state}`).join(', ');
}
