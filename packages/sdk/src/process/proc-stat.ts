import { readdirSync, readFileSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { endianness } from 'node:os';
import { setImmediate as nextTurn } from 'node:timers/promises';

/** What Linux tells of a process in /proc/PID/stat, as far as anybody here asks. */
export interface ProcStat {
  readonly pid: number;
  /** `R`, `S`, `D`, `T` (stopped), `t` (held by a debugger), `Z` (zombie), … */
  readonly state: string;
  readonly parent: number;
  readonly group: number;
  readonly session: number;
  /** Time on a processor, without that of children. */
  readonly cpuTicks: number;
  /** Ticks from the start of the system to that of the process. With the pid it names one process only. */
  readonly startTicks: string;
  readonly rssPages: number;
}

/** `pid (name) state parent group session …`, where the name may hold anything, a `)` too. */
export function parseStat(text: string): ProcStat | undefined {
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  // The manual counts from 1, and the state is its field 3.
  const field = (number: number) => fields[number - 3] ?? '';
  const pid = Number.parseInt(text, 10);
  if (!Number.isInteger(pid) || !/^\d+$/.test(field(22))) return undefined;
  return {
    pid,
    state: field(3),
    parent: Number(field(4)),
    group: Number(field(5)),
    session: Number(field(6)),
    cpuTicks: Number(field(14)) + Number(field(15)),
    startTicks: field(22),
    rssPages: Number(field(24)),
  };
}

/** A zombie runs no more: it is only waiting to be counted. */
export function isRunning({ state }: Pick<ProcStat, 'state'>): boolean {
  return state !== 'Z' && state !== 'X';
}

/** One process, or undefined when there is none of that number. */
export function readStat(pid: number): ProcStat | undefined {
  try {
    return parseStat(readFileSync(`/proc/${pid}/stat`, 'latin1'));
  } catch {
    return undefined;
  }
}

/** All processes at once, for a decision that must not grow old before it is acted on. */
export function readAllStats(): readonly ProcStat[] {
  return readdirSync('/proc')
    .filter(isPid)
    .flatMap((pid) => readStat(Number(pid)) ?? []);
}

/**
 * All processes, without holding up our own. The kernel has the text at hand, so reading it takes microseconds; what
 * takes long, and the longer the more there is to do, is to wait for one's turn. So there are many to a turn.
 */
export async function* eachStat(): AsyncGenerator<ProcStat> {
  const pids = (await readdir('/proc')).filter(isPid);
  for (let at = 0; at < pids.length; at += A_TURN) {
    if (at > 0) await nextTurn();
    for (const pid of pids.slice(at, at + A_TURN)) {
      const stat = readStat(Number(pid));
      if (stat) yield stat;
    }
  }
}

/** About a millisecond. */
const A_TURN = 64;

function isPid(entry: string): boolean {
  return /^\d+$/.test(entry);
}

/** The units in which Linux counts memory and time. */
export interface SystemUnits {
  readonly pageBytes: number;
  readonly ticksPerSecond: number;
}

/**
 * Both differ between machines (a page is 16 or 64 KiB on some of ARM), and the kernel hands them to every
 * program at its start, in the auxiliary vector. Asking `getconf` would cost a process.
 */
export function systemUnits(): SystemUnits {
  units ??= readUnits();
  return units;
}

let units: SystemUnits | undefined;

function readUnits(): SystemUnits {
  try {
    return parseAuxiliaryVector(readFileSync('/proc/self/auxv'), WORD_32.includes(process.arch) ? 4 : 8);
  } catch {
    return USUAL;
  }
}

/** Pairs of a key and a value, each a word of the machine. */
export function parseAuxiliaryVector(bytes: Buffer, wordBytes: 4 | 8): SystemUnits {
  const word = (at: number) => {
    if (wordBytes === 4) return LITTLE ? bytes.readUInt32LE(at) : bytes.readUInt32BE(at);
    return Number(LITTLE ? bytes.readBigUInt64LE(at) : bytes.readBigUInt64BE(at));
  };
  const values = new Map<number, number>();
  for (let at = 0; at + 2 * wordBytes <= bytes.length; at += 2 * wordBytes) {
    values.set(word(at), word(at + wordBytes));
  }
  return {
    pageBytes: values.get(AT_PAGESZ) ?? USUAL.pageBytes,
    ticksPerSecond: values.get(AT_CLKTCK) ?? USUAL.ticksPerSecond,
  };
}

const AT_PAGESZ = 6;
const AT_CLKTCK = 17;
const USUAL: SystemUnits = { pageBytes: 4096, ticksPerSecond: 100 };
const LITTLE = endianness() === 'LE';
const WORD_32: readonly string[] = ['arm', 'ia32', 'mips', 'mipsel', 'ppc', 's390'];
