import type { Mode } from '@isthmus/sdk/internal/client/options.js';
import { type Command, Option } from 'commander';
import { addServerFlags } from '../add-server-flags.js';
import { addClusterOptions, type ClusterFlags } from '../cluster/cluster-options.js';
import { collect, toInput, toMs, toVariable } from '../common-options.js';
import { type ConsoleAddress, toConsoleAddress } from '../console/console-address.js';
import { collectKeyLevel, collectScopeLevel, type NamedLevel } from '../console/console-levels.js';
import { type AuthFlags, authOptions } from '../login/auth-options.js';
import { addWorkerOptions, type WorkerFlags } from '../workers/worker-options.js';
import { type AccessFlags, addAccessOptions } from './access/access-flags.js';
import { DEFAULT_ADDRESS } from './addresses.js';
import { env, toCount, toCountOrNone, toPath, toPaths, toPort } from './option-values.js';

/** What `isthmus serve` takes. */
export interface ServeCommandOptions
  extends Omit<AuthFlags, 'resource'>,
    ClusterFlags,
    WorkerFlags,
    AccessFlags {
  readonly listen?: readonly string[];
  readonly host?: string;
  readonly port?: number;
  readonly path?: string;
  readonly ssePath?: string;
  readonly messagePath?: string;
  readonly sse: boolean;
  readonly healthPath?: readonly string[];
  readonly upstream?: string;
  readonly era?: Mode;
  readonly config?: readonly string[];
  readonly import?: readonly string[];
  /** `NAME=COMMAND`. */
  readonly namedServer?: readonly string[];
  readonly input?: Readonly<Record<string, string>>;
  readonly watch: boolean;
  readonly separator?: string;
  readonly name?: string;
  readonly processes?: 'shared' | 'per-conversation';
  readonly statelessServer?: boolean;
  readonly ignoreTool?: readonly string[];
  readonly timeout?: number;
  readonly connectTimeout?: number;
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly passEnvironment?: boolean;
  readonly header?: readonly string[];
  readonly transport?: 'http-first' | 'http-only' | 'sse-only';
  readonly stateless?: boolean;
  readonly resumableEvents?: number;
  readonly maxBody?: number;
  readonly maxSessions?: number;
  readonly maxStreams?: number;
  readonly sessionTimeout?: number;
  readonly maxConcurrent?: number;
  readonly maxParked?: number;
  readonly rateLimit?: number;
  readonly grace?: number;
  readonly stateKey?: string;
  readonly taskStore?: string;
  readonly logLevel?: string;
  readonly logFormat?: 'pretty' | 'json';
  readonly auditLog?: string;
  readonly auditMaxSize?: number;
  readonly auditKeep?: number;
  readonly auditArguments?: boolean;
  readonly debug?: boolean;
  readonly control: boolean;
  readonly console?: ConsoleAddress;
  readonly consoleKey?: readonly NamedLevel[];
  readonly consoleScope?: readonly NamedLevel[];
  readonly consoleBehindTls?: boolean;
  /** `false` with --no-record. */
  readonly record: boolean;
  readonly json?: boolean;
  readonly quiet?: boolean;
  readonly verbose?: boolean;
}

