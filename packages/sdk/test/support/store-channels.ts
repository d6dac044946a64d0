import { MessageChannel } from 'node:worker_threads';
import { onTestFinished } from 'vitest';
import type { StoreChannel } from '../../src/process/remote-store/messages.js';

export type ClosableChannel = StoreChannel & { close(): void };

/** Two ends of a channel that copies what it carries, as one between processes does. */
export function storeChannels(): [ClosableChannel, ClosableChannel] {
  const { port1, port2 } = new MessageChannel();
  onTestFinished(() => port1.close());
  return [port1, port2].map((port) => ({
    send: (message: unknown) => port.postMessage(message),
    onMessage: (callback: (message: unknown) => void) => void port.on('message', callback),
    onClosed: (callback: () => void) => void port.on('close', callback),
    close: () => port.close(),
  })) as [ClosableChannel, ClosableChannel];
}
