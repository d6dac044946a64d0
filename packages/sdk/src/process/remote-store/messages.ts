/** What the two sides of a store say to each other. `of` names the store: one channel carries several. */
export type StoreMessage =
  | {
      readonly of: string;
      readonly kind: 'do';
      readonly id: number;
      readonly operation: string;
      readonly args: readonly unknown[];
    }
  | { readonly of: string; readonly kind: 'done'; readonly id: number; readonly result: unknown }
  | { readonly of: string; readonly kind: 'failed'; readonly id: number; readonly why: string }
  | { readonly of: string; readonly kind: 'watch' | 'unwatch'; readonly key: string }
  | { readonly of: string; readonly kind: 'news'; readonly key: string; readonly value?: unknown };

/** Carries values between two processes, bytes included. `process.send` with `serialization: 'advanced'` does. */
export interface StoreChannel {
  send(message: StoreMessage): void;
  /** May pass on messages of others, too: each side reads those of its own store. */
  onMessage(callback: (message: unknown) => void): void;
  onClosed(callback: () => void): void;
}

/** Calls back with the messages of one store. */
export function onStoreMessage(
  channel: StoreChannel,
  of: string,
  callback: (message: StoreMessage) => void,
): void {
  channel.onMessage((message) => {
    if (typeof message !== 'object' || message === null) return;
    if ((message as StoreMessage).of === of) callback(message as StoreMessage);
  });
}
