import { connect } from 'node:net';
import type { Clock } from '@isthmus/sdk/internal/async/clock.js';
import type { CheckTarget } from '../wire/targets.js';

/** Notices when a server that others have started is not there any more. One that we start can be started again. */
export interface ServerWatch {
  /** What had ended the server, as a clause: `tools/call of reset`. Undefined as long as it is there. */
  readonly goneAfter: string | undefined;
  /** Looks whether it can still be reached, after something that was not answered. Says whether it is gone. */
  look(after: string): Promise<boolean>;
}

export function createServerWatch(target: CheckTarget, clock: Clock): ServerWatch {
  let goneAfter: string | undefined;
  let looking: Promise<boolean> | undefined;
  const isThere = async () => {
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
      looking ??= isThere().finally(() => {
        looking = undefined;
      });
      if (await looking) return false;
      goneAfter ??= after;
      return true;
    },
  };
}

/** A server that is started again by somebody is back by then. */
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
    // Whoever does not answer in time may be slow; only a refusal says that nothing listens there.
    const callOff = clock.after(CONNECT_MS, () => settle(true));
    const settle = (isThere: boolean) => {
      callOff();
      socket.destroy();
      resolve(isThere);
    };
    // The system takes connections for a process that is about to end: only an answer shows that it is there.
    socket.once('connect', () => {
      if (protocol === 'https:') settle(true);
      else socket.write(`OPTIONS * HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);
    });
    socket.once('data', () => settle(true));
    socket.once('close', () => settle(false));
    socket.once('error', () => settle(false));
  });
}
