import { readFileSync } from 'node:fs';
import { endianness } from 'node:os';

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
