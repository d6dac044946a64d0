import { Command, Option } from 'commander';
import type { Mode } from '../../client/options.js';
import { serve } from '../../server/serve.js';
import { usageError } from '../cli-error.js';
import { collect, toMs, toVariable } from '../common-options.js';
import { createDemoServer } from '../demo/demo-server.js';
import { DEMO, describeAddresses } from '../serve/describe-serving.js';
import { findUpstream } from '../serve/find-upstream.js';
import { listenAt } from '../serve/listen-at.js';
import { createOperator } from '../serve/operator.js';
import { serveUpstream } from '../serve/serve-upstream.js';
import type { Target } from '../target.js';
import { processTerminal } from '../terminal/terminal.js';

interface ServeOptions {
  readonly listen?: readonly string[];
  readonly upstream?: string;
  readonly upstreamProtocol: Mode;
  readonly processes?: 'shared' | 'per-client';
  readonly stateless?: boolean;
  readonly timeout?: number;
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly header?: readonly string[];
  readonly json?: boolean;
  readonly quiet?: boolean;
}

/** `before` is what was typed up to `--`, for advice that can be pasted. */
export function serveCommand(behind: readonly string[] | undefined, before: readonly string[] = []): Command {
  return new Command('serve')
    .description('Put any MCP server on any address, for clients of both eras at the same time.')
    .usage(
      [
        '[options] -- COMMAND ARGS…',
        'isthmus serve [options] --upstream URL|unix:PATH|tcp://HOST:PORT',
        'isthmus serve [options]                  (the demo server)',
      ].join('\n       '),
    )
    .argument('[words...]')
    .configureHelp({ visibleArguments: () => [] })
    .option('-l, --listen <address>', `where to serve; repeatable (default: ${DEFAULT_ADDRESS})`, collect)
    .option('-u, --upstream <address>', 'the server, where it runs already')
    .addOption(
      new Option('--upstream-protocol <era>', 'find out the era of the server, or insist on one')
        .choices(['auto', 'modern', 'legacy'])
        .default('auto'),
    )
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
    .option('-H, --header <header>', 'a header for every request to an upstream URL; repeatable', collect)
    .option('--json', 'print {"addresses":[…],"pid":…} on stdout, on one line, when it can be used')
    .option('-q, --quiet', 'say nothing on stderr but what went wrong: not even the addresses (--json does)')
    .addHelpText('after', HELP)
    .showHelpAfterError('(isthmus serve --help explains the options)')
    .exitOverride()
    .action((words: string[], options: ServeOptions) => {
      const { upstream } = options;
      return run(findUpstream({ before, words, behind, upstream }), options);
    });
}

async function run(target: Target | undefined, options: ServeOptions): Promise<void> {
  const { listen: addresses = [DEFAULT_ADDRESS], processes, stateless = false, quiet = false } = options;
  const { upstreamProtocol: mode, timeout: timeoutMs, cwd, env, header, json } = options;
  if (json && addresses.includes('stdio')) {
    throw usageError(
      '--json prints on stdout, and with --listen stdio that belongs to the protocol',
      'Leave one of the two out',
    );
  }
  const operator = createOperator(processTerminal());
  const announce = (real: readonly string[], what: string) => {
    if (!quiet) for (const line of describeAddresses(real, what)) operator.say(line);
    if (json) process.stdout.write(`${JSON.stringify({ addresses: real, pid: process.pid })}\n`);
  };
  if (target) {
    const settings = { mode, processes, stateless, timeoutMs, cwd, env, header };
    return serveUpstream(target, { ...settings, addresses, quiet, announce }, operator);
  }
  const served = await serve(createDemoServer(), addresses.map(listenAt), { ownsProcess: true });
  announce(served.addresses, DEMO);
}

const DEFAULT_ADDRESS = 'http://127.0.0.1:8080/mcp';

const HELP = `
--listen takes http://HOST:PORT/PATH, stdio, unix:PATH or tcp://HOST:PORT; port 0 takes a free one. With stdio
among several, the end of stdin ends them all. A command is started first and gets a clean environment; what it
writes to stderr is passed on. One that ends at once is started again five times within half a minute. An
--upstream that is away is tried again with each request.

Examples:
  isthmus serve -- npx -y @modelcontextprotocol/server-everything     # a stdio server, over HTTP
  isthmus serve --listen stdio --upstream https://example.com/mcp     # a remote server, for a host that only launches
  isthmus serve --listen unix:/run/files.sock -- mcp-server-filesystem /srv
  isthmus serve --upstream tcp://127.0.0.1:4000 --upstream-protocol legacy
  isthmus serve --json -q --listen http://127.0.0.1:0/mcp -- some-server   # a free port, for scripts
  isthmus serve                                                       # the demo server

Exit codes:
  0    it was stopped (Ctrl-C, SIGTERM, the end of stdin), and what was running is finished
  1    it cannot listen there
  2    the command line makes no sense
  3    the server behind cannot be started, or cannot be used; with stdio, also: it was never reached
  130  Ctrl-C a second time: what was running was not waited for (143: SIGTERM)
`;
