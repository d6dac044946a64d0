import { BlockList, isIP } from 'node:net';

/**
 * Which addresses the metadata of a server may lead to (AUTH-C-023, AUTH-C-024). A server could otherwise use this client
 * to reach machines that only the client can reach.
 */
export interface AddressRule {
  /** Why the URL may not be used, or undefined. Checks scheme and literal addresses. */
  refuses(url: URL): string | undefined;
  /** The same for an address that a name was resolved to. */
  refusesAddress(hostname: string, address: string): string | undefined;
}

export interface AddressRuleOptions {
  /** The server that the user chose. */
  readonly server: URL;
  /** Also allows private addresses for everything that the server names. */
  readonly allowPrivate: boolean;
}

export function addressRule({ server, allowPrivate }: AddressRuleOptions): AddressRule {
  const own = hostOf(server);
  const ownIsLoopback = isLoopbackHost(own);
  const refusesAddress = (hostname: string, address: string): string | undefined => {
    if (allowPrivate || hostname === own || !isPrivate(address)) return undefined;
    if (ownIsLoopback && isLoopbackHost(address)) return undefined;
    return `${hostname} is a private address`;
  };
  return {
    refusesAddress,
    refuses(url) {
      const host = hostOf(url);
      if (url.protocol !== 'https:' && !(url.protocol === 'http:' && isLoopbackHost(host))) {
        return `${url.protocol}//${url.host} is neither https nor a loopback address`;
      }
      if (url.username !== '' || url.password !== '') return `${url.host} comes with a user and a password`;
      if (host === 'localhost' || host.endsWith('.localhost')) return refusesAddress(host, '127.0.0.1');
      return isIP(host) ? refusesAddress(host, host) : undefined;
    },
  };
}

/** `localhost`, 127.0.0.0/8 or ::1. */
export function isLoopbackHost(host: string): boolean {
  const name = host.startsWith('[') ? host.slice(1, -1) : host;
  if (name === 'localhost' || name.endsWith('.localhost')) return true;
  const family = isIP(name);
  return family !== 0 && LOOPBACK.check(name, family === 6 ? 'ipv6' : 'ipv4');
}

/** Loopback, link-local, private, shared, multicast and reserved addresses. */
export function isPrivate(address: string): boolean {
  const family = isIP(address);
  return family !== 0 && PRIVATE.check(address, family === 6 ? 'ipv6' : 'ipv4');
}

/** The host without the brackets of an IPv6 address, and without the dot that may end a name. */
function hostOf({ hostname }: URL): string {
  return hostname.startsWith('[') ? hostname.slice(1, -1) : hostname.replace(/\.$/, '');
}

const LOOPBACK = new BlockList();
LOOPBACK.addSubnet('127.0.0.0', 8, 'ipv4');
LOOPBACK.addAddress('::1', 'ipv6');

const PRIVATE = new BlockList();
const IPV4: readonly (readonly [string, number])[] = [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
];
for (const [network, bits] of IPV4) PRIVATE.addSubnet(network, bits, 'ipv4');
const IPV6: readonly (readonly [string, number])[] = [
  // With IPv4 addresses at their end, which is not used any more.
  ['::', 96],
  // IPv4 addresses inside of IPv6: mapped ones are checked by the rules above, translated ones are refused.
  ['64:ff9b::', 96],
  ['64:ff9b:1::', 48],
  ['2001::', 32],
  ['2002::', 16],
  ['fc00::', 7],
  ['fec0::', 10],
  ['fe80::', 10],
  ['ff00::', 8],
];
for (const [network, bits] of IPV6) PRIVATE.addSubnet(network, bits, 'ipv6');
