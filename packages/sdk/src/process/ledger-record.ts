import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';
import { startTimeOf } from './process-facts.js';
import { systemUnits } from './system-units.js';

/** What one host writes down about itself and its children. */
export interface LedgerRecord {
  readonly version: 1;
  /** Where its numbers mean something: a machine, and on Linux a namespace of pids, as containers have them. */
  readonly place: string;
  /** Differs after every start of the system. Empty where that cannot be known. */
  readonly boot: string;
  readonly host: ProcessIdentity;
  readonly children: readonly ChildIdentity[];
}

/** A number alone is not enough, since it will be somebody else's one day. */
export interface ProcessIdentity {
  readonly pid: number;
  readonly start: string;
}

export interface ChildIdentity extends ProcessIdentity {
  /** When the child was last known to live, in ticks since the start of the system. Linux only. */
  readonly seen?: number;
}

/** The record of our own process, without children. Undefined where processes cannot be told apart. */
export function ownRecord(): LedgerRecord | undefined {
  const start = startTimeOf(process.pid);
  if (start === undefined) return undefined;
  const place = `${attempt(hostname)} ${attempt(() => readlinkSync('/proc/self/ns/pid'))}`.trim();
  const boot = attempt(() => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim());
  return { version: 1, place, boot, host: { pid: process.pid, start }, children: [] };
}

/** Ticks since the start of the system, as start times count them. Undefined where there is no such thing. */
export function ticksNow(): number | undefined {
  const seconds = Number.parseFloat(attempt(() => readFileSync('/proc/uptime', 'utf8')));
  return Number.isFinite(seconds) ? Math.floor(seconds * systemUnits().ticksPerSecond) : undefined;
}

/** Undefined for whatever is not a record: what is in a file may have been written by anybody. */
export function parseRecord(text: string): LedgerRecord | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (!isObject(value) || value['version'] !== 1) return undefined;
  const { place, boot, host, children } = value;
  if (typeof place !== 'string' || typeof boot !== 'string' || !isIdentity(host)) return undefined;
  if (!Array.isArray(children) || !children.every(isChild)) return undefined;
  return { version: 1, place, boot, host, children };
}

function isChild(value: unknown): value is ChildIdentity {
  if (!isIdentity(value)) return false;
  const { seen } = value as { seen?: unknown };
  return seen === undefined || typeof seen === 'number';
}

/** The numbers 0 and 1 are no processes of ours: as groups they would mean our own, and everybody. */
function isIdentity(value: unknown): value is ProcessIdentity {
  if (!isObject(value)) return false;
  const { pid, start } = value;
  return Number.isSafeInteger(pid) && (pid as number) > 1 && typeof start === 'string' && start !== '';
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}

function attempt(read: () => string): string {
  try {
    return read();
  } catch {
    return '';
  }
}
