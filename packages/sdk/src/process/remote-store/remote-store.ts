import { createDeferred, type Deferred } from '../../async/deferred.js';
import { onStoreMessage, type StoreChannel, type StoreMessage } from './messages.js';

export interface RemoteStoreOptions<Operation extends string> {
  /** The name of the store on its channel. */
  readonly of: string;
  /** The methods of the store that the other process does. */
  readonly operations: readonly Operation[];
  readonly channel: StoreChannel;
  /** The error of operations that the other process cannot do. */
  readonly unavailable: (why: string) => Error;
}

export interface RemoteStore<Store, Operation extends keyof Store> {
  readonly operations: Pick<Store, Operation>;
  /** Hears the news about a key. Returns what ends it. */
  watch(key: string, onNews: (value: unknown) => void): () => void;
  close(): void;
}

/** A store that another process has. The other side is `serveRemoteStore`. */
export function remoteStore<Store, Operation extends keyof Store & string>({
  of,
  operations,
  channel,
  unavailable,
}: RemoteStoreOptions<Operation>): RemoteStore<Store, Operation> {
  const waiting = new Map<number, Deferred<unknown>>();
  const watchers = new Map<string, Set<(value: unknown) => void>>();
  let last = 0;
  let isClosed = false;

  const end = () => {
    isClosed = true;
    for (const each of waiting.values()) each.reject(unavailable('its process has ended'));
    waiting.clear();
    watchers.clear();
  };
  const send = (message: StoreMessage) => {
    if (!isClosed) channel.send(message);
  };
  const settle = (id: number): Deferred<unknown> | undefined => {
    const found = waiting.get(id);
    waiting.delete(id);
    return found;
  };
  channel.onClosed(end);
  onStoreMessage(channel, of, (message) => {
    if (message.kind === 'done') settle(message.id)?.resolve(message.result);
    else if (message.kind === 'failed') settle(message.id)?.reject(unavailable(message.why));
    else if (message.kind === 'news') {
      for (const onNews of [...(watchers.get(message.key) ?? [])]) onNews(message.value);
    }
  });
  const ask =
    (operation: Operation) =>
    async (...args: unknown[]): Promise<unknown> => {
      if (isClosed) throw unavailable('its process has ended');
      if (waiting.size >= MAX_WAITING) throw unavailable(`${MAX_WAITING} operations wait for an answer`);
      last += 1;
      const answer = createDeferred<unknown>();
      waiting.set(last, answer);
      send({ of, kind: 'do', id: last, operation, args });
      return await answer.promise;
    };
  return {
    operations: Object.fromEntries(operations.map((name) => [name, ask(name)])) as Pick<Store, Operation>,
    watch(key, onNews) {
      const known = watchers.get(key);
      const own = known ?? new Set();
      // Each watcher is an object of its own: one function may be given twice.
      const watcher = (value: unknown) => onNews(value);
      own.add(watcher);
      if (!known) {
        watchers.set(key, own);
        send({ of, kind: 'watch', key });
      }
      return () => {
        own.delete(watcher);
        if (own.size > 0 || watchers.get(key) !== own) return;
        watchers.delete(key);
        send({ of, kind: 'unwatch', key });
      };
    },
    close() {
      for (const key of watchers.keys()) send({ of, kind: 'unwatch', key });
      end();
    },
  };
}

/** Operations without an answer yet. What they hold is bounded where it comes from. */
const MAX_WAITING = 10_000;
