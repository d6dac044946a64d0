import type { StoreChannel } from '../../process/remote-store/messages.js';
import { serveRemoteStore } from '../../process/remote-store/serve-remote-store.js';
import type { Beat, ClusterStore } from '../store.js';
import { STORE, STORE_OPERATIONS } from './channel-store.js';

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
  const close = serveRemoteStore({
    of: STORE,
    operations: STORE_OPERATIONS,
    store,
    channel,
    watch: (name, onNews) => store.subscribe(name, onNews, () => {}),
    onOperation(operation, args) {
      if (operation === 'beat') members.add((args[0] as Beat).member);
    },
  });
  return { members, close };
}
