import { InvalidArgumentError } from 'commander';
import { usageError } from '../cli-error.js';

/** Where `serve --console` opens the console: nowhere, or at an address. */
export type ConsoleAddress = 'off' | { readonly host: string; readonly port: number };

export function toConsoleAddress(text: string): ConsoleAddress {
  if (text === 'off') return 'off';
  const [, host, port] = /^([\w.-]+|\[[\da-f:]+\]):(\d{1,5})$/i.exec(text) ?? [];
  if (host === undefined || Number(port) > 65_535)
    throw new InvalidArgumentError('It must be off, or HOST:PORT, such as 127.0.0.1:7070.');
  return { host: host.replace(/^\[|\]$/g, ''), port: Number(port) };
}

/** The page has no encryption of its own, so other machines reach it only behind something that encrypts. */
export function checkConsoleAddress(
  at: ConsoleAddress | undefined,
  {
    consoleBehindTls,
    allowHost,
  }: { readonly consoleBehindTls?: boolean; readonly allowHost?: readonly string[] },
): void {
  const isElsewhere = at !== undefined && at !== 'off' && !LOOPBACK.has(at.host.toLowerCase());
  if (isElsewhere && !consoleBehindTls)
    throw usageError(
      `refusing to open the console at ${at.host}: other machines can reach it, and its key would not be encrypted`,
      'Use 127.0.0.1, and a proxy or ssh -L in front; or --console-behind-tls if something in front encrypts',
    );
  if (consoleBehindTls && !isElsewhere)
    throw usageError('--console-behind-tls is for --console at an address of other machines', 'Leave it out');
  if (consoleBehindTls && !allowHost)
    throw usageError(
      '--console-behind-tls needs the name that browsers use: requests for other names are refused',
      'Add --allow-host NAME',
    );
}

const LOOPBACK: ReadonlySet<string> = new Set(['127.0.0.1', 'localhost', '::1']);
