import { usageError } from '../cli-error.js';
import { DEFAULT_ADDRESS, type ServeCommandOptions } from './serve-options.js';

/** Where to serve: what was typed, or else what the files say. */
export function addressesOf(
  { listen, host, port, path }: Pick<ServeCommandOptions, 'listen' | 'host' | 'port' | 'path'>,
  configured: readonly string[] | undefined = undefined,
): readonly string[] {
  if (port === undefined && host === undefined && path === undefined) {
    return listen ?? configured ?? [DEFAULT_ADDRESS];
  }
  if (path !== undefined && listen && port === undefined && host === undefined) {
    throw usageError('--path is for --port and --host', 'An address of --listen ends with its own path');
  }
  const name = host ?? '127.0.0.1';
  if (/[/?#@\s]/.test(name))
    throw usageError(`"${name}" is no host`, 'Write --host 127.0.0.1 or --host localhost');
  const authority = name.includes(':') && !name.startsWith('[') ? `[${name}]` : name;
  return [...(listen ?? []), `http://${authority}:${port ?? 8080}${path ?? '/mcp'}`];
}
