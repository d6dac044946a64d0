import type { RunningGateway } from '@isthmus/gateway/internal/run-gateway.js';
import { secretsOfWords } from '@isthmus/gateway/internal/secrets.js';
import { createRedactor } from '@isthmus/gateway/internal/telemetry/redactor.js';
import type { ServerSpec } from '@isthmus/sdk/internal/config/server-spec.js';
import { messageOf } from '@isthmus/sdk/internal/errors.js';
import { resolveDefinition } from '@isthmus/sdk/internal/host/definition.js';
import { CliError, EXIT, usageError } from '../cli-error.js';
import { delayOptimization } from '../delay-optimization.js';
import { howWeWereCalled } from '../hosts/paste-lines.js';
import type { CommandTarget } from '../target.js';
import { processTerminal } from '../terminal/terminal.js';
import { addressesOf, listenAt } from './addresses.js';
import { refuseIdle, type ServedKind } from './check-options.js';
import {
  DEMO,
  describeAddresses,
  describeEvent,
  describeGateway,
  describeStartFailure,
  describeUpstream,
  isHopeless,
  oneLabel,
} from './describe-serving.js';
import { createOperator, discreetFailure, discreetOperator, type Operator } from './operator.js';
import type { ServeCommandOptions } from './serve-options.js';
import { servedSpec } from './served-spec.js';

/** What was typed after `isthmus serve`. */
export interface TypedServe {
  readonly target: CommandTarget | undefined;
  readonly options: ServeCommandOptions;
  /** Whether an option was typed, and did not come from a variable or a default. */
  isTyped(name: keyof ServeCommandOptions): boolean;
}

/** Checks what was typed, and serves it. With `--log-format json` a failure is a JSON line, too. */
export async function runServe(typed: TypedServe): Promise<void> {
  try {
    await serveTyped(typed);
  } catch (error) {
    if (typed.options.logFormat !== 'json' || !(error instanceof CliError)) throw error;
    createOperator(processTerminal(), typed.options).warn(error);
    process.exitCode = error.exitCode;
  }
}

/** Serves the servers of files, the demo, or one server. */
async function serveTyped(given: TypedServe): Promise<void> {
  const operator = createOperator(processTerminal(), given.options);
  surviveRejections(operator);
  const typed = await asWorker(given, operator);
  if (!typed) return;
  const { target, options, isTyped } = typed;
  delayOptimization();
  if (process.pid === 1) operator.say(`isthmus: warning: ${FIRST_PROCESS}`);
  const addresses = addressesOf(options);
  const serving = whatIsServed(target, options);
  refuseIdle(isTyped, serving, addresses);
  checkJson(options, addresses);
  const announce = announcer(options, operator);
  const { verbose = false } = options;
  if (serving === 'files' || serving === 'named') {
    const { serveConfig } = await import('./serve-config.js');
    return serveConfig(
      options,
      (real, servers, needsKey) => announce(real, describeGateway(real, servers, { needsKey, verbose })),
      (running) => tellConsole(running, options, operator),
    );
  }
  if (target) return runSingle({ ...typed, target: await withLogin(target, options) }, addresses, operator);
  const { serveDemo } = await import('./open-served.js');
  const { readStateKeys } = await import('./telemetry-options.js');
  const { openTaskStore } = await import('./task-store.js');
  const { joinPlanned, readClusterPlan } = await import('../cluster/cluster-options.js');
  const inputs = await inputsFor(options, addresses, operator);
  const joined = await joinPlanned(readClusterPlan(options), operator.say);
  const taskStore = await openTaskStore(options, joined);
  const real = await serveDemo(
    { ...inputs, graceMs: options.grace, joined, taskStore },
    readStateKeys(options.stateKey),
  );
  const { needsKey } = inputs.access;
  announce(real, describeAddresses(real, { name: 'demo', what: DEMO, needsKey, verbose }));
}

