import { isIPv6 } from 'node:net';
import type { Peer } from './call.js';

/** The sender of a request, as the transport knows it. */
interface Sender {
  /** The authenticated principal. */
  readonly principal: string | undefined;
  /** The address that the request came from, if the transport has addresses. */
  readonly remote?: string | undefined;
}

/**
 * The key under which fair limits count a sender: its principal, otherwise its address. What a client declares about
 * itself is not used, since a client could then have any number of keys. An IPv6 host usually has a whole /64 network,
 * so its addresses count as one. Senders without an address (memory, stdio) count as one sender.
 */
export function clientKey({ principal, remote }: Sender): string {
  if (principal !== undefined) return `principal ${principal}`;
  return remote === undefined ? UNKNOWN_CLIENT : keyOfAddress(remote);
}

/** Every request of a client has the same address, and its key takes longer than any other check of a request. */
function keyOfAddress(remote: string): string {
  let key = keys.get(remote);
  if (key === undefined) {
    if (keys.size === MAX_KEYS) keys.clear();
    key = `address ${network(remote)}`;
    keys.set(remote, key);
  }
  return key;
}

const keys = new Map<string, string>();
const MAX_KEYS = 4096;

/** Senders without a principal and without an address. */
export const UNKNOWN_CLIENT = 'local';

function network(address: string): string {
  // An IPv4 address on a dual-stack socket.
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

/** What a limit counts a request under. Limits are fair between clients, and between the sessions of one client. */
export interface Origin {
  /** The client, as `clientKey` names it. */
  readonly who: string;
  /** The legacy session of the client; undefined for requests without a session. Compared by identity. */
  readonly part: unknown;
}

export function originOf(peer: Peer): Origin {
  // All calls of a legacy session have the same peer object. Modern requests cannot be told apart.
  return { who: clientKey(peer), part: peer.era === 'legacy' ? peer : undefined };
}
