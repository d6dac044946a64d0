import { type Command, InvalidArgumentError, Option } from 'commander';
import type { Mode } from '../../client/options.js';
import { collect, toMs, toVariable } from '../common-options.js';

/** What `isthmus serve` takes. */
export interface ServeOptions {
  readonly listen?: readonly string[];
  readonly host?: string;
  readonly port?: number;
  readonly upstream?: string;
  readonly upstreamProtocol: Mode;
  readonly config?: readonly string[];
  readonly import?: readonly string[];
  readonly watch: boolean;
  readonly separator?: string;
  readonly name?: string;
  readonly processes?: 'shared' | 'per-client';
  readonly stateless?: boolean;
  readonly timeout?: number;
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly passEnvironment?: boolean;
  readonly header?: readonly string[];
  readonly apiKey?: readonly string[];
  readonly bearerFile?: string;
  readonly jwtJwks?: string;
  readonly jwtAudience?: readonly string[];
  readonly jwtIssuer?: string;
  readonly jwtScope?: readonly string[];
  readonly authServer?: readonly string[];
  readonly resource?: string;
  readonly allowUnauthenticated?: boolean;
  readonly allowOrigin?: readonly string[];
  readonly allowHost?: readonly string[];
  readonly maxBody?: number;
  readonly maxSessions?: number;
  readonly sessionTimeout?: number;
  readonly maxConcurrent?: number;
  readonly rateLimit?: number;
  readonly grace?: number;
  readonly logLevel?: string;
  readonly logFormat?: 'pretty' | 'json';
  readonly debug?: boolean;
  readonly control: boolean;
  readonly json?: boolean;
  readonly quiet?: boolean;
}

export const DEFAULT_ADDRESS = 'http://127.0.0.1:8080/mcp';

export function addServeOptions(command: Command): Command {
  return command
    .optionsGroup('Where to serve:')
    .option('-l, --listen <address>', `an address; repeatable (default: ${DEFAULT_ADDRESS})`, collect)
    .option('-p, --port <port>', 'short for --listen http://127.0.0.1:PORT/mcp; 0 takes a free one', toPort)
    .option('--host <host>', 'the host for --port (default: 127.0.0.1)')
    .optionsGroup('What to serve:')
    .option(
      '-c, --config <file>',
      'the servers of this file (mcpServers); repeatable, later files win',
      collect,
    )
    .option(
      '--import <host>',
      'the servers that a host has configured: cursor, vscode, claude-desktop …; repeatable',
      collect,
    )
    .option('--no-watch', 'do not read the files again when they change')
    .option('--separator <text>', 'between server and tool in the list of all (default: __)')
    .option('-u, --upstream <address>', 'the server, where it runs already')
    .addOption(
      new Option('--upstream-protocol <era>', 'find out the era of the server, or insist on one')
        .choices(['auto', 'modern', 'legacy'])
        .default('auto'),
    )
    .option('--name <name>', 'what the server is called: /mcp/NAME, logs and status')
    .addOption(
      new Option(
        '--processes <model>',
        'one process for all clients, or one for each legacy client (default: shared; with nothing but stdio to listen on, per-client)',
      ).choices(['shared', 'per-client']),
    )
    .option('--stateless', 'the server keeps nothing for its clients: different principals may share it')
    .option('-t, --timeout <ms>', 'how long the server may take over one call (default: 600000)', toMs)
    .option('--cwd <folder>', 'the folder that the command runs in')
    .option(
      '--env <name=value>',
      'a variable for the command; --env NAME passes on your own; repeatable',
      toVariable,
    )
    .option('--pass-environment', 'the command gets your whole environment')
    .option('-H, --header <header>', 'a header for every request to an upstream URL; repeatable', collect)
    .optionsGroup('Who may ask:')
    .option(
      '--api-key <key>',
      'let in whoever sends this key; NAME=KEY names the caller; repeatable',
      collect,
    )
    .option('--bearer-file <file>', 'let in whoever sends a token of this file (NAME: TOKEN, one a line)')
    .option('--jwt-jwks <url>', 'let in whoever sends a JWT that is signed with one of these keys')
    .option(
      '--jwt-audience <name>',
      'and is meant for this audience; needed with --jwt-jwks; repeatable',
      collect,
    )
    .option('--jwt-issuer <url>', 'and comes from this issuer')
    .option('--jwt-scope <scope>', 'and has this scope; repeatable', collect)
    .option('--auth-server <url>', 'who gives out tokens, told to clients (RFC 9728); repeatable', collect)
    .option('--resource <url>', 'this server as its clients know it, where it stands behind a proxy')
    .option('--allow-unauthenticated', 'serve an address that others can reach without asking who they are')
    .option(
      '--allow-origin <origin>',
      'web pages of this origin may call (CORS); * for all; repeatable',
      collect,
    )
    .option('--allow-host <name>', 'a name under which it may be asked for; repeatable', collect)
    .optionsGroup('Limits:')
    .option('--max-body <bytes>', 'the longest body of a request (default: 4194304)', toCount)
    .option('--max-sessions <count>', 'legacy sessions at each address (default: 1000)', toCount)
    .option(
      '--session-timeout <ms>',
      'forget a legacy session after so long without use (default: 1800000)',
      toMs,
    )
    .option('--max-concurrent <count>', 'calls that a server is given at the same time', toCount)
    .option('--rate-limit <count>', 'calls per minute of each caller', toCount)
    .option('--grace <ms>', 'how long running calls may take when it is to end (default: 10000)', toMs)
    .optionsGroup('What it says:')
    .addOption(
      new Option('--log-level <level>', 'how much is logged (default: info)').choices([
        'trace',
        'debug',
        'info',
        'warn',
        'error',
        'silent',
      ]),
    )
    .addOption(new Option('--log-format <format>', 'for people or for programs').choices(['pretty', 'json']))
    .option('--debug', 'short for --log-level debug')
    .option('--no-control', 'no control socket: isthmus status, restart, logs … do not reach it')
    .option('--json', 'print {"addresses":[…],"pid":…} on stdout, on one line, when it can be used')
    .option('-q, --quiet', 'say nothing on stderr but what went wrong: not even the addresses (--json does)');
}

function toPort(text: string): number {
  const port = Number(text);
  if (!/^\d{1,5}$/.test(text) || port > 65535) {
    throw new InvalidArgumentError('It must be a port, from 0 to 65535.');
  }
  return port;
}

function toCount(text: string): number {
  const count = Number(text);
  if (!/^\d+$/.test(text) || !Number.isSafeInteger(count) || count < 1) {
    throw new InvalidArgumentError('It must be a whole number, 1 or more.');
  }
  return count;
}