export function addServeOptions(command: Command): Command {
  command
    .optionsGroup('Where to serve:')
    .addOption(
      env(
        '-l, --listen <address>',
        `an address; repeatable (default: ${DEFAULT_ADDRESS})`,
        'LISTEN',
        collect,
      ),
    )
    .addOption(
      env(
        '-p, --port <port>',
        'short for --listen http://127.0.0.1:PORT/mcp; 0 takes a free one',
        'PORT',
        toPort,
      ),
    )
    .addOption(env('--host <host>', 'the host for --port (default: 127.0.0.1)', 'HOST'))
    .option('--path <path>', 'the path for --port (default: /mcp)', toPath)
    .option('--sse-path <path>', 'where clients of 2024-11-05 listen (default: /sse, beside /mcp)', toPath)
    .option('--message-path <path>', 'where they post (default: /message, beside /mcp)', toPath)
    .option('--no-sse', 'do not serve clients of 2024-11-05')
    .option('--health-path <path>', 'one more path that answers as /healthz does; repeatable', toPaths);
  addWhat(command);
  addAccessOptions(command);
  command
    .optionsGroup('Limits:')
    .option('--max-body <bytes>', 'the longest body of a request (default: 4194304)', toCount)
    .option(
      '--max-sessions <count>',
      'legacy sessions at each address; then the client with the most loses its oldest (default: 1000)',
      toCount,
    )
    .option(
      '--max-streams <count>',
      'open subscriptions/listen at each address; the client with most gives way (default: 1024)',
      toCount,
    )
    .option(
      '--session-timeout <ms>',
      'forget a legacy session after so long without use (default: 1800000)',
      toMs,
    )
    .option(
      '--stateless',
      'legacy clients get no sessions: requests are independent, and servers cannot ask questions',
    )
    .option(
      '--resumable-events <count>',
      'events that a legacy session keeps for clients that reconnect (default: 1000; 0 for none)',
      toCountOrNone,
    );
  addServerFlags(command, 'serve', { forMany: true });
  command
    .option('--rate-limit <count>', 'calls and new sessions per minute of each caller', toCount)
    .option(
      '--grace <ms>',
      'time for running calls to finish when it ends (default: 2500 after a signal, 10000 after the end of stdin)',
      toMs,
    )
    .optionsGroup('Replicas:')
    .option(
      '--state-key <file>',
      'a file with keys that seal requestState, one a line, so that replicas with the same keys accept the rounds of each other; the first seals, all open. Or ISTHMUS_STATE_KEY. A key itself does not belong on the command line',
    )
    .addOption(
      env(
        '--task-store <place>',
        'where tasks are kept: redis://HOST:6379 or sqlite:FILE (default: the Redis of --cluster, else memory)',
        'TASK_STORE',
      ),
    );
  addWorkerOptions(command);
  addClusterOptions(command);
  command
    .optionsGroup('Logging:')
    .addOption(
      env('--log-level <level>', 'the lowest level that is logged (default: info)', 'LOG_LEVEL').choices([
        ...['trace', 'debug', 'info', 'warn', 'error', 'silent'],
      ]),
    )
    .addOption(
      env('--log-format <format>', 'for people or for programs', 'LOG_FORMAT').choices(['pretty', 'json']),
    )
    .option('--audit-log <file>', 'write down every call to this file, one line of JSON each')
    .option('--audit-max-size <bytes>', 'a longer file is kept as FILE.1 (default: 10485760)', toCount)
    .option('--audit-keep <count>', 'how many older files are kept (default: 5)', toCountOrNone)
    .option('--audit-arguments', 'also write down the arguments of calls, without what looks like a secret')
    .option('--debug', 'short for --log-level debug')
    .option('--no-control', 'no control socket: isthmus status, restart, logs … do not reach it')
    .option(
      '--console <address>',
      'open the console at HOST:PORT of this machine now, and print a link; off: never (default: when isthmus console asks)',
      toConsoleAddress,
    )
    .option(
      '--console-key <name=level>',
      'a caller (the name of a key, or jwt:ISSUER|SUBJECT) enters the console with its key or token; look, act or record; repeatable',
      collectKeyLevel,
    )
    .option(
      '--console-scope <level=scope>',
      'callers whose token has this scope enter the console with it; repeatable',
      collectScopeLevel,
    )
    .option(
      '--console-behind-tls',
      'the console is at an address of other machines, behind something that encrypts',
    )
    .option('--no-record', 'the console cannot record messages of clients')
    .option('--json', 'print {"addresses":[…],"pid":…} on stdout, on one line, when it can be used')
    .option('-q, --quiet', 'errors only on stderr, without the addresses (--json prints them)')
    .option('--verbose', 'also print requests for curl, of both eras');
  return command;
}

