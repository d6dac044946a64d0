import { usageError } from '../cli-error.js';
import { type CompatFlag, type CompatFlags, checkedPath, ignored, refused, renamed } from './flags.js';

/** The options of mcp-proxy of npm (6.7). */
export const MCP_PROXY: CompatFlags = {
  server: {
    takes: 'one',
    apply([kind = ''], draft) {
      if (!/^(sse|stream)$/.test(kind))
        throw usageError(`--server "${kind}" is not a server type`, 'Write sse or stream');
      draft.server = kind;
      // With `sse`, clients of other revisions still use the same address, so nothing is left out.
      if (kind === 'stream') draft.args.push('--no-sse');
    },
  },
  endpoint: {
    takes: 'one',
    apply([path = ''], draft) {
      draft.endpoint = checkedPath('--endpoint', path);
    },
  },
  'stream-endpoint': {
    takes: 'one',
    apply([path = ''], { args }) {
      args.push('--path', checkedPath('--streamEndpoint', path));
    },
  },
  'sse-endpoint': renamed('--sse-path'),
  'upstream-protocol': renamed('--era'),
  'request-timeout': renamed('--timeout'),
  'connection-timeout': renamed('--connect-timeout'),
  'graceful-shutdown-timeout': renamed('--grace'),
  'session-idle-timeout': renamed('--session-timeout', (ms) =>
    bounded(
      '--sessionIdleTimeout',
      ms,
      'sessions of clients that never close them would fill the memory',
      '--session-timeout 86400000',
    ),
  ),
  'max-body-size': renamed('--max-body', (bytes) =>
    bounded('--maxBodySize', bytes, 'one request could take all memory', '--max-body 1073741824'),
  ),
  'event-store': ignored(),
  'no-event-store': { takes: 'nothing', apply: (_, { args }) => void args.push('--resumable-events', '0') },
  'event-store-max-events': renamed('--resumable-events'),
  'cors-add-allowed-header': renamed('--allow-header'),
  shell: {
    takes: 'nothing',
    apply(_, draft) {
      draft.shell = true;
    },
  },
  modern: ignored(),
  'no-modern': refused(
    '--no-modern: isthmus always serves clients of both eras',
    'Leave it out: a legacy client is not affected by the other era',
  ),
  'keep-alive-timeout': refused(
    '--keepAliveTimeout: an idle connection is always kept for 60 s, and a stream until it ends',
    'Leave it out; --session-timeout MS sets the limit for sessions',
    'one',
  ),
  ...tls('ssl-ca', 'ssl-cert', 'ssl-key'),
  tunnel: tunnel('nothing'),
  'tunnel-subdomain': tunnel('one'),
};

function bounded(option: string, value: string, why: string, instead: string): string {
  if (!/^0+$/.test(value)) return value;
  throw usageError(`${option} 0 would mean no limit: ${why}`, `Give a large limit: ${instead}`);
}

function tls(...names: readonly string[]): CompatFlags {
  const flag = refused(
    'isthmus serve does not speak TLS: the certificate belongs to the proxy in front of it',
    'Give the certificate to Caddy, nginx or the like, forward to http://127.0.0.1:8080, and add --allow-host NAME',
    'one',
  );
  return Object.fromEntries(names.map((name) => [name, flag]));
}

function tunnel(takes: 'nothing' | 'one'): CompatFlag {
  return refused(
    '--tunnel: isthmus does not publish a server on the internet',
    'Start a tunnel of your own (cloudflared, ngrok, tailscale funnel) to the port, and add --api-key KEY --allow-host NAME',
    takes,
  );
}
