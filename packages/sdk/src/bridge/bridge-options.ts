import type { Clock } from '../async/clock.js';
import { given, type ServerSpec } from '../config/server-spec.js';

export interface BridgeOptions {
  /**
   * The server keeps nothing for its clients: callers of different principals may share a process of it. Default
   * false: they never do.
   */
  readonly stateless?: boolean;
  /** How long the server may take over one call; not counted while a client is being asked. Default 10 min. */
  readonly timeoutMs?: number;
  /** The same, in all, for a call that reports progress. Default 24 h. */
  readonly maxTimeoutMs?: number;
  /**
   * How many clients and principals may have a session with the server at once. Default: as many as there are legacy
   * sessions, and for conversations that modern callers name 10,000 in a shared process or 1,000 of their own.
   */
  readonly maxSeats?: number;
  /** A session that no call uses for so long is closed; the next call opens another. Default 10 min. */
  readonly idleMs?: number;
  /** Called with the reason for each failed attempt to connect before the first success. */
  readonly onStartFailed?: (error: unknown) => void;
  /** Removes secrets from errors of the connection that clients get. */
  readonly clean?: (text: string) => string;
  readonly clock?: Clock;
}

/** What a bridge needs to know of its server. The host ends idle processes; the bridge ends idle sessions with a URL. */
export function bridgeOptionsOf(spec: ServerSpec): Pick<BridgeOptions, 'stateless' | 'timeoutMs' | 'idleMs'> {
  const { kind, stateless = false, timeoutMs, idleMs } = spec;
  const sessionIdleMs = kind === 'command' ? undefined : idleMs === false ? LONGEST_TIMER_MS : idleMs;
  return { stateless, ...given({ timeoutMs, idleMs: sessionIdleMs }) };
}

const LONGEST_TIMER_MS = 2 ** 31 - 1;
