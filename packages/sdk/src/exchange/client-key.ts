import { isIPv6 } from 'node:net';
import type { Peer } from './call.js';

/** Who sends a request, as far as the transport knows. */
export interface Sender {
  /** The authenticated principal. */
  readonly principal: string | undefined;
  /** The address that the request came from, where nobody is authenticated and the transport has addresses. */
  readonly remote?: string | undefined;
}

/**
 * The name under which fair limits count a sender: its principal, otherwise its address. What a client says about
 * itself is not used, since a client could then have as many names as it likes. An IPv6 host usually has a whole /64
 * network, so its addresses count as one. Senders without an address (memory, stdio) count as one sender.
 */
export function clientKey({ principal, remote }: Sender): string {
  if (principal !== undefined) return `principal ${principal}`;
  return remote === undefined ? UNKNOWN_CLIENT : `address ${network(remote)}`;
}

/** Senders of which the transport knows nothing. */
export const UNKNOWN_CLIENT = 'local';

function network(address: string): string {
  // IPv4 on a socket that takes both families.
  const plain = address.startsWith('::ffff:') ? address.slice('::ffff:'.length) : address;
  const [bare = plain] = plain.split('%');
  if (!isIPv6(bare)) return bare;
  const [head = '', tail] = bare.split('::');
  const before = head === '' ? [] : head.split(':');
  const after = tail ? tail.split(':') : [];
  const zeros = tail === undefined ? 0 : Math.max(0, 8 - before.length - after.length);
  const groups = [...before, ...Array<string>(zeros).fill('0'), ...after];
  return bare === '::1' ? bare : `${groups.slice(0, 4).join(':')}::/64`;
}

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
