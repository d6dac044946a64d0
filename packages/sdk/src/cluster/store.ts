/**
 * What the members of a cluster share. It holds bytes and does not interpret them: values are sealed before they get
 * here. There are three implementations: in memory for one process, Redis, and a channel to the store of another process.
 *
 * Every method may be repeated without harm, because an answer can be lost after the store has done its work. A method
 * rejects when the store does not answer.
 */
export interface ClusterStore {
  /** Announces a member until `ttlMs` from now, and returns all members. */
  beat(beat: Beat): Promise<BeatAnswer>;
  /** Removes a member that goes. */
  leave(member: string): Promise<void>;
  /** Removes a member that is dead, for all others. If it lives, its next beat tells it. */
  fence(member: string): Promise<void>;

  /** Takes a record that has no owner, or whose owner is `from`. */
  claim(key: string, claim: ClaimRequest): Promise<ClaimAnswer>;
  /** Writes a record. False: a later epoch of it exists, so somebody else owns it. */
  put(key: string, record: RecordPut): Promise<boolean>;
  /** Keeps records for another `ttlMs`. Returns the keys that the store does not have (any more). */
  touch(keys: readonly string[], ttlMs: number): Promise<readonly string[]>;
  /**
   * Gives a record up: the next claim gets it. Has no effect on a record of a later epoch. False: the store does not have
   * the record (any more).
   */
  release(key: string, owner: RecordOwner): Promise<boolean>;
  /** Deletes a record and its log. Has no effect on a record of a later epoch. */
  drop(key: string, owner: Pick<RecordOwner, 'epoch'>): Promise<void>;

  /** Adds entries to a log. A log keeps its newest entries, up to a number and a size, and always the last one. */
  append(key: string, entries: readonly Uint8Array[], ttlMs: number): Promise<void>;
  /** All entries of a log, in order. */
  read(key: string): Promise<readonly Uint8Array[]>;

  /** Keeps a value for `ttlMs`. Undefined: forgets it. */
  note(key: string, value: Uint8Array | undefined, ttlMs: number): Promise<void>;
  /** The value that was kept. */
  recall(key: string): Promise<Uint8Array | undefined>;

  /** Takes up to `wanted` permits of a bucket. */
  take(bucket: string, wanted: number, rate: BucketRate): Promise<TakenPermits>;

  /** Tells all subscribers of a channel, at most once each. */
  publish(channel: string, value: Uint8Array): Promise<void>;
  /** `onGap`: messages may have been missed. The returned function ends the subscription. */
  subscribe(channel: string, onValue: (value: Uint8Array) => void, onGap: () => void): () => void;

  /** Called when the store can be reached again after it could not. */
  onBack(callback: () => void): void;
  close(): Promise<void>;
}

export interface Beat {
  readonly member: string;
  /** What others need to know of it, sealed. Undefined: as in an earlier beat. Without one the member is not announced. */
  readonly facts: Uint8Array | undefined;
  readonly ttlMs: number;
}

export interface BeatAnswer {
  /** Whether the member was known before this beat. False after it was fenced, or was silent for too long. */
  readonly wasKnown: boolean;
  /** Whether others have declared this member dead. Then the beat has not announced it. */
  readonly isFenced: boolean;
  readonly members: readonly StoredMember[];
  /** The time of the store, in milliseconds since 1970. It is the only clock that all members share. */
  readonly now: number;
}

export interface StoredMember {
  readonly member: string;
  readonly facts: Uint8Array;
}

export interface ClaimRequest {
  readonly by: string;
  /** The member that the record may be taken from, because it is gone. */
  readonly from?: string | undefined;
  readonly ttlMs: number;
}

export type ClaimAnswer =
  | { readonly kind: 'mine'; readonly epoch: number; readonly value: Uint8Array }
  | { readonly kind: 'held'; readonly by: string; readonly epoch: number }
  | { readonly kind: 'unknown' };

export interface RecordOwner {
  readonly by: string;
  /** Rises with each claim. */
  readonly epoch: number;
}

export interface RecordPut extends RecordOwner {
  readonly value: Uint8Array;
  readonly ttlMs: number;
}

/** A bucket gets one permit in `everyMs`, up to `burst`. */
export interface BucketRate {
  readonly everyMs: number;
  readonly burst: number;
}

export interface TakenPermits {
  readonly granted: number;
  /** When nothing was granted: after how long a permit will be there. */
  readonly retryAfterMs: number;
}

/** How much a log keeps. */
export const MAX_LOG_ENTRIES = 1000;
export const MAX_LOG_BYTES = 1024 * 1024;
