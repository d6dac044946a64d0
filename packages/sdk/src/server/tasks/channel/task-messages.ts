import type { TaskStore } from '../store.js';

/** Carries messages about tasks between two processes. */
export interface TaskStoreChannel {
  send(message: TaskStoreMessage): void;
  onMessage(callback: (message: TaskStoreMessage) => void): void;
  onClosed(callback: () => void): void;
}

/** The operations that are answered. Each is a method of the store with the same arguments. */
export const TASK_OPERATIONS = [
  'create',
  'get',
  'replace',
  'list',
  'beat',
  'isAlive',
  'review',
] as const satisfies readonly (keyof TaskStore)[];

export type TaskOperation = (typeof TASK_OPERATIONS)[number];

/** What the two sides say to each other. `of` keeps it apart from other messages of the same channel. */
export type TaskStoreMessage =
  | {
      readonly of: 'tasks';
      readonly kind: 'do';
      readonly id: number;
      readonly operation: TaskOperation;
      readonly args: readonly unknown[];
    }
  | { readonly of: 'tasks'; readonly kind: 'done'; readonly id: number; readonly result: unknown }
  | { readonly of: 'tasks'; readonly kind: 'failed'; readonly id: number; readonly why: string }
  | { readonly of: 'tasks'; readonly kind: 'watch' | 'unwatch' | 'changed'; readonly task: string };

export function isTaskStoreMessage(message: unknown): message is TaskStoreMessage {
  return typeof message === 'object' && message !== null && (message as { of?: unknown }).of === 'tasks';
}
