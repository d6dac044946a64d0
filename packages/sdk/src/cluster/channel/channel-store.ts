import { IsthmusError } from '../../errors.js';
import type { StoreChannel } from '../../process/remote-store/messages.js';
import { remoteStore } from '../../process/remote-store/remote-store.js';
import type { ClusterStore } from '../store.js';

/** The store of another process, over a channel to it. The other side is `serveStore`. */
export function channelStore(channel: StoreChannel): ClusterStore {
  const remote = remoteStore<ClusterStore, StoreOperation>({
    of: STORE,
    operations: STORE_OPERATIONS,
    channel,
    unavailable: (why) =>
      new IsthmusError('ADDRESS_UNAVAILABLE', `The store of the cluster cannot be used: ${why}`),
  });
  return {
    ...remote.operations,
    subscribe: (name, onValue) => remote.watch(name, (value) => onValue(value as Uint8Array)),
    /** It never comes back: when the other process ends, so does this one. */
    onBack() {},
    async close() {
      remote.close();
    },
  };
}

/** The name of the store on its channel. */
export const STORE = 'store';

/** The operations that are answered. Each is a method of the store with the same arguments. */
export const STORE_OPERATIONS = [
  'beat',
  'leave',
  'fence',
  'claim',
  'put',
  'touch',
  'release',
  'drop',
  'append',
  'read',
  'note',
  'recall',
  'take',
  'publish',
] as const satisfies readonly (keyof ClusterStore)[];

type StoreOperation = (typeof STORE_OPERATIONS)[number];
