import type { Clock } from '../async/clock.js';
import { within } from '../async/within.js';
import { isTreeGone, signalTree } from './kill-tree.js';
import type { ChildIdentity, LedgerRecord } from './ledger-record.js';
import { isRunning, type ProcStat, readAllStats } from './proc-stat.js';
import { isStillRunning } from './process-facts.js';

/** What to do about the file of another host. */
export type Judgement =
  /** The host lives, and so may its children. */
  | { readonly kind: 'leave' }
  /** Its numbers mean nothing here: another machine, another container. */
  | { readonly kind: 'foreign' }
  /** The system was started anew since, so nothing of it is left. */
  | { readonly kind: 'past' }
  /** The host is dead. */
  | { readonly kind: 'dead' };

export function judgeHost(
  record: LedgerRecord,
  ours: LedgerRecord,
  runs: (pid: number, start: string) => boolean = isStillRunning,
): Judgement {
  if (record.place !== ours.place) return { kind: 'foreign' };
  if (record.boot !== ours.boot) return { kind: 'past' };
  return { kind: runs(record.host.pid, record.host.start) ? 'leave' : 'dead' };
}

/**
 * Whether the group of a child is still the one that the dead host started, and has somebody in it.
 *
 * With its leader there, dead or alive, the start time decides. Without it the number of the group is taken for as
 * long as anybody is in it. Who is in session P was born into it, since a session can be left but not joined; and
 * if that was before the ledger last saw our P alive, then it was the session of our P.
 */
export function isLeftover(child: ChildIdentity, everybody: readonly ProcStat[], ownPid: number): boolean {
  const { pid, start, seen } = child;
  const group = everybody.filter((each) => each.group === pid);
  // Ourselves we do not end, even when a dead host has started us.
  if (!group.some(isRunning) || group.some((each) => each.pid === ownPid)) return false;
  const holder = everybody.find((each) => each.pid === pid);
  if (holder) return holder.startTicks === start && holder.group === pid;
  return seen !== undefined && group.some((each) => each.session === pid && Number(each.startTicks) < seen);
}

/** Ends what is left of a child: SIGTERM, then SIGKILL. Says whether anything was, and whether it is gone. */
export async function endLeftover(child: ChildIdentity, clock: Clock): Promise<'none' | 'gone' | 'stays'> {
  if (!isOursNow(child)) return 'none';
  signalTree(child.pid, 'SIGTERM');
  if (await isGoneWithin(TERM_MS, child.pid, clock)) return 'gone';
  // Asked again in the turn of the signal: in the meantime the number may have become somebody else's.
  if (!isOursNow(child)) return 'gone';
  signalTree(child.pid, 'SIGKILL');
  return (await isGoneWithin(KILL_MS, child.pid, clock)) ? 'gone' : 'stays';
}

function isOursNow(child: ChildIdentity): boolean {
  if (process.platform === 'linux') return isLeftover(child, readAllStats(), process.pid);
  // Elsewhere nothing is known of a group without its leader, and it is left alone.
  return isStillRunning(child.pid, child.start);
}

async function isGoneWithin(ms: number, pid: number, clock: Clock): Promise<boolean> {
  for (let left = ms; ; left -= LOOK_MS) {
    if (await isTreeGone(pid)) return true;
    if (left <= 0) return false;
    await within(clock, LOOK_MS, NEVER);
  }
}

const TERM_MS = 1000;
const KILL_MS = 1000;
const LOOK_MS = 50;
const NEVER = new Promise<void>(() => {});
