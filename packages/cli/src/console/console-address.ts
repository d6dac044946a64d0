import { InvalidArgumentError } from 'commander';

/** Where `serve --console` opens the console: nowhere, or at a loopback address. */
export type ConsoleAddress = 'off' | { readonly host: string; readonly port: number };

/** Only this machine: the page has no encryption of its own. */
export function toConsoleAddress(text: string): ConsoleAddress {
  if (text === 'off') return 'off';
  const [, host, port] = /^(127\.0\.0\.1|localhost|\[::1\]):(\d{1,5})$/.exec(text) ?? [];
  if (host === undefined || Number(port) > 65_535)
    throw new InvalidArgumentError('It must be off, or an address of this machine such as 127.0.0.1:7070.');
  return { host: host.replace(/^\[|\]$/g, ''), port: Number(port) };
}
