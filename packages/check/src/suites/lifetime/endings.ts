import { within } from '@isthmus/sdk/internal/async/clock.js';
import { isRunning, type ProcStat, readAllStats } from '@isthmus/sdk/internal/process/proc-stat.js';
import { isStillRunning } from '@isthmus/sdk/internal/process/process-facts.js';
import type { CheckConversation } from '../../conversation/conversation.js';
import type { WireLine } from '../../model.js';
import type { CheckContext } from '../../run/check-context.js';
import type { StreamPeer } from '../../wire/stream-peer.js';
import type { Frame } from '../../wire/transcript.js';

/** How a process exited after a reason to exit. */
export interface EndingCheck {
  /** Time since the reason; undefined if the process still runs. */
  readonly afterMs: number | undefined;
  readonly waitedMs: number;
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  /** Children that still run; undefined if the system cannot list them. */
  readonly orphans: readonly ProcStat[] | undefined;
  /** Its complete stdout. */
  readonly frames: readonly Frame[];
  readonly wire: readonly WireLine[];
  readonly stderr: string;
}

/** Waits at most `ms` for the exit of a process after `reason`, and looks for remaining children. */
export async function watchEnd(
  context: CheckContext,
  peer: StreamPeer,
  reason: (pid: number) => unknown,
  ms = context.patience.answerMs,
): Promise<EndingCheck> {
  const process = peer.process ?? context.skip('the target is not a process of the referee');
  const family = descendantsOf(process.pid);
  const began = context.clock.now();
  await reason(process.pid);
  // Polls, since `exited` waits for the pipes, and remaining children may hold them open.
  while (!process.isGone && context.clock.now() - began < ms) await context.pause(LOOK_MS);
  const afterMs = process.isGone ? context.clock.now() - began : undefined;
  const orphans = process.isGone ? await leftBehind(context, family, process.pid) : [];
  await within(context.clock, DRAIN_MS, process.exited);
  const { code, signal } = process.isGone ? await process.exited : { code: null, signal: null };
  return {
    afterMs,
    waitedMs: ms,
    code,
    signal,
    orphans,
    frames: peer.transcript.frames.filter(({ from }) => from === 'server'),
    wire: peer.transcript.lines.slice(-12),
    stderr: process.stderr().trim().split('\n').at(-1) ?? '',
  };
}

/** Shares one process between all checks of one kind of exit, since starting a process is slow. */
export function sharedEnding(
  make: (context: CheckContext) => Promise<EndingCheck>,
): (context: CheckContext) => Promise<EndingCheck> {
  const known = new WeakMap<object, Promise<EndingCheck>>();
  return (context) => {
    const before = known.get(context.facts);
    if (before) return before;
    const ending = make(context);
    known.set(context.facts, ending);
    return ending;
  };
}

/** For a sentence of a report. */
export function endedHow({ afterMs, code, signal }: EndingCheck): string {
  if (afterMs === undefined) return 'it kept running';
  return `it exited after ${afterMs} ms with ${signal ?? `code ${code}`}`;
}

export function peerOfProcess(context: CheckContext, conversation: CheckConversation): StreamPeer {
  return conversation.peer?.process
    ? conversation.peer
    : context.skip('the target is not a process of the referee');
}

/** All descendants of a process, from /proc. Undefined on other systems than Linux. */
function descendantsOf(pid: number): readonly ProcStat[] | undefined {
  if (process.platform !== 'linux') return undefined;
  const all = readAllStats();
  const family = new Set([pid]);
  for (let before = 0; before < family.size; ) {
    before = family.size;
    for (const each of all) if (family.has(each.parent)) family.add(each.pid);
  }
  return all.filter((each) => each.pid !== pid && family.has(each.pid));
}

/** The descendants that still run after a moment. They are killed. */
async function leftBehind(
  context: CheckContext,
  family: readonly ProcStat[] | undefined,
  pid: number,
): Promise<readonly ProcStat[] | undefined> {
  if (!family) return undefined;
  await context.pause(FOLLOW_MS);
  const known = family.filter((each) => isStillRunning(each.pid, each.startTicks));
  const group = readAllStats().filter((each) => each.group === pid && each.pid !== pid && isRunning(each));
  const all = [...known, ...group.filter((each) => !known.some((other) => other.pid === each.pid))];
  for (const each of all) {
    try {
      process.kill(each.pid, 'SIGKILL');
    } catch {
      // The process has exited meanwhile.
    }
  }
  return all;
}

const LOOK_MS = 10;
const FOLLOW_MS = 150;
const DRAIN_MS = 500;
