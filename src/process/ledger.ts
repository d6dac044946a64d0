import { randomBytes } from 'node:crypto';
import { type Clock, systemClock } from '../async/clock.js';
import type { ChildWatcher } from './child-watcher.js';
import { defaultLedgerFolder, type LedgerFile, openLedgerFolder } from './ledger-folder.js';
import { type ChildIdentity, type LedgerRecord, ownRecord, parseRecord, ticksNow } from './ledger-record.js';
import { endLeftover, judgeHost } from './leftovers.js';
import { startTimeOf } from './process-facts.js';

/**
 * Which processes are ours, in a file, for the next host to clean up should we and our death watch be killed.
 * Nothing here fails: without a home, or on a full disk, there is just no ledger.
 */
export interface Ledger extends ChildWatcher {
  /** Ends what dead hosts have left behind, and nothing else. To be called when a host starts. */
  reap(): Promise<readonly Reaped[]>;
  /** With children alive the file stays, for they may outlive us. */
  close(): void;
}

export interface Reaped {
  readonly pid: number;
  readonly hostPid: number;
  /** False when not even SIGKILL has ended it; the next host will try again. */
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
  let callOff = () => {};
  let closed = false;

  const write = () => {
    if (children.size === 0) folder.remove(ownFile);
    else folder.write(ownFile, JSON.stringify({ ...ours, children: [...children.values()] }));
  };

  /** A look at the children every now and then: the later they were seen, the more of what they start is known. */
  const lookLater = () => {
    callOff();
    if (closed || children.size === 0 || ticksNow() === undefined) return;
    callOff = clock.after(pause, look, { background: true });
  };
  const look = () => {
    // First the time, then the look: a child that is there after a moment was there at that moment.
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
      if (children.size === 0) callOff();
    },
    async reap() {
      const reaped = await Promise.all(folder.list().map(reapFile));
      return reaped.flat();
    },
    close() {
      closed = true;
      callOff();
    },
  };

  async function reapFile({ name, text, changedAt }: LedgerFile): Promise<Reaped[]> {
    const record = text === undefined ? undefined : parseRecord(text);
    const judgement = record && judgeHost(record, ours!);
    if (name === ownFile || judgement?.kind === 'leave') return [];
    if (!record || judgement?.kind === 'foreign') {
      if (clock.now() - changedAt > OLD_MS) folder.remove(name);
      return [];
    }
    const leftovers = judgement?.kind === 'dead' ? record.children : [];
    const ends = await Promise.all(
      leftovers.map(async (child) => ({ pid: child.pid, end: await endLeftover(child, clock) })),
    );
    if (!ends.some(({ end }) => end === 'stays')) folder.remove(name);
    return ends
      .filter(({ end }) => end !== 'none')
      .map(({ pid, end }) => ({ pid, hostPid: record.host.pid, gone: end === 'gone' }));
  }
}

/** No two ledgers have the same file: not two of one process, nor two in containers that share a home. */
function nameOf({ host }: LedgerRecord): string {
  return `${host.pid}-${randomBytes(8).toString('hex')}.json`;
}

const NO_LEDGER: Ledger = { started() {}, ended() {}, reap: async () => [], close() {} };
const FIRST_LOOK_MS = 1000;
const LAST_LOOK_MS = 5 * 60_000;
const OLD_MS = 7 * 24 * 60 * 60_000;
