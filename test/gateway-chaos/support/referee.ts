import type { GatewayStatus, UnitStatus } from '../../../src/gateway/status.js';
import type { Processes } from './processes.js';
import type { Remote } from './remote.js';

/** What the pages of a gateway said at one moment. */
export interface Said {
  readonly code: number;
  readonly status: GatewayStatus;
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

function contradictionsOf({ name, kind, state, processes }: UnitStatus): string[] {
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

/**
 * What was said before and after the truth was looked at, and cannot have been true then. Something that changed in
 * between is nobody's lie.
 */
export function lies(
  before: Said,
  after: Said,
  truth: { readonly processes: Processes; readonly dead: ReadonlySet<number>; readonly remote: Remote },
): string[] {
  return Object.values(before.status.servers).flatMap((unit) => {
    const again = after.status.servers[unit.name];
    if (!again || unit.state !== 'ready' || again.state !== 'ready') return [];
    if (unit.kind === 'url') {
      const isLongGone = !truth.remote.isUp && Date.now() - truth.remote.changedAt > REMOTE_MS;
      return isLongGone ? [`${unit.name} is ready, and was gone for ${REMOTE_MS} ms`] : [];
    }
    const pid = provenOf(unit);
    if (pid === undefined || pid !== provenOf(again)) return [];
    const wrong = truth.dead.has(pid) ? [`${unit.name} is ready, and its process ${pid} is dead`] : [];
    const generation = again.processes!.processes[0]!.generation;
    const latest = truth.processes.latest(unit.name) ?? generation;
    if (generation < latest)
      wrong.push(`${unit.name} shows generation ${generation}, and ${latest} was ready`);
    return wrong;
  });
}

/** How long an answer of a server that runs elsewhere counts, and some time to find out. */
const REMOTE_MS = 7000;

/** Whether `/readyz` said something else than `/status` did, before and after it. */
export function readyzLies(before: Said, { code, waitingFor }: Readyz, after: Said): string[] {
  const missed = missedIn(before);
  if (missed.join() !== missedIn(after).join()) return [];
  const isRight = code === (missed.length === 0 ? 200 : 503) && waitingFor.join() === missed.join();
  return isRight ? [] : [`/readyz is ${code} for [${waitingFor}], and /status misses [${missed}]`];
}

/** Whether a call that was made in between is against what was said. */
export function callLies(before: Said, after: Said, name: string, failure: string | undefined): string[] {
  const [first, second] = [before.status.servers[name], after.status.servers[name]];
  if (!first || !second || markOf(first) !== markOf(second)) return [];
  if (failure !== undefined && first.state === 'ready')
    return [`${name} is ready, and a call failed: ${failure}`];
  const isSilent = first.state === 'off' || first.state === 'asleep';
  return failure === undefined && isSilent ? [`${name} is ${first.state}, and answered`] : [];
}

/** What a server said of itself, in a form to compare: the same, and nothing has happened in between. */
export function markOf(unit: UnitStatus): string {
  const lives = unit.processes?.processes.map(({ pid, generation, state }) => [pid, generation, state]);
  return JSON.stringify([unit.state, lives]);
}

/** The process of which it says that it has answered. */
export function provenOf({ processes }: UnitStatus): number | undefined {
  return processes?.processes.find(({ receipt }) => receipt?.complete)?.pid;
}

function missedIn({ status }: Said): string[] {
  return Object.values(status.servers).flatMap((unit) => (isMissed(unit) ? [unit.name] : []));
}

function isMissed(unit: UnitStatus): boolean {
  return unit.needed && unit.state !== 'off' && !isHealthy(unit);
}

function isHealthy({ state }: UnitStatus): boolean {
  return state === 'ready' || state === 'asleep';
}

function statesOf(units: readonly UnitStatus[]): string {
  return units.map(({ name, state }) => `${name} is ${state}`).join(', ');
}
