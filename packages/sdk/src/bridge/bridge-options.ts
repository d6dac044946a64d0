import type { Clock } from '../async/clock.js';
import { given, type ServerSpec } from '../config/server-spec.js';
import type { TaskOptions } from '../server/tasks/options.js';

/** How a bridge serves its clients: who shares a session with the upstream, and the limits. */
export interface BridgeOptions {
  /**
   * The server keeps no state for its clients, so that clients of different principals may share a process. Default
   * false: they never do.
   */
  readonly stateless?: boolean;
  /** Timeout of one call. The time while a client is being asked does not count. Default 10 min. */
  readonly timeoutMs?: number;
  /** Total timeout of a call that reports progress. Default 24 h. */
  readonly maxTimeoutMs?: number;
  /**
   * The limit of sessions with the server. Default: no limit for legacy sessions of clients; for conversations that
   * modern clients name, 10,000 in a shared process, or 1,000 with a process each.
   */
  readonly maxUpstreamSessions?: number;
  /** A session without a call for this time is closed; the next call opens a new one. Default 10 min. */
  readonly idleMs?: number;
  /**
   * A call of a tool that runs longer than this becomes a task, if the client takes tasks: it polls for the result, and no
   * time limit of the client or of a proxy ends the call. Works with servers that have no tasks. Default: never.
   */
  readonly promoteAfterMs?: number;
  /** How tasks of clients are kept. */
  readonly tasks?: TaskOptions;
  /** Called with the reason for each failed attempt to connect before the first success. */
  readonly onStartFailed?: (error: unknown) => void;
  /** Removes secrets from errors of the connection that clients get. */
  readonly clean?: (text: string) => string;
  readonly clock?: Clock;
}

/** The bridge options in a spec. `idleMs` of a command is for the host, which ends idle processes. */
export function bridgeOptionsOf(
  spec: ServerSpec,
): Pick<BridgeOptions, 'stateless' | 'timeoutMs' | 'idleMs' | 'promoteAfterMs'> {
  const { kind, stateless = false, timeoutMs, idleMs, promoteAfterMs } = spec;
  const sessionIdleMs = kind === 'command' ? undefined : idleMs === false ? LONGEST_TIMER_MS : idleMs;
  return { stateless, ...given({ timeoutMs, promoteAfterMs, idleMs: sessionIdleMs }) };
}

const LONGEST_TIMER_MS = 2 ** 31 - 1;
