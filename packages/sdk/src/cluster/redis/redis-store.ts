import { randomBytes } from 'node:crypto';
import { type Clock, systemClock } from '../../async/clock.js';
import { IsthmusError, messageOf } from '../../errors.js';
import type {
  Beat,
  BeatAnswer,
  BucketRate,
  ClaimAnswer,
  ClaimRequest,
  ClusterStore,
  RecordOwner,
  RecordPut,
  StoredMember,
  TakenPermits,
} from '../store.js';
import { connectRedis, type RedisConnection } from './connect.js';
import {
  APPEND,
  BEAT,
  CLAIM,
  DROP,
  NOTE,
  PUT,
  READ,
  RECALL,
  RELEASE,
  REMOVE_MEMBER,
  TAKE,
  TOUCH,
} from './scripts.js';

export interface RedisStoreOptions {
  readonly url: string;
  /** Clusters with different names share a Redis without sharing anything in it. */
  readonly name: string;
  readonly clock?: Clock;
}

/** The store on Redis 7 or Valkey. All keys begin with `isthmus:NAME:`, and all of them expire. */
export async function redisStore(options: RedisStoreOptions): Promise<ClusterStore> {
  const { url, name, clock = systemClock } = options;
  return new RedisStore(await connectRedis(url), `isthmus:${name}`, clock);
}

class RedisStore implements ClusterStore {
  readonly #redis: RedisConnection;
  readonly #prefix: string;
  readonly #clock: Clock;
  readonly #memberKeys: readonly string[];
  readonly #channels = new Map<string, Channel>();
  readonly #onBack: (() => void)[] = [];
  /** The members as of `#version`. */
  #members: readonly StoredMember[] = [];
  #version = '';
  #stopProbing: () => void = () => {};
  #closed = false;

  constructor(redis: RedisConnection, prefix: string, clock: Clock) {
    this.#redis = redis;
    this.#prefix = prefix;
    this.#clock = clock;
    this.#memberKeys = ['live', 'facts', 'fenced', 'version'].map((part) => `${prefix}:{members}:${part}`);
    this.#probe(`${prefix}:probe:{${randomBytes(12).toString('base64url')}}`);
  }

