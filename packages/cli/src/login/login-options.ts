import { given } from '@isthmus/sdk/internal/config/server-spec.js';
import type { OAuthOptions } from '@isthmus/sdk/internal/oauth/options.js';
import { InvalidArgumentError, Option } from 'commander';
import { type AuthFlags, clientOf } from './auth-options.js';

/** Options of a login with a user. */
export interface LoginFlags {
  readonly clientMetadataUrl?: string;
  readonly callbackPort?: number;
  readonly callbackHost?: string;
  readonly callbackPath?: string;
  readonly callbackUrl?: string;
  readonly device?: boolean;
  /** False with --no-browser. */
  readonly browser?: boolean;
  readonly assumePkce?: boolean;
  readonly authorizeParam?: Readonly<Record<string, string>>;
  readonly register?: boolean;
  readonly allowPrivateAddresses?: boolean;
  readonly loginTimeout?: number;
}

/** The options of a login with a user, for `login` and `attach`. */
export function loginOptions(): readonly Option[] {
  return [
    new Option('--client-metadata-url <url>', 'a document that describes the client, see isthmus docs login'),
    new Option(
      '--callback-port <port>',
      'the port that the browser comes back to (default: a free one)',
    ).argParser(toPort),
    new Option('--callback-host <host>', 'localhost or 127.0.0.1'),
    new Option('--callback-path <path>', 'the path that the browser comes back to (default: /callback)'),
    new Option(
      '--callback-url <url>',
      'the redirect URI itself, for a tunnel; you paste the address at the end',
    ),
    new Option('--device', 'log in on another device, with a code'),
    new Option('--no-browser', 'open no browser; print the page'),
    new Option('--resource <url>', 'the value of resource, in the place of what the server publishes'),
    new Option('--no-resource', 'send no resource, for authorization servers that refuse it'),
    new Option('--assume-pkce', 'for authorization servers that support PKCE and do not say so'),
    new Option('--authorize-param <name=value>', 'one more parameter of the page; repeatable').argParser(
      toParam,
    ),
    new Option('--register', 'register a new client although one is stored'),
    new Option(
      '--allow-private-addresses',
      'let the server name an authorization server in a private network',
    ),
    new Option('--login-timeout <time>', 'how long you may take: 90s, 10m (default: 10m)').argParser(toTime),
  ];
}

/** Names of the options above, as in Commander. `attach` logs in with a browser when one of them is given. */
export function loginFlagNames(): readonly string[] {
  return loginOptions().map((option) => option.attributeName());
}

/** The options for `oauth()`. */
export function toOAuthOptions(flags: AuthFlags & LoginFlags): OAuthOptions {
  const { callbackPort: port, callbackHost: host, callbackPath: path, callbackUrl: url } = flags;
  return {
    ...clientOf(flags),
    ...given({
      clientMetadataUrl: flags.clientMetadataUrl,
      assumePkce: flags.assumePkce,
      authorizeParams: flags.authorizeParam,
      registerAgain: flags.register,
      allowPrivateAddresses: flags.allowPrivateAddresses,
      timeoutMs: flags.loginTimeout,
      grant: flags.device ? ('device-code' as const) : undefined,
    }),
    callback: given({ port, host, path, url }),
  };
}

function toPort(text: string): number {
  const port = Number(text);
  if (/^\d{1,5}$/.test(text) && port > 0 && port < 65_536) return port;
  throw new InvalidArgumentError('It must be a port, 1 to 65535.');
}

function toParam(text: string, before: Record<string, string> = {}): Record<string, string> {
  const at = text.indexOf('=');
  if (at <= 0) throw new InvalidArgumentError('Write NAME=VALUE.');
  return { ...before, [text.slice(0, at)]: text.slice(at + 1) };
}

/** `90s`, `10m`; a number alone is seconds. */
function toTime(text: string): number {
  const [, number, unit = 's'] = /^(\d{1,5})(s|m|h)?$/.exec(text) ?? [];
  const ms = Number(number) * { s: 1000, m: 60_000, h: 3_600_000 }[unit as 's']!;
  if (ms > 0 && ms < 2 ** 31) return ms;
  throw new InvalidArgumentError('Write a time: 90s, 10m or 1h.');
}
