import { usageError } from '../cli-error.js';
import { anyway, type Habit, refused, renamed, type ToolFlags } from './habit.js';
import { checkedPath } from './words.js';

/** What users of mcp-proxy of npm (6.7) type. */
export const MCP_PROXY: ToolFlags = {
  server: {
    takes: 'one',
    say([kind = ''], draft) {
      if (!/^(sse|stream)$/.test(kind))
        throw usageError(`"${kind}" is no server type`, 'Write sse or stream');
      draft.server = kind;
      // The other way round nothing is left out: clients of all other revisions are at the one address.
      if (kind === 'stream') draft.words.push('--no-sse');
    },
  },
  endpoint: {
    takes: 'one',
    say([path = ''], draft) {
      draft.endpoint = checkedPath('--endpoint', path);
    },
  },
  'stream-endpoint': {
    takes: 'one',
    say([path = ''], { words }) {
      words.push('--path', checkedPath('--streamEndpoint', path));
    },
  },
  'sse-endpoint': renamed('--sse-path'),
  'request-timeout': renamed('--timeout'),
  'connection-timeout': renamed('--connect-timeout'),
  'graceful-shutdown-timeout': renamed('--grace'),
  'session-idle-timeout': renamed('--session-timeout', (ms) =>
    bounded(
      '--sessionIdleTimeout',
      ms,
      'clients that never say goodbye would fill the memory',
      '--session-timeout 86400000',
    ),
  ),
  'max-body-size': renamed('--max-body', (bytes) =>
    bounded('--maxBodySize', bytes, 'one request could take all memory', '--max-body 1073741824'),
  ),
  'event-store': anyway(),
  'no-event-store': { takes: 'nothing', say: (_, { words }) => void words.push('--resumable-events', '0') },
  'event-store-max-events': renamed('--resumable-events'),
  'cors-add-allowed-header': renamed('--allow-header'),
  shell: {
    takes: 'nothing',
    say(_, draft) {
      draft.shell = true;
    },
  },
  modern: anyway(),
  'no-modern': refused(
    '--no-modern: clients of both eras are served, always',
    'Leave it out: a legacy client never notices the other era',
  ),
  'keep-alive-timeout': refused(
    '--keepAliveTimeout: an idle connection is kept for 60 s, and a stream for as long as it lives',
    'Leave it out; --session-timeout MS is for sessions',
    'one',
  ),
  ...tls('ssl-ca', 'ssl-cert', 'ssl-key'),
  tunnel: tunnel('nothing'),
  'tunnel-subdomain': tunnel('one'),
};

function bounded(option: string, value: string, why: string, instead: string): string {
  if (!/^0+$/.test(value)) return value;
  throw usageError(`${option} 0 would mean no bound: ${why}`, `Give a large one: ${instead}`);
}

function tls(...names: readonly string[]): ToolFlags {
  const habit = refused(
    'TLS is not spoken here: certificates belong to what stands in front',
    'Let Caddy, nginx or the like take the certificate and pass on to http://127.0.0.1:8080; add --allow-host NAME',
    'one',
  );
  return Object.fromEntries(names.map((name) => [name, habit]));
}

function tunnel(takes: 'nothing' | 'one'): Habit {
  return refused(
    '--tunnel: nothing is put on the internet from here, through the machines of others',
    'Start a tunnel of your own (cloudflared, ngrok, tailscale funnel) to the port, and add --api-key KEY --allow-host NAME',
    takes,
  );
}
