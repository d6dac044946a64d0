import type { ClusterStore } from '../store.js';

/** Carries values between two processes, bytes included. `process.send` with `serialization: 'advanced'` does. */
export interface StoreChannel {
  /** Returns false or throws where the other side is gone. */
  send(message: StoreMessage): void;
  onMessage(callback: (message: StoreMessage) => void): void;
  onClosed(callback: () => void): void;
}

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

export type StoreOperation = (typeof STORE_OPERATIONS)[number];

/** What the two sides say to each other. `of` keeps it apart from other messages of the same channel. */
export type StoreMessage =
  | {
      readonly of: 'store';
      readonly kind: 'do';
      readonly id: number;
      readonly operation: StoreOperation;
      readonly args: readonly unknown[];
    }
  | { readonly of: 'store'; readonly kind: 'done'; readonly id: number; readonly result: unknown }
  | { readonly of: 'store'; readonly kind: 'failed'; readonly id: number; readonly why: string }
  | { readonly of: 'store'; readonly kind: 'subscribe' | 'unsubscribe'; readonly channel: string }
  | { readonly of: 'store'; readonly kind: 'news'; readonly channel: string; readonly value: Uint8Array };

export function isStoreMessage(message: unknown): message is StoreMessage {
  return typeof message === 'object' && message !== null && (message as { of?: unknown }).of === 'store';
}