export const SERVE_HELP = `
--listen takes http://HOST:PORT/PATH, stdio, unix:PATH or tcp://HOST:PORT; port 0 takes a free one. With stdio
among several, the end of stdin ends them all. A command is started first and gets a clean environment; what it
writes to stderr is passed on. One that ends at once is started again five times within half a minute. An
--upstream that cannot be reached is tried again with each request.

With --config each server is at /mcp/NAME and /servers/NAME/mcp, and all of them together are at /mcp, as NAME__tool.
Every HTTP address also has /healthz, /readyz, /status and /metrics, and /sse with /message for clients of 2024-11-05.
Files are read again when they change, and on SIGHUP. isthmus status, restart, stop, start, logs and doctor control
this gateway. A browser gets a short page at /.

ISTHMUS_… variables set what is not typed. Options of supergateway, mcp-proxy and mcp-remote are understood, and all of them
in camelCase, too; isthmus docs moving has the lines side by side.

Examples:
  isthmus serve -- npx -y @modelcontextprotocol/server-everything     # a stdio server, over HTTP
  isthmus serve --config .mcp.json                                    # all servers of a file
  isthmus serve --named-server a "npx -y server-a" --named-server b "npx -y server-b"
  isthmus serve --import cursor --port 9000                           # all servers that Cursor knows
  isthmus serve --listen stdio --upstream https://example.com/mcp     # a remote server, for a host that only launches
  isthmus serve --listen unix:/run/files.sock -- mcp-server-filesystem /srv
  isthmus serve --host 0.0.0.0 --api-key "$KEY" -- some-server        # for other machines, with a key
  isthmus serve --upstream tcp://127.0.0.1:4000 --era legacy
  isthmus serve --json -q --port 0 -- some-server                     # a free port, for scripts
  isthmus serve                                                       # the demo server

Exit codes:
  0    it was stopped (Ctrl-C, SIGTERM, the end of stdin), and running calls were finished
  1    it cannot listen there
  2    the command line or the configuration is invalid
  3    the server cannot be started, or cannot be used; with stdio, also: it was never reached
  130  Ctrl-C a second time, or running calls took longer than --grace (143: SIGTERM)
`;

/** The options about the servers and how to reach them. */
function addWhat(command: Command): void {
  command
    .optionsGroup('What to serve:')
    .addOption(
      env(
        '-c, --config <file>',
        'the servers of this file (mcpServers); repeatable, later files win',
        'CONFIG',
        collect,
      ),
    )
    .option(
      '--import <host>',
      'the servers that a host has configured: cursor, vscode, claude-desktop …; repeatable',
      collect,
    )
    .option(
      '--named-server <name=command>',
      'one of many servers, its command in quotes; repeatable, also with --config',
      collect,
    )
    .option(
      '--input <id=value>',
      'a value for input:ID of a file, which an editor would ask for; repeatable. On a terminal, serve asks for the others',
      toInput,
    )
    .option('--no-watch', 'do not read the files again when they change')
    .option('--separator <text>', 'between server and tool in the list of all (default: __)')
    .addOption(env('-u, --upstream <address>', 'the address of a server that already runs', 'UPSTREAM'))
    .option('--name <name>', 'the name of the server in /mcp/NAME, logs and status');
  addServerFlags(command, 'serve');
  command
    .option('--cwd <folder>', 'the folder that the command runs in')
    .option(
      '--env <name=value>',
      'a variable for the command; --env NAME passes on your own; repeatable',
      toVariable,
    )
    .option('-H, --header <header>', 'a header for every request to an upstream URL; repeatable', collect)
    .option('--header-file <file>', 'the same from a file, Name: value, one a line; repeatable', collect)
    .addOption(
      new Option('--transport <strategy>', 'how to talk to an upstream URL (default: http-first)').choices([
        ...['http-first', 'http-only', 'sse-only'],
      ]),
    );
  for (const option of authOptions()) command.addOption(option);
}
