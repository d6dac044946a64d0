import type { Clock } from '../async/clock.js';
import { createDeferred } from '../async/deferred.js';
import { IsthmusError } from '../errors.js';
import type { ClusterStore } from './store.js';

/** How a store has answered lately. */
export interface StoreHealth {
  readonly isUp: boolean;
  /** The time of the last answer, in milliseconds. */
  readonly latencyMs: number | undefined;
  readonly failures: number;
}

export interface GuardedStore extends ClusterStore {
  readonly health: StoreHealth;
  /** Called for each operation: how long it took, and whether it was done. */
  onOperation: ((operation: string, ms: number, isDone: boolean) => void) | undefined;
}

/**
 * Bounds every wait for a store. After three failures in a row it is not asked for a second, so that callers do not wait
 * for it again and again. An operation that timed out may have been done.
 */
export function guardStore(store: ClusterStore, clock: Clock): GuardedStore {
  let failures = 0;
  let inRow = 0;
  let openUntil = 0;
  let latencyMs: number | undefined;
  let lastError: unknown;
  const guarded =
    <Args extends unknown[], Result>(
      name: string,
      ms: number,
      operation: (...args: Args) => Promise<Result>,
    ) =>
    async (...args: Args): Promise<Result> => {
      const began = clock.now();
      // A clock that was set back does not make the silence longer.
      if (inRow >= MAX_IN_ROW && began < openUntil && openUntil - began <= SILENT_MS) throw lastError;
      try {
        const result = await bounded(clock, ms, operation(...args));
        inRow = 0;
        latencyMs = clock.now() - began;
        self.onOperation?.(name, latencyMs, true);
        return result;
      } catch (error) {
        failures += 1;
        inRow += 1;
        lastError = error;
        if (inRow >= MAX_IN_ROW) openUntil = clock.now() + SILENT_MS;
        self.onOperation?.(name, clock.now() - began, false);
        throw error;
      }
    };
  const self: GuardedStore = {
    onOperation: undefined,
    get health() {
      return { isUp: inRow < MAX_IN_ROW, latencyMs, failures };
    },
    // A beat decides whether members are alive. A busy machine must not decide that.
    beat: guarded('beat', BEAT_MS, (beat) => store.beat(beat)),
    // A member that ends has no later chance, so this is tried also if the store has not answered lately.
    leave: (member) => bounded(clock, BEAT_MS, store.leave(member)),
    fence: guarded('fence', WAIT_MS, (member) => store.fence(member)),
    claim: guarded('claim', WAIT_MS, (key, claim) => store.claim(key, claim)),
    put: guarded('put', BEAT_MS, (key, record) => store.put(key, record)),
    touch: guarded('touch', BEAT_MS, (keys, ttlMs) => store.touch(keys, ttlMs)),
    release: guarded('release', BEAT_MS, (key, owner) => store.release(key, owner)),
    drop: guarded('drop', BEAT_MS, (key, owner) => store.drop(key, owner)),
    append: guarded('append', BEAT_MS, (key, entries, ttlMs) => store.append(key, entries, ttlMs)),
    read: guarded('read', WAIT_MS, (key) => store.read(key)),
    note: guarded('note', BEAT_MS, (key, value, ttlMs) => store.note(key, value, ttlMs)),
    recall: guarded('recall', WAIT_MS, (key) => store.recall(key)),
    take: guarded('take', WAIT_MS, (bucket, wanted, rate) => store.take(bucket, wanted, rate)),
    publish: guarded('publish', BEAT_MS, (channel, value) => store.publish(channel, value)),
    subscribe: (channel, onValue, onGap) => store.subscribe(channel, onValue, onGap),
    onBack: (callback) => store.onBack(callback),
    close: () => store.close(),
  };
  return self;
}

function bounded<T>(clock: Clock, ms: number, work: Promise<T>): Promise<T> {
  const { promise, resolve, reject } = createDeferred<T>();
  // An answer that has come counts, also if this process was too busy to read it.
  const late = () => setImmediate(() => reject(unavailable(`no answer within ${ms} ms`)));
  const callOff = clock.after(ms, late, { background: true });
  work.then(resolve, reject).finally(callOff);
  return promise;
}

function unavailable(why: string): IsthmusError {
  return new IsthmusError('TIMED_OUT', `The store of the cluster cannot be used: ${why}`);
}

/** Clients wait for these. */
const WAIT_MS = 250;
/** Only the cluster waits for these. */
const BEAT_MS = 1000;
const MAX_IN_ROW = 3;
const SILENT_MS = 1000;