/** With `--workers` this is one of the workers, or their parent. Undefined: it was the parent, and all have ended. */
async function asWorker(typed: TypedServe, operator: Operator): Promise<TypedServe | undefined> {
  const { workers: count = 1, control } = typed.options;
  if (count === 1) return typed;
  const { isWorker, linkToParent } = await import('../workers/worker-link.js');
  if (isWorker()) {
    return { ...typed, options: { ...typed.options, worker: await linkToParent() } };
  }
  const { runWorkers } = await import('../workers/run-workers.js');
  await runWorkers({ count, control }, operator);
  return undefined;
}

/** Loads what is about logins only for a URL, so that a command starts fast. */
async function withLogin(target: CommandTarget, options: ServeCommandOptions): Promise<CommandTarget> {
  if (target.kind !== 'url' && options.auth === undefined && options.clientId === undefined) return target;
  const { withAuth } = await import('../login/auth-options.js');
  // The option `--resource` of serve is about its own clients.
  return withAuth(target, { ...options, resource: undefined } as Omit<ServeCommandOptions, 'resource'>);
}

/** One server of the command line. */
async function runSingle(
  { target, options, isTyped }: TypedServe & { readonly target: CommandTarget },
  addresses: readonly string[],
  operator: Operator,
): Promise<void> {
  const spec = servedSpec(target, options, { processes: 'per-conversation' });
  if (spec.kind !== 'command') {
    const { connectorOfSpec } = await import('@isthmus/sdk/internal/host/spec-connector.js');
    // Throws for an address that cannot be used.
    connectorOfSpec(spec);
  }
  const { text: clean } = createRedactor(secretsOfWords(options));
  const discreet = discreetOperator(operator, { text: clean });
  const { quiet = false, verbose = false } = options;
  const isOnlyStdio = addresses.every((address) => address === 'stdio');
  // A client that has started us waits, so only what it needs is loaded.
  if (isOnlyStdio && !needsGateway(options, isTyped)) {
    // The key is for replicas, which a process with one client does not have. The command must not inherit it.
    delete process.env['ISTHMUS_STATE_KEY'];
    return serveOnStdio(spec, { quiet: quiet || isSilent(options) }, discreet);
  }
  const { serveSingle } = await import('./serve-single.js');
  const { openTelemetry } = await import('./telemetry-options.js');
  const inputs = await inputsFor(options, addresses, operator);
  const { hasPrincipals, needsKey } = inputs.access;
  const ofMany = hasPrincipals && !options.statelessServer ? 'per-principal' : 'shared';
  const announce = announcer(options, operator);
  const { openTaskStore } = await import('./task-store.js');
  const { joined, ...telemetry } = await openTelemetry(options, false);
  const taskStore = await openTaskStore(options, joined);
  return serveSingle(
    servedSpec(target, options, { processes: isOnlyStdio ? 'per-conversation' : ofMany }),
    {
      ...inputs,
      graceMs: options.grace,
      telemetry,
      joined,
      taskStore,
      quiet,
      tellConsole: (running) => tellConsole(running, options, operator),
      announce: (real, what, name) =>
        announce(real, describeAddresses(real, { name, what, needsKey, verbose })),
    },
    discreet,
  ).catch((error: unknown) => {
    throw error instanceof CliError ? discreetFailure(error, clean) : error;
  });
}

async function inputsFor(options: ServeCommandOptions, addresses: readonly string[], operator: Operator) {
  const { openHttpAccess } = await import('./access/http-access.js');
  const warn = (line: string) => operator.say(`isthmus: warning: ${line}`);
  return { addresses, access: openHttpAccess(options, addresses, warn), warn };
}

/** Says where it can be used: to people on stderr, and with `--json` to programs on stdout. */
function announcer({ quiet, json, logFormat, worker }: ServeCommandOptions, operator: Operator) {
  return (real: readonly string[], lines: readonly string[]): void => {
    worker?.ready();
    if (worker?.speaks === false) return;
    if (!quiet && logFormat === 'json') {
      operator.say(`isthmus: serving at ${real.join(', ')}`, { event: 'serving', addresses: real });
    } else if (!quiet) for (const line of lines) operator.say(line);
    if (json)
      process.stdout.write(`${JSON.stringify({ addresses: real, pid: worker?.parentPid ?? process.pid })}\n`);
  };
}

