import { NO_PRINCIPAL } from '@isthmus/sdk/internal/host/host-upstream.js';
import { describeUnread, UNREAD_IS_UNREADY_MS } from '@isthmus/sdk/internal/host/process/health.js';
import { type ServerStatus, summarize } from '@isthmus/sdk/internal/host/status.js';
import type { ClusterStatus } from './cluster/cluster-status.js';
import type { PersonalLoginStatus } from './personal/personal-logins.js';
import type { WorkerStatus } from './workers/merge-status.js';

export interface GatewayServerState {
  readonly state: GatewayServerStatus['state'];
  readonly reason: string | undefined;
}

/** The state of a server, from that of its processes. Only the current process of each counts. */
export function stateOfProcesses(status: ServerStatus | undefined): GatewayServerState {
  // The configuration does not have it any more.
  if (!status) return { state: 'off', reason: undefined };
  const { enabled, state, ready, lastExit, processes } = status;
  if (!enabled) return { state: 'off', reason: undefined };
  const last = lastExit?.reason;
  const hasLived = processes.some(
    ({ receipt, restarts, startFailed }) => receipt || (restarts > 0 && !startFailed),
  );
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
      // A server that has answered before is back in a moment. One that never did needs attention.
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

/** Whether it is being started after an attempt that failed, so that clients should not wait for it. */
export function isTriedAgain({ state, processes }: Pick<ServerStatus, 'state' | 'processes'>): boolean {
  if (state !== 'starting') return false;
  return processes.every((each) => each.state !== 'starting' || each.startFailed);
}

/** Whether no problem with it is known. */
export function isHealthy({ state }: Pick<GatewayServerState, 'state'>): boolean {
  return state === 'ready' || state === 'asleep';
}

/** A server that the gateway needs and does not have. */
export interface UnreadyServer {
  readonly name: string;
  /** The operator has to log in. */
  readonly needsLogin: boolean;
}

/** The caller that a status is read for. */
export interface StatusViewer {
  readonly principal: string | undefined;
}

/**
 * The part of a server's status that concerns one caller. Where each principal has its own process, a process of
 * another principal that does not start says nothing about this caller's. Undefined: nothing that concerns this caller
 * is known.
 */
export function statusFor(
  status: ServerStatus | undefined,
  viewer: StatusViewer | undefined,
): ServerStatus | undefined {
  if (!status?.enabled || (status.model !== 'per-principal' && status.model !== 'per-conversation')) {
    return status;
  }
  // The host does not record which principal the process of a conversation belongs to.
  if (!viewer || status.model === 'per-conversation') return undefined;
  const owner = viewer.principal ?? NO_PRINCIPAL;
  const processes = status.processes.filter((each) => each.owner === owner);
  const [only] = processes;
  if (!only) return undefined;
  const { name, enabled, model, conversations, maxParked } = status;
  const { lastExit } = only;
  return summarize(processes, { name, enabled, model, conversations, maxParked, lastExit, waiting: 0 });
}

/** The status of a gateway, for `/status` and the control socket. It has no secrets: no environment, no headers. */
export interface GatewayStatus {
  readonly pid: number;
  readonly version: string;
  /** ISO 8601. */
  readonly startedAt: string;
  /** The addresses it listens on. */
  readonly listening: readonly string[];
  /** Whether all needed servers are ready. */
  readonly ready: boolean;
  /** In the order of the configuration. */
  readonly servers: Readonly<Record<string, GatewayServerStatus>>;
  /** Why the current configuration file is rejected. */
  readonly configProblem: string | undefined;
  /** Set if the gateway is one of several that serve as one. */
  readonly cluster?: ClusterStatus;
  /** Set if several processes serve the addresses: what `isthmus serve --workers` has started. */
  readonly workers?: readonly WorkerStatus[];
}

/** The status of one server. */
export interface GatewayServerStatus {
  readonly name: string;
  readonly kind: 'command' | 'url';
  /** Whether `/readyz` waits for it. */
  readonly needed: boolean;
  /**
   * - `ready`: the current process (or the remote server) has answered, and no failure is known since.
   * - `starting`, `restarting`: not yet, or not again.
   * - `asleep`: not started yet; the first call starts it.
   * - `failed`: it could not be started, crashed too often, or does not read; `reason` says why.
   * - `needs-login`: the remote server wants a login, and there is none that it accepts; `reason` says how to log in.
   * - `off`: switched off.
   */
  readonly state: 'ready' | 'starting' | 'restarting' | 'asleep' | 'failed' | 'needs-login' | 'off';
  readonly reason: string | undefined;
  readonly era: 'legacy' | 'modern' | undefined;
  /** How the era was found. */
  readonly evidence: string | undefined;
  readonly server: { readonly name: string; readonly version: string } | undefined;
  readonly paths: readonly string[];
  /** Its processes, with the receipts of the current ones. */
  readonly processes: ServerStatus | undefined;
  /** The logins of the most recent callers, where each caller has its own. */
  readonly logins?: readonly PersonalLoginStatus[] | undefined;
}
