import { createServer, type Socket } from 'node:net';
import { type Clock, systemClock, within } from '@isthmus/sdk/internal/async/clock.js';
import { type AttachHandler, type ControlConversation, startConversation } from './control-conversation.js';
import type { Controlled } from './controlled.js';
import { listenPrivately } from './private-socket.js';

export interface OpenControlOptions {
  /** Of the socket, for example from `controlPath(name)`; its folder must be this user's, and nobody else's to write to. */
  readonly path: string;
  /** Takes over the connections of those who attach. Without it, attaching is refused. */
  readonly onAttach?: AttachHandler;
  /** Connections beyond this are closed at once. Default 256; those that were handed over count as well. */
  readonly maxConnections?: number;
  readonly clock?: Clock;
}

export interface Control {
  readonly path: string;
  /** Ends what is followed, lets what was asked finish for a moment, and removes the socket. */
  close(): Promise<void>;
}

/** Lets the gateway be controlled through a private socket, by commands of the same user. */
export async function openControl(controlled: Controlled, options: OpenControlOptions): Promise<Control> {
  const { path, onAttach, maxConnections = 256, clock = systemClock } = options;
  const conversations = new Set<ControlConversation>();
  const server = createServer({ allowHalfOpen: true }, (socket: Socket) => {
    const conversation = startConversation(socket, controlled, onAttach);
    conversations.add(conversation);
    void conversation.ended.then(() => conversations.delete(conversation));
  });
  server.maxConnections = maxConnections;
  await listenPrivately(server, path);
  // Accepting can fail for a moment (no file descriptors left); the socket outlives that.
  server.on('error', () => {});
  let closing: Promise<void> | undefined;
  const close = async () => {
    server.close();
    const open = [...conversations];
    for (const each of open) each.finish();
    await within(clock, GRACE_MS, Promise.all(open.map(({ ended }) => ended)));
    for (const each of open) each.destroy();
  };
  return {
    path,
    close: () => {
      closing ??= close();
      return closing;
    },
  };
}

const GRACE_MS = 1000;
