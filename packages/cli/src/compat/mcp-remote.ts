import { usageError } from '../cli-error.js';
import { anyway, type Habit, refused, renamed, type ToolFlags } from './habit.js';
import { noOAuth } from './no-oauth.js';
import { toStrategy } from './python-mcp-proxy.js';
import { header, headerFile } from './words.js';

/** What users of mcp-remote (0.15) type; those of mcp-proxy who give it a URL are here as well. */
export const MCP_REMOTE: ToolFlags = {
  headers: header,
  H: header,
  'header-file': headerFile,
  transport: renamed('--transport', toStrategy),
  protocol: {
    takes: 'one',
    say([era = ''], { words }) {
      if (!/^(auto|legacy|modern)$/.test(era))
        throw usageError(`--protocol "${era}"`, 'Write auto, legacy or modern');
      words.push('--mode', era);
    },
  },
  // Plain HTTP is the choice of whoever writes the URL.
  'allow-http': anyway(),
  // Nothing is said unless something goes wrong.
  silent: anyway(),
  // Proxies that the environment names are used.
  'enable-proxy': anyway(),
  // None are kept.
  'disable-cookies': anyway(),
  debug: refused(
    '--debug: attach says on stderr what goes wrong, and nothing else',
    'isthmus probe URL shows what the server is and what is odd about it; isthmus daemon status shows what is shared',
  ),
  'connect-timeout': partOfCall('--connect-timeout'),
  'headers-timeout': partOfCall('--headers-timeout'),
  'body-timeout': partOfCall('--body-timeout'),
  'keep-alive': pings('nothing'),
  'ping-interval': pings('one'),
  ipv4: refused(
    '--ipv4: addresses of both kinds are tried, and the one that answers is taken',
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

function partOfCall(option: string): Habit {
  return refused(
    `${option}: a call has one bound for all of it, and a stream may be silent for as long as it likes`,
    'Use --timeout MS, for each call',
    'one',
  );
}

function pings(takes: 'nothing' | 'one'): Habit {
  return refused(
    'No pings are sent to keep a session: one that the server has forgotten is opened again with the next call',
    'Leave it out',
    takes,
  );
}

function oauth(takes: 'nothing' | 'one', names: readonly string[]): ToolFlags {
  return Object.fromEntries(names.map((name) => [name, noOAuth(name, takes)]));
}
