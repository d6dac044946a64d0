import { usageError } from '../cli-error.js';
import {
  type CompatFlag,
  type CompatFlags,
  header,
  headerFile,
  ignored,
  noOAuth,
  refused,
  renamed,
} from './flags.js';
import { toStrategy } from './python-mcp-proxy.js';

/** The options of mcp-remote (0.15), and those of mcp-proxy with a URL. */
export const MCP_REMOTE: CompatFlags = {
  headers: header,
  H: header,
  'header-file': headerFile,
  transport: renamed('--transport', toStrategy),
  protocol: {
    takes: 'one',
    apply([era = ''], { args }) {
      if (!/^(auto|legacy|modern)$/.test(era))
        throw usageError(`--protocol "${era}" is not an era`, 'Write auto, legacy or modern');
      args.push('--era', era);
    },
  },
  // A URL with http:// is always accepted.
  'allow-http': ignored(),
  // attach prints errors only.
  silent: ignored(),
  // The proxies of the environment are always used.
  'enable-proxy': ignored(),
  // Cookies are never kept.
  'disable-cookies': ignored(),
  debug: refused(
    '--debug: attach prints errors only, on stderr',
    'isthmus probe URL shows facts and warnings about the server; isthmus daemon status shows the shared servers',
  ),
  'connect-timeout': partOfCall('--connect-timeout'),
  'headers-timeout': partOfCall('--headers-timeout'),
  'body-timeout': partOfCall('--body-timeout'),
  'keep-alive': pings('nothing'),
  'ping-interval': pings('one'),
  ipv4: refused(
    '--ipv4: IPv4 and IPv6 addresses are both tried, and the first that answers is used',
    'Leave it out; NODE_OPTIONS=--dns-result-order=ipv4first tries IPv4 before the others',
  ),
  ...oauth('one', [
    'auth-timeout',
    'auth-success-url',
    'authorize-param',
    'callback-path',
    'client-metadata-url',
    'host',
    'resource',
    'static-oauth-client-info',
    'static-oauth-client-metadata',
    'token-endpoint',
  ]),
  ...oauth('one', ['client-id', 'client-secret', 'token-url']),
  ...oauth('nothing', ['client-credentials', 'device-code', 'disable-resource-parameter', 'use-id-token']),
};

function partOfCall(option: string): CompatFlag {
  return refused(
    `${option}: a call has one limit for all of it, and a stream may be silent without limit`,
    'Use --timeout MS, the limit for each call',
    'one',
  );
}

function pings(takes: 'nothing' | 'one'): CompatFlag {
  return refused(
    'No pings are sent to keep a session alive: the next call opens a new session if the server has dropped it',
    'Leave it out',
    takes,
  );
}

function oauth(takes: 'nothing' | 'one', names: readonly string[]): CompatFlags {
  return Object.fromEntries(names.map((name) => [name, noOAuth(name, takes)]));
}