  async beat({ member, facts, ttlMs }: Beat): Promise<BeatAnswer> {
    const args = [member, String(ttlMs), facts ?? '', this.#version];
    const [known, fenced, version, all, now] = (await this.#run(BEAT, this.#memberKeys, args)) as [
      number,
      number,
      Buffer,
      Buffer[],
      number,
    ];
    if (version.toString() !== this.#version) {
      this.#members = toMembers(all);
      this.#version = version.toString();
    }
    // A Redis that was emptied counts its versions from the start again, and may come to one that is known here.
    if (known !== 1) this.#version = '';
    return { wasKnown: known === 1, isFenced: fenced === 1, members: this.#members, now };
  }

  async leave(member: string): Promise<void> {
    await this.#run(REMOVE_MEMBER, this.#memberKeys, [member, '0']);
  }

  async fence(member: string): Promise<void> {
    await this.#run(REMOVE_MEMBER, this.#memberKeys, [member, String(FENCED_MS)]);
  }

  async claim(key: string, { by, from, ttlMs }: ClaimRequest): Promise<ClaimAnswer> {
    const answer = (await this.#run(
      CLAIM,
      [this.#record(key)],
      [by, from ?? by, String(ttlMs)],
    )) as unknown[];
    const [kind, second, third] = answer;
    switch (String(kind)) {
      case 'mine':
        return { kind: 'mine', epoch: Number(second), value: third as Buffer };
      case 'held':
        return { kind: 'held', by: String(second), epoch: Number(third) };
      default:
        return { kind: 'unknown' };
    }
  }

  async put(key: string, { by, epoch, value, ttlMs }: RecordPut): Promise<boolean> {
    return (await this.#run(PUT, [this.#record(key)], [String(epoch), value, String(ttlMs), by])) === 1;
  }

  async touch(keys: readonly string[], ttlMs: number): Promise<readonly string[]> {
    // One command for each key, since they are in different slots. They leave in one write.
    const found = await Promise.all(
      keys.map((key) => this.#run(TOUCH, [this.#record(key)], [String(ttlMs)])),
    );
    return keys.filter((_, index) => found[index] !== 1);
  }

  async release(key: string, { by, epoch }: RecordOwner): Promise<boolean> {
    return (await this.#run(RELEASE, [this.#record(key)], [by, String(epoch)])) === 1;
  }

  async drop(key: string, { epoch }: Pick<RecordOwner, 'epoch'>): Promise<void> {
    await this.#run(DROP, [this.#record(key), this.#log(key), this.#sizeOfLog(key)], [String(epoch)]);
  }

  async append(key: string, entries: readonly Uint8Array[], ttlMs: number): Promise<void> {
    await this.#run(APPEND, [this.#log(key), this.#sizeOfLog(key)], [String(ttlMs), ...entries]);
  }

  async read(key: string): Promise<readonly Uint8Array[]> {
    return (await this.#run(READ, [this.#log(key)], [])) as Buffer[];
  }

  async note(key: string, value: Uint8Array | undefined, ttlMs: number): Promise<void> {
    await this.#run(NOTE, [this.#note(key)], [String(ttlMs), ...(value ? [value] : [])]);
  }

  async recall(key: string): Promise<Uint8Array | undefined> {
    return ((await this.#run(RECALL, [this.#note(key)], [])) as Buffer | null) ?? undefined;
  }

  async take(bucket: string, wanted: number, { everyMs, burst }: BucketRate): Promise<TakenPermits> {
    const key = `${this.#prefix}:rate:{${bucket}}`;
    const answer = await this.#run(TAKE, [key], [String(wanted), String(everyMs), String(burst)]);
    const [granted, retryAfterMs] = answer as [number, number];
    return { granted, retryAfterMs };
  }

  async publish(channel: string, value: Uint8Array): Promise<void> {
    try {
      await this.#redis.publish(this.#channel(channel), value);
    } catch (error) {
      throw this.#away(error);
    }
  }

  subscribe(channel: string, onValue: (value: Uint8Array) => void, onGap: () => void): () => void {
    const name = this.#channel(channel);
    let open = this.#channels.get(name);
    if (!open) {
      open = { listeners: new Set(), isSubscribed: false };
      this.#channels.set(name, open);
      this.#open(name, open);
    }
    const listener = { onValue, onGap };
    const { listeners } = open;
    listeners.add(listener);
    return () => {
      listeners.delete(listener);
      if (listeners.size > 0 || this.#channels.get(name)?.listeners !== listeners) return;
      this.#channels.delete(name);
      this.#redis.unsubscribe(name).catch(() => {});
    };
  }

  onBack(callback: () => void): void {
    this.#onBack.push(callback);
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#stopProbing();
    this.#redis.close();
  }

  #record(key: string): string {
    return `${this.#prefix}:session:{${key}}`;
  }

  #log(key: string): string {
    return `${this.#prefix}:events:{${key}}`;
  }

  #sizeOfLog(key: string): string {
    return `${this.#prefix}:size:{${key}}`;
  }

  #note(key: string): string {
    return `${this.#prefix}:note:{${key}}`;
  }

  #channel(name: string): string {
    return `${this.#prefix}:news:{${name}}`;
  }

  async #run(...command: Parameters<RedisConnection['run']>): Promise<unknown> {
    try {
      return await this.#redis.run(...command);
    } catch (error) {
      throw this.#away(error);
    }
  }

  #away(cause: unknown): IsthmusError {
    const { place, problem } = this.#redis;
    const why = problem ?? messageOf(cause);
    return new IsthmusError('ADDRESS_UNAVAILABLE', `Redis at ${place} cannot be used: ${why}`, { cause });
  }

  /** Subscribing fails while there is no connection, so it is tried again. */
  #open(name: string, channel: Channel): void {
    if (this.#closed || this.#channels.get(name) !== channel) return;
    const onValue = (value: Uint8Array) => {
      for (const listener of [...channel.listeners]) listener.onValue(value);
    };
    this.#redis.subscribe(name, onValue).then(
      () => {
        channel.isSubscribed = true;
      },
      () => this.#clock.after(RETRY_MS, () => this.#open(name, channel), { background: true }),
    );
  }

  /**
   * Sends a message to itself from time to time. The library hides lost connections; a message that does not come back
   * shows that others may have been missed, too.
   */
  #probe(name: string): void {
    let isMissing = false;
    let awaited = '';
    const onReturn = (value: Uint8Array) => {
      if (Buffer.from(value).toString() !== awaited) return;
      awaited = '';
      if (!isMissing) return;
      isMissing = false;
      for (const { listeners } of this.#channels.values()) for (const { onGap } of [...listeners]) onGap();
      for (const callback of this.#onBack) callback();
    };
    const probe: Channel = { listeners: new Set([{ onValue: onReturn, onGap() {} }]), isSubscribed: false };
    this.#channels.set(name, probe);
    this.#open(name, probe);
    const tick = () => {
      this.#stopProbing = this.#clock.after(PROBE_MS, tick, { background: true });
      if (!probe.isSubscribed) return;
      if (awaited !== '') isMissing = true;
      awaited = randomBytes(9).toString('base64url');
      this.#redis.publish(name, Buffer.from(awaited)).catch(() => {
        isMissing = true;
      });
    };
    tick();
  }
}

interface Channel {
  readonly listeners: Set<{ onValue(value: Uint8Array): void; onGap(): void }>;
  isSubscribed: boolean;
}

function toMembers(all: readonly Buffer[]): readonly StoredMember[] {
  const members: StoredMember[] = [];
  for (let at = 0; at + 1 < all.length; at += 2)
    members.push({ member: all[at]!.toString(), facts: all[at + 1]! });
  return members;
}

const FENCED_MS = 3_600_000;
const RETRY_MS = 200;
const PROBE_MS = 1000;
