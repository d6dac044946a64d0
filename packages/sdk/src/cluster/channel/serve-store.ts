import { messageOf } from '../../errors.js';
import type { Beat, ClusterStore } from '../store.js';
import { STORE_OPERATIONS, type StoreChannel, type StoreMessage } from './store-messages.js';

/** A store as one other process uses it. */
export interface ServedStore {
  /** The members that the other process has been: each beats with its id. */
  readonly members: ReadonlySet<string>;
  /** Ends the subscriptions of the other process. */
  close(): void;
}

/** Does what another process asks of a store. The other side is `channelStore`. */
export function serveStore(store: ClusterStore, channel: StoreChannel): ServedStore {
  const members = new Set<string>();
  const subscriptions = new Map<string, () => void>();
  const close = () => {
    for (const stop of subscriptions.values()) stop();
    subscriptions.clear();
  };
  const perform = async ({ id, operation, args }: Extract<StoreMessage, { kind: 'do' }>) => {
    try {
      if (!STORE_OPERATIONS.includes(operation)) throw new Error(`there is no operation ${operation}`);
      if (operation === 'beat') members.add((args[0] as Beat).member);
      const method = store[operation] as (...all: readonly unknown[]) => Promise<unknown>;
      const result = await method.apply(store, args as unknown[]);
      channel.send({ of: 'store', kind: 'done', id, result });
    } catch (error) {
      channel.send({ of: 'store', kind: 'failed', id, why: messageOf(error) });
    }
  };
  channel.onClosed(close);
  channel.onMessage((message) => {
    switch (message.kind) {
      case 'do':
        return void perform(message);
      case 'subscribe': {
        const { channel: name } = message;
        const onValue = (value: Uint8Array) =>
          channel.send({ of: 'store', kind: 'news', channel: name, value });
        subscriptions.get(name)?.();
        subscriptions.set(
          name,
          store.subscribe(name, onValue, () => {}),
        );
        return;
      }
      case 'unsubscribe':
        subscriptions.get(message.channel)?.();
        subscriptions.delete(message.channel);
    }
  });
  return { members, close };
}
