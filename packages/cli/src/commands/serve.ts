import { secretsOfWords } from '@isthmus/gateway/internal/secrets.js';
import { createRedactor } from '@isthmus/gateway/internal/telemetry/redactor.js';
import { connectorOfSpec } from '@isthmus/sdk/internal/host/spec-connector.js';
import { Command } from 'commander';
import { CliError, usageError } from '../cli-error.js';
import { settleEnvironment } from '../compat/environment.js';
import { addressesOf } from '../serve/addresses.js';
import { refuseIdle, type ServedKind } from '../serve/check-options.js';
import { DEMO, describeAddresses, describeGateway } from '../serve/describe-serving.js';
import { findUpstream } from '../serve/find-upstream.js';
import { createOperator, discreetFailure, discreetOperator } from '../serve/operator.js';
import { addServeOptions, SERVE_HELP, type ServeCommandOptions } from '../serve/serve-options.js';
import { servedSpec } from '../serve/served-spec.js';
import type { CommandTarget } from '../target.js';
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
    .action((words: string[], given: ServeCommandOptions) => {
      const sourceOf = (name: keyof ServeCommandOptions) => command.getOptionValueSource(name);
      const options = settleEnvironment(given, sourceOf, behind !== undefined);
      const { upstream } = options;
      const target = findUpstream({ before, words, behind, upstream });
      return run(target, options, (name) => sourceOf(name) === 'cli');
    });
}

/** One promise that somebody forgot must not be the end of all servers. */
function outliveBugs(): void {
  process.on('unhandledRejection', (error) => {
    const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
    process.stderr.write(`isthmus: this should not happen, and goes on all the same: ${text}\n`);
  });
}

async function run(
  target: CommandTarget | undefined,
  options: ServeCommandOptions,
  isTyped: (name: keyof ServeCommandOptions) => boolean,
): Promise<void> {
  const { quiet = false, json } = options;
  const operator = createOperator(processTerminal());
  outliveBugs();
  const announce = (real: readonly string[], lines: readonly string[]) => {
    if (!quiet) for (const line of lines) operator.say(line);
    if (json) process.stdout.write(`${JSON.stringify({ addresses: real, pid: process.pid })}\n`);
  };
  if (process.pid === 1) operator.say(`isthmus: warning: ${FIRST_PROCESS}`);
  const addresses = addressesOf(options);
  const serving = whatIsServed(target, options);
  refuseIdle(isTyped, serving, addresses);
  checkJson(options, addresses);
  if (serving === 'files' || serving === 'named') {
    const { serveConfig } = await import('../serve/serve-config.js');
    return serveConfig(options, (real, names) => announce(real, describeGateway(real, names)));
  }
  // A client that launches us should not have to wait for what only others need.
  const open = async () => {
    const { openHttpAccess } = await import('../serve/http-access.js');
    return openHttpAccess(options, addresses, (message) => operator.say(`isthmus: warning: ${message}`));
  };
  if (!target) {
    const { serveDemo } = await import('../serve/serve-demo.js');
    const doors = await open();
    const { readStateKeys } = await import('../serve/state-keys.js');
    const real = await serveDemo(addresses, doors, readStateKeys(options.stateKey));
    return announce(real, describeAddresses(real, DEMO, doors.hasPrincipals));
  }
  const spec = servedSpec(target, options, { processes: 'per-client' });
  // Refuses an address that cannot be used.
  connectorOfSpec(spec);
  const { text: clean } = createRedactor(secretsOfWords(options));
  const discreet = discreetOperator(operator, { text: clean });
  const isForOne = addresses.every((address) => address === 'stdio');
  if (isForOne && !needsGateway(options, isTyped)) {
    // One client on one process has no replicas; and children do not get the keys.
    delete process.env['ISTHMUS_STATE_KEY'];
    const { serveOnStdio } = await import('../serve/serve-on-stdio.js');
    return serveOnStdio(spec, { quiet: quiet || isSilent(options) }, discreet);
  }
  const { serveSingle } = await import('../serve/serve-single.js');
  const { openTelemetry } = await import('../serve/telemetry-options.js');
  const doors = await open();
  const ofMany = doors.hasPrincipals && !options.statelessServer ? 'per-principal' : 'shared';
  return serveSingle(
    servedSpec(target, options, { processes: isForOne ? 'per-client' : ofMany }),
    {
      addresses,
      doors,
      house: openTelemetry(options, false),
      graceMs: options.grace,
      quiet,
      announce: (real, what) => announce(real, describeAddresses(real, what, doors.hasPrincipals)),
    },
    discreet,
  ).catch((error: unknown) => {
    throw error instanceof CliError ? discreetFailure(error, clean) : error;
  });
}

/** One client on stdio can do without most of it, unless somebody asks for it. */
function needsGateway(
  { logLevel }: ServeCommandOptions,
  isTyped: (name: keyof ServeCommandOptions) => boolean,
): boolean {
  const names = [
    'stateKey',
    'name',
    'maxConcurrent',
    'maxParked',
    'rateLimit',
    'grace',
    'logFormat',
    'debug',
  ] as const;
  return names.some(isTyped) || logLevel === 'debug' || logLevel === 'trace';
}

function isSilent({ logLevel }: ServeCommandOptions): boolean {
  return logLevel !== undefined && /^(warn|error|silent)$/.test(logLevel);
}

function whatIsServed(target: CommandTarget | undefined, options: ServeCommandOptions): ServedKind {
  const { config, import: imported, namedServer } = options;
  if (!config && !imported && !namedServer) {
    if (!target) return 'demo';
    return target.kind === 'command' ? 'command' : 'address';
  }
  if (!target) return namedServer ? 'named' : 'files';
  throw usageError(
    namedServer
      ? 'Servers with names, and one without: at /mcp are all of them together'
      : 'Two kinds of target: the servers of a file, and one of the command line',
    namedServer
      ? 'Give it a name, too: --named-server NAME COMMAND'
      : 'Leave one out, or put the command into the file',
  );
}

/** Node reaps its own children only; processes that a server left behind come to the first one. */
const FIRST_PROCESS =
  'it is the first process here and leaves zombies of others alone; start it with docker run --init, or with tini';

function checkJson({ json }: ServeCommandOptions, addresses: readonly string[]): void {
  if (!json || !addresses.includes('stdio')) return;
  throw usageError(
    '--json prints on stdout, and with --listen stdio that belongs to the protocol',
    'Leave one of the two out',
  );
}
