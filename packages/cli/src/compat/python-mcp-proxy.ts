import { usageError } from '../cli-error.js';
import { anyway, type Habit, renamed, type ToolFlags } from './habit.js';
import { noOAuth } from './no-oauth.js';
import { allowOrigins, header, logLevel } from './words.js';

/** What users of mcp-proxy of PyPI (0.12) type. */
export const PYTHON_MCP_PROXY: ToolFlags = {
  'named-server': {
    takes: 'two',
    say([first = '', second], { words }) {
      const isWhole = /^[^\s=]+=./.test(first);
      if (second === undefined && !isWhole) {
        throw usageError(
          `--named-server ${first} has no command`,
          `--named-server ${first} "npx -y some-server"`,
        );
      }
      words.push('--named-server', second === undefined ? first : `${first}=${second}`);
    },
  },
  'named-server-config': renamed('--config'),
  'no-pass-environment': anyway(),
  'no-stateless': anyway(),
  'no-debug': anyway(),
  'allow-origin': {
    takes: 'origins',
    say(origins, { words }) {
      if (origins.length === 0)
        throw usageError('--allow-origin has no origin', '--allow-origin https://app.example.com');
      words.push(...allowOrigins(origins));
    },
  },
  'expose-header': {
    takes: 'one',
    say([name = '']) {
      if (EXPOSED.has(name.toLowerCase())) return;
      throw usageError(
        `--expose-header ${name}: no such header is ever sent, so there is nothing to show to pages`,
        'Leave it out; Mcp-Session-Id, WWW-Authenticate and Retry-After are shown',
      );
    },
  },
  headers: header,
  H: header,
  env: variable(true),
  e: variable(false),
  'sse-port': renamed('--port'),
  'sse-host': renamed('--host'),
  transport: renamed('--transport', toStrategy),
  'log-level': logLevel,
  'client-id': noOAuth('client-id', 'one'),
  'client-secret': noOAuth('client-secret', 'one'),
  'token-url': noOAuth('token-url', 'one'),
  'verify-ssl': {
    takes: 'maybe',
    say([value = 'true']) {
      if (!/^(1|true|yes|on)$/i.test(value)) throw unverified(value);
    },
  },
  'no-verify-ssl': {
    takes: 'nothing',
    say() {
      throw unverified('false');
    },
  },
};

const EXPOSED: ReadonlySet<string> = new Set(['mcp-session-id', 'www-authenticate', 'retry-after']);

/** `sse` and `streamablehttp` insist on one, as ours with `-only` do. */
export function toStrategy(name: string): string {
  const strategies: Readonly<Record<string, string>> = { sse: 'sse-only', streamablehttp: 'http-only' };
  return strategies[name] ?? name;
}

/** `--env NAME VALUE` there, `--env NAME=VALUE` and `--env NAME` here. */
function variable(mayBeAlone: boolean): Habit {
  return {
    takes: 'two',
    say([name = '', value], draft) {
      draft.words.push('--env', value === undefined ? name : `${name}=${value}`);
      if (mayBeAlone && value !== undefined) draft.doubtful = name;
    },
  };
}

function unverified(value: string): Error {
  const isFile = !/^(0|false|no|off)$/i.test(value);
  return usageError(
    isFile
      ? '--verify-ssl with a file: certificates are the business of Node'
      : 'Certificates are always checked',
    `Trust the one of that server: NODE_EXTRA_CA_CERTS=${isFile ? value : 'ca.pem'} isthmus serve …`,
  );
}
