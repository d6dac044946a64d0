import { usageError } from '../cli-error.js';
import {
  allowOrigins,
  bearer,
  type CompatFlags,
  type DraftLine,
  logLevel,
  pathFlag,
  renamed,
} from './flags.js';
import { splitCommand } from './split-command.js';

/** The options of supergateway (4.0). */
export const SUPERGATEWAY: CompatFlags = {
  stdio: {
    takes: 'one',
    apply([text = ''], draft) {
      if (draft.command)
        throw usageError('--stdio is given twice', 'isthmus serve --named-server NAME COMMAND … serves many');
      draft.command = splitCommand(text, '--stdio');
    },
  },
  sse: {
    takes: 'one',
    apply: ([url = ''], draft) => remote(draft, url, ['--transport', 'sse-only']),
  },
  'streamable-http': {
    takes: 'one',
    apply: ([url = ''], draft) => remote(draft, url, []),
  },
  'output-transport': {
    takes: 'one',
    apply([transport = ''], draft) {
      if (transport === 'stdio') draft.args.push('--listen', 'stdio');
      else if (/^(sse|streamable-?http)$/i.test(transport)) draft.wantsHttp = true;
      else if (transport === 'ws') {
        throw usageError(
          '--outputTransport ws: MCP has no WebSocket transport, and isthmus has none either',
          'Use streamableHttp or sse: both are served at one address by default',
        );
      } else
        throw usageError(
          `--outputTransport "${transport}" is not a transport`,
          'Write stdio, sse or streamableHttp',
        );
    },
  },
  'base-url': {
    takes: 'one',
    apply: ([url = ''], { args }) => void args.push(...allowedHost(url)),
  },
  'streamable-http-path': pathFlag('--streamableHttpPath'),
  'health-endpoint': renamed('--health-path'),
  'log-level': logLevel,
  cors: {
    takes: 'origins',
    apply: (origins, { args }) => void args.push(...allowOrigins(origins.length > 0 ? origins : ['*'])),
  },
  'oauth2-bearer': bearer,
  // Legacy clients always have sessions. supergateway also gives each a process of its own.
  stateful: { takes: 'nothing', apply: (_, { args }) => void args.push('--processes', 'per-conversation') },
  'protocol-version': renamed('--era'),
};

function remote(draft: DraftLine, url: string, how: readonly string[]): void {
  draft.args.push('--upstream', url, ...how);
  draft.stdioByDefault = true;
}

/** Clients get the address for posts without a host, so only the host name has to be allowed. */
function allowedHost(url: string): readonly string[] {
  if (url === '') return [];
  if (!/^https?:\/\//i.test(url) || !URL.canParse(url)) {
    throw usageError(`--baseUrl "${url}" is not an http:// or https:// URL`);
  }
  const { hostname, pathname } = new URL(url);
  if (pathname !== '/') {
    throw usageError(
      `--baseUrl with the path ${pathname} is not supported: the proxy in front must remove the path`,
      'Let the proxy forward requests without this path, and give the URL without a path',
    );
  }
  const isLocal = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(hostname);
  return isLocal ? [] : ['--allow-host', hostname];
}
