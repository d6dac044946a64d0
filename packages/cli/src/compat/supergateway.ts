import { usageError } from '../cli-error.js';
import { type Draft, renamed, type ToolFlags } from './habit.js';
import { splitCommand } from './split-command.js';
import { allowOrigins, atPath, bearer, logLevel } from './words.js';

/** What users of supergateway (4.0) type. */
export const SUPERGATEWAY: ToolFlags = {
  stdio: {
    takes: 'one',
    say([text = ''], draft) {
      if (draft.command)
        throw usageError('--stdio is there twice', 'isthmus serve --named-server NAME COMMAND … serves many');
      draft.command = splitCommand(text, '--stdio');
    },
  },
  sse: {
    takes: 'one',
    say: ([url = ''], draft) => remote(draft, url, ['--transport', 'sse-only']),
  },
  'streamable-http': {
    takes: 'one',
    say: ([url = ''], draft) => remote(draft, url, []),
  },
  'output-transport': {
    takes: 'one',
    say([transport = ''], draft) {
      if (transport === 'stdio') draft.words.push('--listen', 'stdio');
      else if (/^(sse|streamable-?http)$/i.test(transport)) draft.saysHttp = true;
      else if (transport === 'ws') {
        throw usageError(
          '--outputTransport ws: there is no transport over WebSockets, in the protocol as in here',
          'Use streamableHttp or sse: both are served at one address, without an option',
        );
      } else throw usageError(`"${transport}" is no transport`, 'Write stdio, sse or streamableHttp');
    },
  },
  'base-url': {
    takes: 'one',
    say: ([url = ''], { words }) => void words.push(...namedAs(url)),
  },
  'streamable-http-path': atPath('--streamableHttpPath'),
  'health-endpoint': renamed('--health-path'),
  'log-level': logLevel,
  cors: {
    takes: 'origins',
    say: (origins, { words }) => void words.push(...allowOrigins(origins.length > 0 ? origins : ['*'])),
  },
  'oauth2-bearer': bearer,
  // Sessions are what legacy clients have anyway; there each has a process of its own, too.
  stateful: { takes: 'nothing', say: (_, { words }) => void words.push('--processes', 'per-client') },
  'protocol-version': renamed('--upstream-protocol'),
};

function remote(draft: Draft, url: string, how: readonly string[]): void {
  draft.words.push('--upstream', url, ...how);
  draft.stdioUnlessSaid = true;
}

/** Clients are told where to post without a host, so they find it under any name that it may be asked for by. */
function namedAs(url: string): readonly string[] {
  if (url === '') return [];
  if (!/^https?:\/\//i.test(url) || !URL.canParse(url)) {
    throw usageError(`--baseUrl "${url}" is no http:// or https:// URL`);
  }
  const { hostname, pathname } = new URL(url);
  if (pathname !== '/') {
    throw usageError(
      `--baseUrl with the path ${pathname}: what stands in front has to take it away`,
      'Let the proxy pass on the path without it, and give the URL without a path',
    );
  }
  const isLocal = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(hostname);
  return isLocal ? [] : ['--allow-host', hostname];
}
