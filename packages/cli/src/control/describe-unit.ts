import type { GatewayServerStatus } from '@isthmus/gateway/internal/server-state.js';
import type { ProcessStatus } from '@isthmus/sdk/internal/host/status.js';
import { oneLine } from '../terminal/text.js';

/** Nothing is wrong with it: it can be used, or nobody wants to. */
export function isWell({ state }: Pick<GatewayServerStatus, 'state'>): boolean {
  return state === 'ready' || state === 'asleep';
}

/** Why a server is in its state, in plain words; nothing where the state says it all. */
export function whyOf({ name, state, reason, processes }: GatewayServerStatus, now: number): string {
  if (state === 'off') return 'it was stopped, or is disabled in the configuration';
  if (state === 'asleep') return 'the first call starts it';
  const next = processes?.processes.find(({ nextAttemptAt }) => nextAttemptAt !== undefined)?.nextAttemptAt;
  const then = next === undefined ? '' : `; it is started again ${inTime(next - now)}`;
  const stopped = processes?.processes.some(({ facts }) => facts?.stopped)
    ? 'its process is stopped (SIGSTOP?)'
    : '';
  // Most reasons begin with the name, and here it is known whom they are about.
  const said = oneLine(reason ?? stopped);
  return `${said.startsWith(`${name} `) ? said.slice(name.length + 1) : said}${then}`.replace(/^; /, '');
}

/** The process that counts, where there are several. */
export function mainProcess({ processes }: GatewayServerStatus): ProcessStatus | undefined {
  const all = processes?.processes ?? [];
  return all.find(({ state }) => state === 'ready') ?? all.find(({ pid }) => pid !== undefined) ?? all[0];
}

export function describeDuration(ms: number | undefined): string {
  if (ms === undefined || !(ms >= 0)) return '';
  const seconds = Math.floor(ms / 1000);
  if (seconds < 60) return `${seconds}s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes}m${String(seconds % 60).padStart(2, '0')}s`;
  const hours = Math.floor(minutes / 60);
  if (hours < 48) return `${hours}h${String(minutes % 60).padStart(2, '0')}m`;
  return `${Math.floor(hours / 24)}d${String(hours % 24).padStart(2, '0')}h`;
}

export function describeBytes(bytes: number | undefined): string {
  if (bytes === undefined) return '';
  const megabytes = bytes / (1024 * 1024);
  return megabytes < 1024 ? `${Math.round(megabytes)} MB` : `${(megabytes / 1024).toFixed(1)} GB`;
}

function inTime(ms: number): string {
  return ms < 1000 ? 'at once' : `in ${describeDuration(ms)}`;
}
