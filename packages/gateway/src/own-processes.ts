import { NOBODY } from '@isthmus/sdk/internal/host/host-upstream.js';
import type { ServerStatus } from '@isthmus/sdk/internal/host/status.js';
import { summarize } from '@isthmus/sdk/internal/host/summarize.js';

/** Who wants to use a server. */
export interface StatusViewer {
  readonly principal: string | undefined;
}

/**
 * The status of a server as it concerns one caller. Where each principal has a process, the process of another one
 * that does not start says nothing about this one's. Undefined: nothing is known that concerns this caller.
 */
export function statusFor(
  status: ServerStatus | undefined,
  asker: StatusViewer | undefined,
): ServerStatus | undefined {
  if (!status?.enabled || (status.model !== 'per-principal' && status.model !== 'per-conversation')) {
    return status;
  }
  // A process of a conversation is not known by the principal that it belongs to.
  if (!asker || status.model === 'per-conversation') return undefined;
  const owner = asker.principal ?? NOBODY;
  const processes = status.processes.filter((each) => each.owner === owner);
  const [only] = processes;
  if (!only) return undefined;
  const { name, enabled, model, conversations, maxParked } = status;
  const { lastExit } = only;
  return summarize(processes, { name, enabled, model, conversations, maxParked, lastExit, waiting: 0 });
}
