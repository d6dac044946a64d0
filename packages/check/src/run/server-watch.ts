import { connect } from 'node:net';
import type { Clock } from '@isthmus/sdk/internal/async/clock.js';
import type { CheckTarget } from '../wire/targets.js';

/** Notices when a server that was not started by this program is gone. A command can be started again. */
export interface ServerWatch {
  /** What ended the server, as a clause: `tools/call of reset`. Undefined while it can be reached. */
  readonly goneAfter: string | undefined;
  /** Checks whether it can still be reached, after something was not answered. Returns whether it is gone. */
  look(after: string): Promise<boolean>;
}

export function createServerWatch(target: CheckTarget, clock: Clock): ServerWatch {
  let goneAfter: string | undefined;
  let looking: Promise<boolean> | undefined;
  const isReachable = async () => {
    for (let tries = 0; tries < TRIES; tries += 1) {
      if (await canReach(target, clock)) return true;
      await new Promise<void>((resolve) => void clock.after(AGAIN_MS, resolve));
    }
    return false;
  };
  return {
    get goneAfter() {
      return goneAfter;
    },
    async look(after) {
      if (target.transport === 'command') return false;
      if (goneAfter !== undefined) return true;
      looking ??= isReachable().finally(() => {
        looking = undefined;
      });
      if (await looking) return false;
      goneAfter ??= after;
      return true;
    },
  };
}

/** A server that a supervisor restarts is back by then. */
const TRIES = 4;
const AGAIN_MS = 400;
const CONNECT_MS = 5000;

async function canReach(target: CheckTarget, clock: Clock): Promise<boolean> {
  if (target.transport !== 'http') {
    try {
      await (await target.open()).close();
      return true;
    } catch {
      return false;
    }
  }
  const { hostname, port, protocol } = target.url;
  const host = hostname.replace(/^\[|\]$/g, '');
  return new Promise((resolve) => {
    const socket = connect({ host, port: Number(port || (protocol === 'https:' ? 443 : 80)) });
    // A server that does not answer in time may be slow. Only a refusal shows that nothing listens.
    const cancelTimeout = clock.after(CONNECT_MS, () => settle(true));
    const settle = (isReachable: boolean) => {
      cancelTimeout();
      socket.destroy();
      resolve(isReachable);
    };
    // The system accepts connections for a process that is about to end. Only an answer shows that it runs.
    socket.once('connect', () => {
      if (protocol === 'https:') settle(true);
      else socket.write(`OPTIONS * HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);
    });
    socket.once('data', () => settle(true));
    socket.once('close', () => settle(false));
    socket.once('error', () => settle(false));
  });
}
