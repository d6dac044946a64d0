import type { Peer } from './call.js';
import { clientKey } from './client-key.js';

/** Whom a limit counts a request for. Limits are fair between clients, and inside one client between its sessions. */
export interface Origin {
  /** The client, as `clientKey` names it. */
  readonly who: string;
  /** Which legacy session of it; undefined for requests that belong to no session. Compared by identity. */
  readonly part: unknown;
}

export function originOf(peer: Peer): Origin {
  // All calls of a legacy session have the same peer object. Modern requests have nothing that tells them apart.
  return { who: clientKey(peer), part: peer.era === 'legacy' ? peer : undefined };
}
