import { messageOf } from '../../errors.js';
import { onStoreMessage, type StoreChannel } from './messages.js';

export interface ServeRemoteStoreOptions<Store, Operation extends keyof Store & string> {
  readonly of: string;
  readonly operations: readonly Operation[];
  readonly store: Store;
  readonly channel: StoreChannel;
  /** Calls back with the news about a key. Returns what ends it. */
  readonly watch: (key: string, onNews: (value?: unknown) => void) => () => void;
  /** Before an operation of the other process is done. */
  readonly onOperation?: (operation: Operation, args: readonly unknown[]) => void;
}

/** Does what another process asks of a store. The other side is `remoteStore`. Returns what ends its watches. */
export function serveRemoteStore<Store, Operation extends keyof Store & string>({
  of,
  operations,
  store,
  channel,
  watch,
  onOperation,
}: ServeRemoteStoreOptions<Store, Operation>): () => void {
  const watches = new Map<string, () => void>();
  const perform = async (id: number, name: string, args: readonly unknown[]) => {
    try {
      const operation = operations.find((each) => each === name);
      if (operation === undefined) throw new Error(`there is no operation ${name}`);
      onOperation?.(operation, args);
      const method = store[operation] as (...all: readonly unknown[]) => Promise<unknown>;
      channel.send({ of, kind: 'done', id, result: await method.apply(store, args as unknown[]) });
    } catch (error) {
      channel.send({ of, kind: 'failed', id, why: messageOf(error) });
    }
  };
  const unwatch = (key: string) => {
    watches.get(key)?.();
    watches.delete(key);
  };
  const close = () => {
    for (const key of [...watches.keys()]) unwatch(key);
  };
  channel.onClosed(close);
  onStoreMessage(channel, of, (message) => {
    if (message.kind === 'do') return void perform(message.id, message.operation, message.args);
    if (message.kind === 'unwatch') return unwatch(message.key);
    if (message.kind !== 'watch') return;
    const { key } = message;
    unwatch(key);
    watches.set(
      key,
      watch(key, (value) => channel.send({ of, kind: 'news', key, value })),
    );
  });
  return close;
}
