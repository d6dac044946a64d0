import { Command } from 'commander';
import { usageError } from '../cli-error.js';
import { addressesOf } from '../serve/addresses.js';
import { DEMO, describeAddresses, describeGateway } from '../serve/describe-serving.js';
import { findUpstream } from '../serve/find-upstream.js';
import { createOperator } from '../serve/operator.js';
import { SERVE_HELP } from '../serve/serve-help.js';
import { addServeOptions, type ServeOptions } from '../serve/serve-options.js';
import { connectorOf, type Target } from '../target.js';
import { processTerminal } from '../terminal/terminal.js';

/** `before` is what was typed up to `--`, for advice that can be pasted. */
export function serveCommand(behind: readonly string[] | undefined, before: readonly string[] = []): Command {
  const command = new Command('serve')
    .description('Put any MCP server on any address, for clients of both eras at the same time.')
    .usage(
      [
        '[options] -- COMMAND ARGS…',
        'isthmus serve [options] --upstream URL|unix:PATH|tcp://HOST:PORT',
        'isthmus serve [options] --config FILE       (many servers)',
        'isthmus serve [options]                     (the demo server)',
      ].join('\n       '),
    )
    .argument('[words...]')
    .configureHelp({ visibleArguments: () => [] });
  return addServeOptions(command)
    .addHelpText('after', SERVE_HELP)
    .showHelpAfterError('(isthmus serve --help explains the options)')
    .exitOverride()
    .action((words: string[], options: ServeOptions) => {
      const { upstream } = options;
      return run(findUpstream({ before, words, behind, upstream }), options);
    });
}

async function run(target: Target | undefined, options: ServeOptions): Promise<void> {
  const { quiet = false, json } = options;
  const operator = createOperator(processTerminal());
  const announce = (real: readonly string[], lines: readonly string[]) => {
    if (!quiet) for (const line of lines) operator.say(line);
    if (json) process.stdout.write(`${JSON.stringify({ addresses: real, pid: process.pid })}\n`);
  };
  if (process.pid === 1) operator.say(`isthmus: warning: ${FIRST_PROCESS}`);
  if (options.config || options.import) {
    if (target) {
      throw usageError(
        'Two kinds of target: the servers of a file, and one of the command line',
        'Leave one out, or put the command into the file',
      );
    }
    checkJson(options, addressesOf(options));
    const { serveConfig } = await import('../serve/serve-config.js');
    return serveConfig(options, (real, names) => announce(real, describeGateway(real, names)));
  }
  const addresses = addressesOf(options);
  checkJson(options, addresses);
  // A client that launches us should not have to wait for what only others need.
  const open = async () => {
    const { openDoors } = await import('../serve/doors.js');
    return openDoors(options, addresses, (message) => operator.say(`isthmus: warning: ${message}`));
  };
  if (!target) {
    const { serveDemo } = await import('../serve/serve-demo.js');
    const doors = await open();
    const real = await serveDemo(addresses, doors);
    return announce(real, describeAddresses(real, DEMO, doors.hasPrincipals));
  }
  const { upstreamProtocol: mode, stateless = false, timeout: timeoutMs, cwd, env, header } = options;
  const settings = { mode, stateless, timeoutMs, cwd, env, header };
  // Refuses what makes no sense for this kind of target.
  connectorOf(target, settings);
  if (addresses.every((address) => address === 'stdio')) {
    const { serveOnStdio } = await import('../serve/serve-on-stdio.js');
    return serveOnStdio(
      target,
      { ...settings, processes: options.processes ?? 'per-client', quiet },
      operator,
    );
  }
  const { serveSingle } = await import('../serve/serve-single.js');
  const { openHouse } = await import('../serve/house.js');
  const doors = await open();
  const ofMany = doors.hasPrincipals && !stateless ? 'per-principal' : 'shared';
  return serveSingle(
    target,
    {
      ...settings,
      addresses,
      doors,
      house: openHouse(options, false),
      name: options.name,
      processes: options.processes ?? ofMany,
      passEnvironment: options.passEnvironment ?? false,
      maxConcurrent: options.maxConcurrent,
      graceMs: options.grace,
      quiet,
      announce: (real, what) => announce(real, describeAddresses(real, what, doors.hasPrincipals)),
    },
    operator,
  );
}

/** Node reaps its own children only; processes that a server left behind come to the first one. */
const FIRST_PROCESS =
  'it is the first process here and leaves zombies of others alone; start it with docker run --init, or with tini';

function checkJson({ json }: ServeOptions, addresses: readonly string[]): void {
  if (!json || !addresses.includes('stdio')) return;
  throw usageError(
    '--json prints on stdout, and with --listen stdio that belongs to the protocol',
    'Leave one of the two out',
  );
}
