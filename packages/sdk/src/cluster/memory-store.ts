import { type Clock, systemClock } from '../async/clock.js';
import {
  type Beat,
  type BeatAnswer,
  type BucketRate,
  type ClaimAnswer,
  type ClaimRequest,
  type ClusterStore,
  MAX_LOG_BYTES,
  MAX_LOG_ENTRIES,
  type RecordOwner,
  type RecordPut,
  type TakenPermits,
} from './store.js';

/** The store of members that share a process: for tests, and for the workers of one machine. */
export function memoryStore(options: { readonly clock?: Clock } = {}): ClusterStore {
  return new MemoryStore(options.clock ?? systemClock);
}

class MemoryStore implements ClusterStore {
  readonly #clock: Clock;
  readonly #members = new Map<string, { facts: Uint8Array; until: number }>();
  readonly #fenced = new Map<string, number>();
  readonly #records = new ExpiringMap<{ owner: string; epoch: number; value: Uint8Array }>();
  readonly #logs = new ExpiringMap<Uint8Array[]>();
  readonly #notes = new ExpiringMap<Uint8Array>();
  readonly #buckets = new ExpiringMap<number>();
  readonly #channels = new Map<string, Set<(value: Uint8Array) => void>>();
  #sweptAt: number;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#sweptAt = clock.now();
  }

  async beat({ member, facts, ttlMs }: Beat): Promise<BeatAnswer> {
    const now = this.#clock.now();
    this.#sweep(now);
    for (const [id, { until }] of this.#members) if (until <= now) this.#members.delete(id);
    const known = this.#members.get(member);
    const isFenced = this.#fenced.has(member);
    const told = facts ?? known?.facts;
    if (!isFenced && told) this.#members.set(member, { facts: told, until: now + ttlMs });
    const members = [...this.#members].map(([id, each]) => ({ member: id, facts: each.facts }));
    return { wasKnown: known !== undefined, isFenced, members, now };
  }

  async leave(member: string): Promise<void> {
    this.#members.delete(member);
  }

  async fence(member: string): Promise<void> {
    this.#members.delete(member);
    this.#fenced.set(member, this.#clock.now() + FENCED_MS);
  }

  async claim(key: string, { by, from, ttlMs }: ClaimRequest): Promise<ClaimAnswer> {
    const now = this.#clock.now();
    const record = this.#records.get(key, now);
    if (!record) return { kind: 'unknown' };
    const { owner, epoch, value } = record;
    if (owner !== '' && owner !== by && owner !== from) return { kind: 'held', by: owner, epoch };
    this.#records.set(key, { owner: by, epoch: epoch + 1, value }, now + ttlMs);
    return { kind: 'mine', epoch: epoch + 1, value };
  }

  async put(key: string, { by, epoch, value, ttlMs }: RecordPut): Promise<boolean> {
    const now = this.#clock.now();
    if ((this.#records.get(key, now)?.epoch ?? 0) > epoch) return false;
    this.#records.set(key, { owner: by, epoch, value }, now + ttlMs);
    return true;
  }

  async touch(keys: readonly string[], ttlMs: number): Promise<readonly string[]> {
    const now = this.#clock.now();
    return keys.filter((key) => !this.#records.extend(key, now, now + ttlMs));
  }

  async release(key: string, { by, epoch }: RecordOwner): Promise<boolean> {
    const record = this.#records.get(key, this.#clock.now());
    if (record?.owner === by && record.epoch === epoch) record.owner = '';
    return record !== undefined;
  }

  async drop(key: string, { epoch }: Pick<RecordOwner, 'epoch'>): Promise<void> {
    if ((this.#records.get(key, this.#clock.now())?.epoch ?? 0) > epoch) return;
    this.#records.delete(key);
    this.#logs.delete(key);
  }

  async append(key: string, entries: readonly Uint8Array[], ttlMs: number): Promise<void> {
    const now = this.#clock.now();
    const log = this.#logs.get(key, now) ?? [];
    log.push(...entries);
    let bytes = log.reduce((sum, entry) => sum + entry.length, 0);
    while (log.length > 1 && (log.length > MAX_LOG_ENTRIES || bytes > MAX_LOG_BYTES))
      bytes -= log.shift()!.length;
    this.#logs.set(key, log, now + ttlMs);
  }

  async read(key: string): Promise<readonly Uint8Array[]> {
    return [...(this.#logs.get(key, this.#clock.now()) ?? [])];
  }

  async note(key: string, value: Uint8Array | undefined, ttlMs: number): Promise<void> {
    if (value) this.#notes.set(key, value, this.#clock.now() + ttlMs);
    else this.#notes.delete(key);
  }

  async recall(key: string): Promise<Uint8Array | undefined> {
    return this.#notes.get(key, this.#clock.now());
  }

  async take(bucket: string, wanted: number, { everyMs, burst }: BucketRate): Promise<TakenPermits> {
    const now = this.#clock.now();
    const fullAt = Math.min(Math.max(this.#buckets.get(bucket, now) ?? now, now), now + burst * everyMs);
    const free = Math.floor(burst - (fullAt - now) / everyMs + ROUNDING);
    const granted = Math.min(wanted, free);
    if (granted < 1) {
      return { granted: 0, retryAfterMs: Math.ceil(fullAt + everyMs - burst * everyMs - now) };
    }
    const next = fullAt + granted * everyMs;
    this.#buckets.set(bucket, next, next);
    return { granted, retryAfterMs: 0 };
  }

  async publish(channel: string, value: Uint8Array): Promise<void> {
    for (const onValue of [...(this.#channels.get(channel) ?? [])]) onValue(value);
  }

  subscribe(channel: string, onValue: (value: Uint8Array) => void): () => void {
    const listeners = this.#channels.get(channel) ?? new Set();
    this.#channels.set(channel, listeners);
    const listener = (value: Uint8Array) => onValue(value);
    listeners.add(listener);
    return () => {
      listeners.delete(listener);
      if (listeners.size === 0 && this.#channels.get(channel) === listeners) this.#channels.delete(channel);
    };
  }

  /** It is always there. */
  onBack(): void {}

  async close(): Promise<void> {}

  #sweep(now: number): void {
    if (now - this.#sweptAt < SWEEP_EVERY_MS) return;
    this.#sweptAt = now;
    for (const map of [this.#records, this.#logs, this.#notes, this.#buckets]) map.sweep(now);
    for (const [member, until] of this.#fenced) if (until <= now) this.#fenced.delete(member);
  }
}

/** Values that are forgotten after a time. */
class ExpiringMap<T> {
  readonly #entries = new Map<string, { value: T; until: number }>();

  get(key: string, now: number): T | undefined {
    const entry = this.#entries.get(key);
    return entry && entry.until > now ? entry.value : undefined;
  }

  set(key: string, value: T, until: number): void {
    this.#entries.set(key, { value, until });
  }

  /** False: there is no such value. */
  extend(key: string, now: number, until: number): boolean {
    const entry = this.#entries.get(key);
    if (!entry || entry.until <= now) return false;
    entry.until = until;
    return true;
  }

  delete(key: string): void {
    this.#entries.delete(key);
  }

  sweep(now: number): void {
    for (const [key, { until }] of this.#entries) if (until <= now) this.#entries.delete(key);
  }
}

const SWEEP_EVERY_MS = 60_000;
/** How long a dead member is remembered as such. */
const FENCED_MS = 3_600_000;
/** Permits are whole numbers, and times are not. */
const ROUNDING = 1e-6;
