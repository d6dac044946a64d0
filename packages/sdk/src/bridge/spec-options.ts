import { given, type ServerSpec } from '../config/server-spec.js';
import type { BridgeOptions } from './create-bridge.js';

/** What a bridge needs to know of its server. The host ends idle processes; the bridge ends idle sessions with a URL. */
export function bridgeOptionsOf(spec: ServerSpec): Pick<BridgeOptions, 'stateless' | 'timeoutMs' | 'idleMs'> {
  const { kind, stateless = false, timeoutMs, idleMs } = spec;
  const sessionIdleMs = kind === 'command' ? undefined : idleMs === false ? LONGEST_TIMER_MS : idleMs;
  return { stateless, ...given({ timeoutMs, idleMs: sessionIdleMs }) };
}

const LONGEST_TIMER_MS = 2 ** 31 - 1;
