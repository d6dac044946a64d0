import { type Clock, systemClock, within } from '../../async/clock.js';
import type { ChildWatcher } from '../child.js';
import { isRunning, type ProcStat, readAllStats } from '../proc-stat.js';
import { isStillRunning, startTimeOf } from '../process-facts.js';
import { isTreeGone, signalTree } from '../process-tree.js';
import {
  type ChildIdentity,
  defaultLedgerFolder,
  type LedgerFile,
  type LedgerRecord,
  openLedgerFolder,
  ownRecord,
  parseRecord,
  ticksNow,
} from './ledger-files.js';

/**
 * Lists our processes in a file. If our process and its death watch are killed, the next host cleans up. Nothing here
 * throws: without a home, or on a full disk, there is just no ledger.
 */
export interface Ledger extends ChildWatcher {
  /** Ends the processes that dead hosts have left behind. Call it when a host starts. */
  reap(): Promise<readonly Reaped[]>;
  /** While children are alive the file stays, since they may outlive us. */
  close(): void;
}

export interface Reaped {
  readonly pid: number;
  readonly hostPid: number;
  /** False when SIGKILL did not end it. The next host tries again. */
  readonly gone: boolean;
}

export interface LedgerOptions {
  readonly folder?: string;
  readonly clock?: Clock;
}

export function createLedger(options: LedgerOptions = {}): Ledger {
  const clock = options.clock ?? systemClock;
  const path = options.folder ?? defaultLedgerFolder();
  const ours = path === undefined ? undefined : ownRecord();
  if (path === undefined || ours === undefined) return NO_LEDGER;

  const folder = openLedgerFolder(path);
  const ownFile = nameOf(ours);
  const children = new Map<number, ChildIdentity>();
  let pause = FIRST_LOOK_MS;
  let cancelTimer = () => {};
  let closed = false;

  const write = () => {
    if (children.size === 0) folder.remove(ownFile);
    else folder.write(ownFile, JSON.stringify({ ...ours, children: [...children.values()] }));
  };

  /** Records from time to time that the children are alive: `isLeftover` needs a recent time. */
  const lookLater = () => {
    cancelTimer();
    if (closed || children.size === 0 || ticksNow() === undefined) return;
    cancelTimer = clock.after(pause, look, { background: true });
  };
  const look = () => {
    // Takes the time first: a child that is alive afterwards was alive at that time.
    const seen = ticksNow();
    for (const child of children.values()) {
      if (startTimeOf(child.pid) === child.start) children.set(child.pid, { ...child, seen });
    }
    write();
    pause = Math.min(pause * 4, LAST_LOOK_MS);
    lookLater();
  };

  return {
    started(pid) {
      if (closed) return;
      const seen = ticksNow();
      const start = startTimeOf(pid);
      if (start === undefined) return;
      children.set(pid, { pid, start, seen });
      write();
      pause = FIRST_LOOK_MS;
      lookLater();
    },
    ended(pid) {
      if (!children.delete(pid)) return;
      write();
      if (children.size === 0) cancelTimer();
    },
    async reap() {
      const reaped = await Promise.all(folder.list().map(reapFile));
      return reaped.flat();
    },
    close() {
      closed = true;
      cancelTimer();
    },
  };

  async function reapFile({ name, text, changedAt }: LedgerFile): Promise<Reaped[]> {
    const record = text === undefined ? undefined : parseRecord(text);
    const verdict = record && judgeHost(record, ours!);
    if (name === ownFile || verdict?.kind === 'leave') return [];
    if (!record || verdict?.kind === 'foreign') {
      if (clock.now() - changedAt > OLD_MS) folder.remove(name);
      return [];
    }
    const leftovers = verdict?.kind === 'dead' ? record.children : [];
    const ends = await Promise.all(
      leftovers.map(async (child) => ({ pid: child.pid, end: await endLeftover(child, clock) })),
    );
    if (!ends.some(({ end }) => end === 'stays')) folder.remove(name);
    return ends
      .filter(({ end }) => end !== 'none')
      .map(({ pid, end }) => ({ pid, hostPid: record.host.pid, gone: end === 'gone' }));
  }
}

/**
 * Unique for each ledger, also for two of one process, and for containers that share a home. It is not a secret, and
 * `node:crypto` takes longer to load than all the rest of a ledger.
 */
function nameOf({ host }: LedgerRecord): string {
  const [high, low] = [Math.random(), Math.random()].map((part) => Math.floor(part * 2 ** 32).toString(16));
  return `${host.pid}-${high}-${low}.json`;
}

const NO_LEDGER: Ledger = { started() {}, ended() {}, reap: async () => [], close() {} };
const FIRST_LOOK_MS = 1000;
const LAST_LOOK_MS = 5 * 60_000;
const OLD_MS = 7 * 24 * 60 * 60_000;

/** What to do with the file of another host. */
type HostVerdict =
  /** The host is alive. */
  | { readonly kind: 'leave' }
  /** It is of another machine or container, whose process numbers are not valid here. */
  | { readonly kind: 'foreign' }
  /** The system was rebooted since, so nothing of it is left. */
  | { readonly kind: 'past' }
  /** The host is dead. */
  | { readonly kind: 'dead' };

function judgeHost(
  record: LedgerRecord,
  ours: LedgerRecord,
  runs: (pid: number, start: string) => boolean = isStillRunning,
): HostVerdict {
  if (record.place !== ours.place) return { kind: 'foreign' };
  if (record.boot !== ours.boot) return { kind: 'past' };
  return { kind: runs(record.host.pid, record.host.start) ? 'leave' : 'dead' };
}

/**
 * Whether the group of a child is still the one that the dead host started, and has a running process.
 *
 * If its leader exists, dead or alive, the start time decides. Without the leader: the system does not reuse the number
 * of a group while the group has a process. A process in session P was started in it, since a session can be left but not
 * joined. If it was started before the ledger last saw our P alive, it was the session of our P.
 */
export function isLeftover(child: ChildIdentity, processes: readonly ProcStat[], ownPid: number): boolean {
  const { pid, start, seen } = child;
  const group = processes.filter((each) => each.group === pid);
  // A dead host may have started our own process, which must not end itself.
  if (!group.some(isRunning) || group.some((each) => each.pid === ownPid)) return false;
  const leader = processes.find((each) => each.pid === pid);
  if (leader) return leader.startTicks === start && leader.group === pid;
  return seen !== undefined && group.some((each) => each.session === pid && Number(each.startTicks) < seen);
}

/** Ends what is left of a child: SIGTERM, then SIGKILL. Returns whether there was anything, and whether it is gone. */
async function endLeftover(child: ChildIdentity, clock: Clock): Promise<'none' | 'gone' | 'stays'> {
  if (!isOursNow(child)) return 'none';
  signalTree(child.pid, 'SIGTERM');
  if (await isGoneWithin(TERM_MS, child.pid, clock)) return 'gone';
  // Checked again in the turn of the signal, since the system may have reused the number.
  if (!isOursNow(child)) return 'gone';
  signalTree(child.pid, 'SIGKILL');
  return (await isGoneWithin(KILL_MS, child.pid, clock)) ? 'gone' : 'stays';
}

function isOursNow(child: ChildIdentity): boolean {
  if (process.platform === 'linux') return isLeftover(child, readAllStats(), process.pid);
  // On other systems a group without its leader cannot be identified, and is left alone.
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
