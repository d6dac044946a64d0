import { isIP } from 'node:net';
import type { ProxyTrust } from '@isthmus/sdk/internal/transport/http-server/admission/trust-proxy.js';

/** Whom wrong keys are counted for. */
export interface RequestSource {
  readonly address: string;
  /** Many people have this address: it is that of a proxy, or of this machine. */
  readonly isShared: boolean;
}

interface RequestHead {
  readonly remote: string | undefined;
  header(name: string): string | undefined;
}

/**
 * Where a request comes from. The last address of `X-Forwarded-For` that is not a trusted proxy was written by a trusted
 * proxy. All before it were written by the client, who can invent them.
 */
export function sourceOf(request: RequestHead, trusts: ProxyTrust | undefined): RequestSource {
  const { remote = '' } = request;
  // Without a proxy that is trusted, anything may be in front.
  if (!trusts) return { address: remote, isShared: true };
  if (!trusts(remote)) return { address: networkOf(remote), isShared: LOOPBACK.test(remote) };
  const hops = (request.header('x-forwarded-for') ?? '').split(',').map((hop) => withoutPort(hop.trim()));
  const client = hops.findLast((hop) => !trusts(hop));
  if (client === undefined || isIP(client) === 0) return { address: remote, isShared: true };
  return { address: networkOf(client), isShared: false };
}

function withoutPort(hop: string): string {
  return /^\[(.+)\](?::\d+)?$/.exec(hop)?.[1] ?? /^(\d+(?:\.\d+){3}):\d+$/.exec(hop)?.[1] ?? hop;
}

/** One person has 2^64 addresses of IPv6, which begin alike. */
function networkOf(address: string): string {
  if (isIP(address) !== 6 || address.toLowerCase().startsWith('::ffff:')) return address;
  const [head = '', tail] = address.split('::');
  const first = head === '' ? [] : head.split(':');
  const last = tail === undefined || tail === '' ? [] : tail.split(':');
  const groups = tail === undefined ? first : [...first, ...Array(8 - first.length - last.length).fill('0'), ...last];
  return `${groups.slice(0, 4).map((group) => Number.parseInt(group, 16).toString(16)).join(':')}::/64`;
}

const LOOPBACK = /^(127\.|::1$|::ffff:127\.)/;
