import { BlockList, isIP } from 'node:net';
import { IsthmusError } from '../../../errors.js';
import type { HttpExchange } from '../exchange/exchange.js';

/**
 * Takes the address of the client from a trusted proxy. The last address of `X-Forwarded-For` that is not a trusted proxy was
 * written by a trusted proxy. All before it were written by the client, who can invent them.
 */
export function believeProxy(exchange: HttpExchange, trusts: ProxyTrust | undefined): void {
  const client = trusts && exchange.cameFor && forwardedFor(exchange, trusts);
  if (client !== undefined) exchange.cameFor!(client);
}

/** The client that a trusted proxy names. Undefined: the request did not come through one, or none is named. */
export function forwardedFor(
  request: Pick<HttpExchange, 'remote' | 'header'>,
  trusts: ProxyTrust,
): string | undefined {
  if (!trusts(request.remote)) return undefined;
  const hops = (request.header('x-forwarded-for') ?? '').split(',').map((hop) => withoutPort(hop.trim()));
  const client = hops.findLast((hop) => !trusts(hop));
  return client !== undefined && isIP(client) !== 0 ? client : undefined;
}

function withoutPort(hop: string): string {
  return /^\[(.+)\](?::\d+)?$/.exec(hop)?.[1] ?? /^(\d+(?:\.\d+){3}):\d+$/.exec(hop)?.[1] ?? hop;
}

/** Whether an address belongs to a proxy whose `X-Forwarded-…` headers are believed. */
export type ProxyTrust = (remote: string | undefined) => boolean;

/** `addresses`: `10.0.0.5`, `10.0.0.0/8`, `fd00::/8` or `loopback`. */
export function proxyTrust(addresses: readonly string[]): ProxyTrust {
  const list = new BlockList();
  for (const text of addresses) {
    if (text === 'loopback') {
      list.addSubnet('127.0.0.0', 8, 'ipv4');
      list.addAddress('::1', 'ipv6');
      continue;
    }
    const [address = '', bits, ...more] = text.split('/');
    const family = isIP(address);
    const isSubnet = bits !== undefined;
    const isValid =
      family !== 0 &&
      more.length === 0 &&
      (!isSubnet || (/^\d{1,3}$/.test(bits) && Number(bits) <= (family === 4 ? 32 : 128)));
    if (!isValid) {
      const message = `trustProxy takes IP addresses, networks such as 10.0.0.0/8, and loopback; got ${JSON.stringify(text)}`;
      throw new IsthmusError('INVALID_OPTION', message);
    }
    const type = family === 4 ? 'ipv4' : 'ipv6';
    if (isSubnet) list.addSubnet(address, Number(bits), type);
    else list.addAddress(address, type);
  }
  return (remote) => {
    if (remote === undefined) return false;
    // A socket of both families writes IPv4 addresses in this form.
    const address = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(remote)?.[1] ?? remote;
    const family = isIP(address);
    return family !== 0 && list.check(address, family === 4 ? 'ipv4' : 'ipv6');
  };
}
