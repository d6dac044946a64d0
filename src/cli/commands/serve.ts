import { Command, Option } from 'commander';
import type { Mode } from '../../client/options.js';
import { IsthmusError, messageOf } from '../../errors.js';
import type { Service } from '../../exchange/call.js';
import type { HostEvent } from '../../host/host-event.js';
import { type Served, serve } from '../../server/serve.js';
import { listenerFor } from '../../transport/address.js';
import { CliError } from '../cli-error.js';
import { collect, toMs, toVariable } from '../common-options.js';
import { createDemoServer } from '../demo/demo-server.js';
import { describeFailure } from '../describe-failure.js';
import { EXIT } from '../exit-codes.js';
import { DEMO, describeAddresses, describeEvent, describeFar } from '../serve/describe-serving.js';
import { type OpenedUpstream, openUpstream } from '../serve/open-upstream.js';
import { type Target, takeTarget } from '../target.js';
import { printable } from '../terminal/text.js';

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
  readonly quiet?: boolean;
}

export function serveCommand(behind: readonly string[] | undefined): Command {
  return new Command('serve')
    .description('Put any MCP server on any address, for clients of both eras at the same time.')
    .usage(
      [
        '[options] -- COMMAND ARGS…',
        'isthmus serve [options] --upstream URL|unix:PATH|tcp://HOST:PORT',
        'isthmus serve [options]                  (the demo server)',
      ].join('\n       '),
    )
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
    .option('-q, --quiet', 'say nothing on stderr but what went wrong')
    .addHelpText('after', HELP)
    .showHelpAfterError('(isthmus serve --help explains the options)')
    .exitOverride()
    .action((options: ServeOptions) => run(options, behind));
}

async function run(options: ServeOptions, behind: readonly string[] | undefined): Promise<void> {
  const target = targetOf(options, behind);
  const say = (text: string) => process.stderr.write(`${text}\n`);
  if (!target) {
    const served = await listen(createDemoServer(), options, undefined);
    if (!options.quiet) for (const line of describeAddresses(served.addresses, DEMO)) say(line);
    return;
  }
  const { upstreamProtocol: mode, stateless = false, timeout, cwd, env, header, quiet } = options;
  // Then there is one client, and the server is opened for it, when it is there, with what it can do.
  const forOne = options.listen?.every((address) => address === 'stdio') ?? false;
  const processes = options.processes ?? (forOne ? 'per-client' : 'shared');
  const onEvent = (event: HostEvent) => {
    if (event.kind === 'stderr') process.stderr.write(event.text);
    const line = describeEvent(event);
    if (line !== undefined) say(`isthmus: ${line}`);
  };
  const settings = { mode, processes, stateless, timeoutMs: timeout, cwd, env, header, onEvent };
  const opened = openUpstream(target, settings);
  const label = target.kind === 'command' ? [target.command, ...target.args].join(' ') : placeOf(target);
  const served = await listen(opened.bridge, options, opened);
  if (!quiet) {
    for (const line of describeAddresses(served.addresses, label)) say(line);
    void opened.bridge.known.then((far) => say(describeFar(label, far, forOne)));
  }
  if (forOne) return;
  try {
    await opened.bridge.start();
  } catch (error) {
    const failure = describeFailure(error, {
      ...{ target, label, connected: false, mode },
      stderrTail: [],
    });
    if (isHopeless(error)) {
      await served.close({ graceMs: 0 });
      throw failure;
    }
    say(`isthmus: ${failure.message}; it is tried again with the next request`);
  }
}

async function listen(
  service: Service,
  { listen: addresses = [DEFAULT_ADDRESS] }: ServeOptions,
  opened: OpenedUpstream | undefined,
): Promise<Served> {
  try {
    return await serve(service, addresses.map(listenerFor), {
      ownsProcess: true,
      ...(opened && { onClose: () => opened.close() }),
    });
  } catch (error) {
    await opened?.close();
    if (!(error instanceof IsthmusError) || error.code !== 'ADDRESS_UNAVAILABLE') throw error;
    throw new CliError(EXIT.failed, printable(messageOf(error)), {
      hint: '--listen http://127.0.0.1:0/mcp takes a free port',
    });
  }
}

function targetOf({ upstream }: ServeOptions, behind: readonly string[] | undefined): Target | undefined {
  if (upstream === undefined && !behind) return undefined;
  return takeTarget('serve', upstream === undefined ? [] : [upstream], behind).target;
}

function placeOf(target: Target & { kind: 'url' | 'socket' }): string {
  return target.kind === 'url' ? target.url : target.address;
}

/** No later attempt will do better. */
function isHopeless(error: unknown): boolean {
  return error instanceof IsthmusError && (error.code === 'CANNOT_START' || error.code === 'INVALID_OPTION');
}

const DEFAULT_ADDRESS = 'http://127.0.0.1:8080/mcp';

const HELP = `
--listen takes http://HOST:PORT/PATH, stdio, unix:PATH or tcp://HOST:PORT; port 0 takes a free one.

Examples:
  isthmus serve -- npx -y @modelcontextprotocol/server-everything     # a stdio server, over HTTP
  isthmus serve --listen stdio --upstream https://example.com/mcp     # a remote server, for a host that only launches
  isthmus serve --listen unix:/run/files.sock -- mcp-server-filesystem /srv
  isthmus serve --upstream tcp://127.0.0.1:4000 --upstream-protocol legacy
  isthmus serve                                                       # the demo server
`;
