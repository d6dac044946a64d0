import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import { IsthmusError, messageOf } from '@isthmus/sdk/internal/errors.js';
import type { Listener } from '@isthmus/sdk/internal/exchange/connection.js';
import { listenerFor } from '@isthmus/sdk/internal/transport/address.js';
import { CliError, EXIT, usageError } from '../cli-error.js';
import { printable } from '../terminal/text.js';
import type { ServeCommandOptions } from './serve-options.js';

export const DEFAULT_ADDRESS = 'http://127.0.0.1:8080/mcp';

/** The addresses to serve: those of the command line, or else those of the files. */
export function addressesOf(
  { listen, host, port, path }: Pick<ServeCommandOptions, 'listen' | 'host' | 'port' | 'path'>,
  configured: readonly string[] | undefined = undefined,
): readonly string[] {
  for (const address of listen ?? []) checkAddress(address);
  if (port === undefined && host === undefined && path === undefined) {
    return listen ?? configured ?? [DEFAULT_ADDRESS];
  }
  if (path !== undefined && listen && port === undefined && host === undefined) {
    throw usageError('--path is for --port and --host', 'An address of --listen ends with its own path');
  }
  const name = host ?? '127.0.0.1';
  if (/[/?#@\s]/.test(name))
    throw usageError(`"${name}" is not a host`, 'Write --host 127.0.0.1 or --host localhost');
  const authority = name.includes(':') && !name.startsWith('[') ? `[${name}]` : name;
  return [...(listen ?? []), `http://${authority}:${port ?? 8080}${path ?? '/mcp'}`];
}

/** Refuses what looks like an address, and says how to write it. */
function checkAddress(address: string): void {
  const no = `Cannot listen on "${address}"`;
  if (/^https:/i.test(address))
    throw usageError(
      `${no}: isthmus serves no TLS`,
      `Write ${address.replace(/^https/i, 'http')}, and put a proxy with TLS in front: isthmus docs http`,
    );
  const place = /^\d{1,5}$/.test(address) ? `127.0.0.1:${address}` : address;
  if (/^(\[[^\]]+\]|[\w.-]+):\d{1,5}$/.test(place) && !/^(unix|tcp|http):/.test(place))
    throw usageError(no, `Did you mean http://${place}/mcp, or tcp://${place}?`);
  if (address.startsWith('http://') && !URL.canParse(address))
    throw usageError(
      `${no}: it is not a URL`,
      'For example http://127.0.0.1:8080/mcp; the highest port is 65535',
    );
}

/** A listener for an address of the command line. Its errors have the same form for all kinds of addresses. */
export function listenAt(address: string): Listener {
  checkAddress(address);
  const listener = listenerFor(address);
  return {
    ...listener,
    async listen(accept, served) {
      try {
        return await listener.listen(accept, served);
      } catch (error) {
        throw cannotListen([address], error);
      }
    },
  };
}

/** The error of an address that cannot be listened on, in the same form for all kinds of addresses. */
export function cannotListen(addresses: readonly string[], error: unknown): unknown {
  if (!(error instanceof IsthmusError) || error.code !== 'ADDRESS_UNAVAILABLE') return error;
  const address = addresses.find((each) => error.message.includes(placeOf(each))) ?? addresses[0]!;
  const code = codeOf(address, error.cause);
  const why = code === undefined ? undefined : REASONS[code];
  const message = why === undefined ? messageOf(error) : `Cannot listen on ${placeOf(address)}: ${why}`;
  return new CliError(EXIT.failed, printable(message), { hint: hintFor(address, code) });
}

function codeOf(address: string, cause: unknown): string | undefined {
  const { code } = Object(cause) as NodeJS.ErrnoException;
  // Node reports EACCES for a socket in a folder that does not exist.
  const isLost = code === 'EACCES' && address.startsWith('unix:') && !existsSync(dirname(address.slice(5)));
  return isLost ? 'ENOENT' : code;
}

const REASONS: Readonly<Record<string, string>> = {
  EADDRINUSE: 'another process listens there',
  EACCES: 'that is not allowed here',
  EADDRNOTAVAIL: 'this machine has no such address',
  ENOTFOUND: 'there is no such host',
  ENOENT: 'there is no such folder',
};

/** Without the path of a URL, because several addresses may share host and port. */
function placeOf(address: string): string {
  return address.startsWith('http://') ? address.split('/').slice(0, 3).join('/') : address;
}

function hintFor(address: string, code: string | undefined): string {
  if (address.startsWith('unix:')) return 'Give another path: --listen unix:PATH';
  const path = address.startsWith('http://') ? new URL(address).pathname.replace(/^\/$/, '/mcp') : '';
  const scheme = address.slice(0, address.indexOf('://'));
  const host = /^\w+:\/\/(\[[^\]]+\]|[^:/]+)/.exec(address)?.[1] ?? '127.0.0.1';
  const elsewhere = code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND';
  const free = `--listen ${scheme}://${elsewhere ? '127.0.0.1' : host}:0${path}`;
  return elsewhere ? `${free} serves this machine, at a free port` : `${free} takes a free port`;
}