/** Opens the console that `--console ADDRESS` asks for, and prints a link to it. */
async function tellConsole(
  running: Pick<RunningGateway, 'console'>,
  { console: at, worker }: ServeCommandOptions,
  operator: Operator,
): Promise<void> {
  // The first worker has the console. One that replaces it has it at the same address.
  if (at === undefined || at === 'off' || (worker && worker.number !== 1)) return;
  try {
    const { url } = await running.console('record');
    operator.say(`Console:  ${url}`, { event: 'console' });
    operator.say(`  The link works once, within 60 s. For another one: ${howWeWereCalled()} console`);
  } catch (error) {
    operator.say(`isthmus: warning: the console could not be opened: ${messageOf(error)}`);
  }
}

/** An unhandled rejection is a bug of one call. It must not end all servers. */
function surviveRejections(operator: Operator): void {
  process.on('unhandledRejection', (error) => {
    const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
    operator.say(`isthmus: unexpected internal error; continuing: ${text}`);
  });
}

/** Whether an option was given that only a gateway has. One client on stdio does not need the rest of it. */
function needsGateway({ logLevel }: ServeCommandOptions, isTyped: TypedServe['isTyped']): boolean {
  const names = [
    'stateKey',
    'cluster',
    'taskStore',
    'workers',
    'name',
    'maxConcurrent',
    'maxParked',
    'rateLimit',
    'grace',
    'console',
    'record',
    'logFormat',
    'debug',
    'auditLog',
    'auditArguments',
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
      ? '--named-server cannot be combined with a server that has no name'
      : 'Two kinds of target: the servers of a file, and one of the command line',
    namedServer
      ? 'Give each server a name: --named-server NAME COMMAND'
      : 'Leave one out, or put the command into the file',
  );
}

/** Node reaps only its own children. Processes that a server leaves behind become children of process 1. */
const FIRST_PROCESS =
  'it runs as process 1 and does not reap the zombies of other processes; start it with docker run --init, or with tini';

function checkJson({ json }: ServeCommandOptions, addresses: readonly string[]): void {
  if (!json || !addresses.includes('stdio')) return;
  throw usageError(
    '--json prints on stdout, which belongs to the protocol with --listen stdio',
    'Leave one of the two out',
  );
}

/** Serves a command or an address on stdio to the client that has started this process. */
async function serveOnStdio(
  spec: ServerSpec,
  { quiet }: { readonly quiet: boolean },
  operator: Operator,
): Promise<void> {
  const { name, mode = 'auto' } = spec;
  const label = spec.kind === 'command' ? oneLabel([spec.command, ...spec.args]) : name;
  if (spec.kind === 'command') {
    const { startEarly } = await import('@isthmus/sdk/internal/process/start-process.js');
    // The client will ask. Until then the command boots, and the rest of this program is loaded.
    startEarly(resolveDefinition(name, spec).command);
  }
  const { serveOne } = await import('@isthmus/gateway/internal/serve-one.js');
  await serveOne(spec, {
    listener: listenAt('stdio'),
    tellsStderr: false,
    watchesServers: false,
    onHostEvent(event, { upstream, upstreamSessions }) {
      if (event.kind === 'stderr') operator.passOn(event.text);
      const line = describeEvent(event, { isKnown: upstream !== undefined, isNeeded: upstreamSessions > 0 });
      if (line !== undefined) operator.say(`isthmus: ${line}`);
    },
    onStartFailed(error) {
      // The exit code of this process if stdin ends before the server has answered.
      process.exitCode = EXIT.cannotConnect;
      const failure = describeStartFailure(error, { target: spec, name, mode });
      operator.warn(failure, isHopeless(error) ? undefined : 'it is tried again with the next request');
    },
    onKnown(facts) {
      process.exitCode = EXIT.ok;
      if (!quiet) operator.say(describeUpstream(label, facts, true));
    },
  });
}
