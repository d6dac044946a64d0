import { readdirSync, readFileSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { endianness } from 'node:os';
import { setImmediate as nextTurn } from 'node:timers/promises';

/** The used fields of /proc/PID/stat. Linux only. */
export interface ProcStat {
  readonly pid: number;
  /** `R`, `S`, `D`, `T` (stopped), `t` (held by a debugger), `Z` (zombie), … */
  readonly state: string;
  readonly parent: number;
  readonly group: number;
  readonly session: number;
  /** CPU time, without that of children. */
  readonly cpuTicks: number;
  /** When the process was started, in ticks since boot. Together with the pid it identifies a process. */
  readonly startTicks: string;
  readonly rssPages: number;
}

/** `pid (name) state parent group session …`. The name may contain anything, also a `)`. */
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

/** A zombie does not run: its parent has not yet read its exit code. */
export function isRunning({ state }: Pick<ProcStat, 'state'>): boolean {
  return state !== 'Z' && state !== 'X';
}

/** Undefined when there is no such process. */
export function readStat(pid: number): ProcStat | undefined {
  try {
    return parseStat(readFileSync(`/proc/${pid}/stat`, 'latin1'));
  } catch {
    return undefined;
  }
}

/** All processes, synchronously, for a decision that must be acted on in the same turn. */
export function readAllStats(): readonly ProcStat[] {
  return readdirSync('/proc')
    .filter(isPid)
    .flatMap((pid) => readStat(Number(pid)) ?? []);
}

/**
 * All processes, without blocking our own for long. Reading one takes microseconds, and waiting for the next turn of the
 * event loop takes longer, so many are read in one turn.
 */
export async function* eachStat(): AsyncGenerator<ProcStat> {
  const pids = (await readdir('/proc')).filter(isPid);
  for (let at = 0; at < pids.length; at += PER_TURN) {
    if (at > 0) await nextTurn();
    for (const pid of pids.slice(at, at + PER_TURN)) {
      const stat = readStat(Number(pid));
      if (stat) yield stat;
    }
  }
}

/** About a millisecond. */
const PER_TURN = 64;

function isPid(entry: string): boolean {
  return /^\d+$/.test(entry);
}

/** The units of memory and time in Linux. */
export interface SystemUnits {
  readonly pageBytes: number;
  readonly ticksPerSecond: number;
}

/**
 * Both differ between machines (a page has 16 or 64 KiB on some ARM machines). The kernel passes them to every program in
 * the auxiliary vector. `getconf` would need a process.
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

/** Pairs of a key and a value, each of them a machine word. */
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
