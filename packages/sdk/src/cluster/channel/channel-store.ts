import { createDeferred, type Deferred } from '../../async/deferred.js';
import { IsthmusError } from '../../errors.js';
import type { ClusterStore } from '../store.js';
import type { StoreChannel, StoreMessage, StoreOperation } from './store-messages.js';

/** The store of another process, over a channel to it. The other side is `serveStore`. */
export function channelStore(channel: StoreChannel): ClusterStore {
  const waiting = new Map<number, Deferred<unknown>>();
  const listeners = new Map<string, Set<(value: Uint8Array) => void>>();
  let last = 0;
  let isClosed = false;

  const close = () => {
    isClosed = true;
    for (const each of waiting.values()) each.reject(away('its process has ended'));
    waiting.clear();
    listeners.clear();
  };
  const send = (message: StoreMessage) => {
    if (!isClosed) channel.send(message);
  };
  const settle = (id: number): Deferred<unknown> | undefined => {
    const found = waiting.get(id);
    waiting.delete(id);
    return found;
  };
  channel.onClosed(close);
  channel.onMessage((message) => {
    if (message.kind === 'done') settle(message.id)?.resolve(message.result);
    else if (message.kind === 'failed') settle(message.id)?.reject(away(message.why));
    else if (message.kind === 'news') {
      for (const onValue of [...(listeners.get(message.channel) ?? [])]) onValue(message.value);
    }
  });

  const ask =
    <Name extends StoreOperation>(operation: Name) =>
    async (...args: Parameters<ClusterStore[Name]>): Promise<Awaited<ReturnType<ClusterStore[Name]>>> => {
      if (isClosed) throw away('its process has ended');
      if (waiting.size >= MAX_WAITING) throw away(`${MAX_WAITING} operations wait for an answer`);
      last += 1;
      const answer = createDeferred<unknown>();
      waiting.set(last, answer);
      send({ of: 'store', kind: 'do', id: last, operation, args });
      return (await answer.promise) as Awaited<ReturnType<ClusterStore[Name]>>;
    };
  return {
    beat: ask('beat'),
    leave: ask('leave'),
    fence: ask('fence'),
    claim: ask('claim'),
    put: ask('put'),
    touch: ask('touch'),
    release: ask('release'),
    drop: ask('drop'),
    append: ask('append'),
    read: ask('read'),
    note: ask('note'),
    recall: ask('recall'),
    take: ask('take'),
    publish: ask('publish'),
    subscribe(name, onValue) {
      const known = listeners.get(name);
      const own = known ?? new Set();
      // Each subscription is an object of its own: one function may be given twice.
      const listener = (value: Uint8Array) => onValue(value);
      own.add(listener);
      if (!known) {
        listeners.set(name, own);
        send({ of: 'store', kind: 'subscribe', channel: name });
      }
      return () => {
        own.delete(listener);
        if (own.size > 0 || listeners.get(name) !== own) return;
        listeners.delete(name);
        send({ of: 'store', kind: 'unsubscribe', channel: name });
      };
    },
    /** It never comes back: when the other process ends, so does this one. */
    onBack() {},
    async close() {
      close();
    },
  };
}

function away(why: string): IsthmusError {
  return new IsthmusError('ADDRESS_UNAVAILABLE', `The store of the cluster cannot be used: ${why}`);
}

/** Operations without an answer yet. What they hold is bounded where it comes from. */
const MAX_WAITING = 10_000;
