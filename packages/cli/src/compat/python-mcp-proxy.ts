import { usageError } from '../cli-error.js';
import {
  allowOrigins,
  type CompatFlag,
  type CompatFlags,
  header,
  ignored,
  logLevel,
  renamed,
  tokenUrl,
} from './flags.js';

/** The options of mcp-proxy of PyPI (0.12). */
export const PYTHON_MCP_PROXY: CompatFlags = {
  'named-server': {
    takes: 'two',
    apply([first = '', second], { args }) {
      const hasCommand = /^[^\s=]+=./.test(first);
      if (second === undefined && !hasCommand) {
        throw usageError(
          `--named-server ${first} has no command`,
          `--named-server ${first} "npx -y some-server"`,
        );
      }
      args.push('--named-server', second === undefined ? first : `${first}=${second}`);
    },
  },
  'named-server-config': renamed('--config'),
  'no-pass-environment': ignored(),
  'no-stateless': ignored(),
  'no-debug': ignored(),
  'allow-origin': {
    takes: 'origins',
    apply(origins, { args }) {
      if (origins.length === 0)
        throw usageError('--allow-origin has no origin', '--allow-origin https://app.example.com');
      args.push(...allowOrigins(origins));
    },
  },
  'expose-header': {
    takes: 'one',
    apply([name = '']) {
      if (EXPOSED.has(name.toLowerCase())) return;
      throw usageError(
        `--expose-header ${name}: isthmus never sends this header`,
        'Leave it out; Mcp-Session-Id, WWW-Authenticate and Retry-After are always exposed',
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
  'token-url': tokenUrl,
  'verify-ssl': {
    takes: 'maybe',
    apply([value = 'true']) {
      if (!/^(1|true|yes|on)$/i.test(value)) throw unverified(value);
    },
  },
  'no-verify-ssl': {
    takes: 'nothing',
    apply() {
      throw unverified('false');
    },
  },
};

const EXPOSED: ReadonlySet<string> = new Set(['mcp-session-id', 'www-authenticate', 'retry-after']);

/** `sse` and `streamablehttp` allow one transport, like ours with `-only`. */
export function toStrategy(name: string): string {
  const strategies: Readonly<Record<string, string>> = { sse: 'sse-only', streamablehttp: 'http-only' };
  return strategies[name] ?? name;
}

/** The other program has `--env NAME VALUE`; ours are `--env NAME=VALUE` and `--env NAME`. */
function variable(isAmbiguous: boolean): CompatFlag {
  return {
    takes: 'two',
    apply([name = '', value], draft) {
      draft.args.push('--env', value === undefined ? name : `${name}=${value}`);
      if (isAmbiguous && value !== undefined) draft.ambiguousEnv = name;
    },
  };
}

function unverified(value: string): Error {
  const isFile = !/^(0|false|no|off)$/i.test(value);
  return usageError(
    isFile
      ? '--verify-ssl FILE is not supported: Node reads the certificates'
      : 'Certificates are always verified',
    `Trust the certificate of that server: NODE_EXTRA_CA_CERTS=${isFile ? value : 'ca.pem'} isthmus serve …`,
  );
}
