import { usageError } from '../cli-error.js';
import {
  type CompatFlag,
  type CompatFlags,
  header,
  headerFile,
  ignored,
  refused,
  renamed,
  replaced,
  tokenUrl,
} from './flags.js';
import { toStrategy } from './python-mcp-proxy.js';
import { clientInfo, clientMetadata } from './static-client.js';

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
  host: renamed('--callback-host'),
  'auth-timeout': renamed('--login-timeout', (seconds) => `${seconds}s`),
  'device-code': replaced('--device'),
  'disable-resource-parameter': replaced('--no-resource'),
  'client-credentials': replaced('--auth', 'client-credentials'),
  'token-url': tokenUrl,
  'static-oauth-client-info': clientInfo,
  'static-oauth-client-metadata': clientMetadata,
  'auth-success-url': refused(
    '--auth-success-url: the page at the end of a login is always that of Isthmus',
    'Leave it out; the page says whether the login succeeded',
    'one',
  ),
  'use-id-token': refused(
    '--use-id-token: an ID token is for the client that it was issued to, and is not an access token',
    'Leave it out; if the server accepts nothing else, send the token yourself with --header-file FILE',
  ),
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
