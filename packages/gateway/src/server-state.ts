import { describeUnread, UNREAD_IS_UNREADY_MS } from '@isthmus/sdk/internal/host/reading-watch.js';
import type { ServerStatus } from '@isthmus/sdk/internal/host/status.js';
import type { GatewayServerStatus } from './status.js';

export interface GatewayServerState {
  readonly state: GatewayServerStatus['state'];
  readonly reason: string | undefined;
}

/** What can be said of a server from what is known of its processes. Only the current one counts. */
export function stateOfProcesses(status: ServerStatus | undefined): GatewayServerState {
  // It was taken out of the configuration.
  if (!status) return { state: 'off', reason: undefined };
  const { enabled, state, ready, lastExit, processes } = status;
  if (!enabled) return { state: 'off', reason: undefined };
  const last = lastExit?.reason;
  const hasLived = processes.some(({ receipt, restarts }) => receipt || restarts > 0);
  switch (state) {
    case 'ready': {
      if (ready) return { state: 'ready', reason: undefined };
      const unread = processes.find((each) => (each.unread?.ms ?? 0) >= UNREAD_IS_UNREADY_MS)?.unread;
      if (unread) return { state: 'failed', reason: describeUnread(unread) };
      const listError = processes.find(({ receipt }) => receipt?.listError !== undefined)?.receipt?.listError;
      if (listError === undefined)
        return { state: 'starting', reason: 'it has yet to answer its first list' };
      return { state: 'failed', reason: `its first list failed: ${listError}` };
    }
    case 'starting':
      return hasLived || lastExit?.phase === 'run'
        ? { state: 'restarting', reason: last }
        : { state: 'starting', reason: last };
    case 'draining':
      return { state: 'restarting', reason: 'it is being replaced' };
    case 'backing-off':
      // One that has answered before comes back in a moment; one that never did is in trouble.
      return { state: !lastExit || lastExit.phase === 'run' ? 'restarting' : 'failed', reason: last };
    case 'crash-loop':
      return { state: 'failed', reason: last };
    case 'idle':
      return lastExit?.phase === 'start'
        ? { state: 'failed', reason: last }
        : { state: 'asleep', reason: undefined };
    case 'stopped':
      return { state: 'off', reason: undefined };
  }
}

/** It is being started, and the attempt before this one failed: nobody should count on it. */
export function isTriedAgain({ state, processes }: Pick<ServerStatus, 'state' | 'processes'>): boolean {
  if (state !== 'starting') return false;
  return processes.every((each) => each.state !== 'starting' || each.startFailed);
}

/** Nothing is wrong with it, as far as anybody knows. */
export function isHealthy({ state }: Pick<GatewayServerState, 'state'>): boolean {
  return state === 'ready' || state === 'asleep';
}
