import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { relative, resolve, sep } from 'node:path';
import { type ReadServers, type RunningGateway, runGateway } from '@isthmus/gateway/internal/run-gateway.js';
import type { GatewayServerSpec } from '@isthmus/gateway/internal/server-definition.js';
import {
  describeProblem,
  knownFiles,
  type ServersChange,
  watchServers,
} from '@isthmus/sdk/internal/config/index.js';
import { EXIT, usageError } from '../cli-error.js';
import { withClusterOfFile } from '../cluster/cluster-of-file.js';
import type { JoinedCluster } from '../cluster/cluster-options.js';
import { splitCommand } from '../compat/split-command.js';
import { commandTarget, quote } from '../target.js';
import { createPrompter, type Prompter } from '../terminal/ask-form.js';
import { processTerminal } from '../terminal/terminal.js';
import { openHttpAccess } from './access/http-access.js';
import { addressesOf } from './addresses.js';
import type { NamesOfServers } from './describe-serving.js';
import { openServed } from './open-served.js';
import { askInputs, filesOf, labelOf, toGatewayServers } from './read-gateway-servers.js';
import type { ServeCommandOptions } from './serve-options.js';
import { servedSpec } from './served-spec.js';
import { openTaskStore } from './task-store.js';
import { openTelemetry } from './telemetry-options.js';

/** Called when clients can use the servers. */
export type Announce = (addresses: readonly string[], servers: NamesOfServers, needsKey: boolean) => void;

/** Serves all servers of some files. A server that cannot be started does not affect the others. */
export async function serveConfig(
  given: ServeCommandOptions,
  announce: Announce,
  tellConsole: (running: RunningGateway) => Promise<void>,
): Promise<void> {
  const { files, skipMissing } = filesOf(given.config, given.import);
  let running: RunningGateway | undefined;
  let joined: JoinedCluster | undefined;
  let needsKey = false;
  let broken: ReadonlySet<string> = new Set();
  const { inputs, secrets } = await askInputs(files, given.input ?? {}, prompterFor(given), NEVER);
  let read: ((change: ServersChange) => ReadServers) | undefined;
  const watch = await watchServers(
    files,
    { skipMissing, inputs, lookMs: given.watch ? 5000 : false, env: environmentOfFiles() },
    (change) => {
      if (given.watch && read) running?.adopt(read(change));
    },
  );
  try {
    const { servers } = usable(watch.current, files);
    const { gateway: settings = {} } = servers;
    const options = withClusterOfFile(given, settings.cluster);
    const { joined: ownCluster, ...telemetry } = await openTelemetry(options, true);
    joined = ownCluster;
    telemetry.redactor.add(secrets);
    const warn = (line: string) => telemetry.log.warn({}, line);
    const addresses = addressesOf(options, settings.listen);
    const access = openHttpAccess(options, addresses, warn);
    const { hasPrincipals } = access;
    needsKey = access.needsKey;
    const limits = options.maxConcurrent === undefined ? {} : { maxConcurrent: options.maxConcurrent };
    const rules = { hasPrincipals, gateway: { limits }, started: settings, maxParked: options.maxParked };
    const named = namedServers(options, hasPrincipals);
    read = (change) => withNamed(toGatewayServers(change, rules, running?.gateway.definitions ?? []), named);
    const { units, access: callerRules, warnings } = read(watch.current);
    broken = new Set(units.flatMap(({ kind, name }) => (kind === 'broken' ? [name] : [])));
    for (const warning of warnings) warn(warning);
    if (units.length === 0) warn(`there are no servers in ${labelOf(files)}`);
    const taskStore = await openTaskStore(options, joined);
    running = await openServed(
      { addresses, access, graceMs: options.grace ?? settings.drainMs, joined, taskStore, warn },
      (common) =>
        runGateway({
          ...telemetry,
          ...common,
          units,
          access: callerRules,
          warnings,
          separator: options.separator ?? settings.separator,
          patienceMs: settings.patienceMs,
          read: async () => read!(await watch.reread()),
        }),
      ({ reload }) => void reload(),
    );
  } catch (error) {
    watch.close();
    await joined?.cluster.leave();
    throw error;
  }
  const { gateway, closed } = running;
  void closed.then(() => watch.close());
  announce(gateway.addresses, { names: gateway.names, broken }, needsKey);
  await tellConsole(running);
}

/** Only with a terminal, and if stdin does not belong to the protocol. */
function prompterFor(options: ServeCommandOptions): Prompter | undefined {
  const { canAsk, stdin, stderr } = processTerminal();
  if (!canAsk || addressesOf(options).includes('stdio')) return undefined;
  const onInterrupt = () => process.exit(EXIT.interrupted);
  return createPrompter(stdin, stderr, { terminal: true, onInterrupt });
}

const NEVER = new AbortController().signal;

/** What references of the files can name, now and when they are read again. Secrets of this process are not among it. */
function environmentOfFiles(): Readonly<Record<string, string | undefined>> {
  const { ISTHMUS_CLUSTER_SECRET: _secret, ISTHMUS_STATE_KEY: _key, ...others } = process.env;
  return others;
}

/** At the start, a file that cannot be read is an error. Later, the earlier configuration stays. */
function usable(change: ServersChange, files: readonly string[]): ServersChange {
  if (change.kind === 'read') return change;
  const [first, ...more] = change.problems.map(describeProblem);
  throw usageError(
    first!,
    missingConfigHint('serve', files) ?? 'isthmus config check FILE shows all problems',
    more,
  );
}

/** Named servers of the command line replace those of the files. */
function withNamed(read: ReadServers, named: readonly GatewayServerSpec[]): ReadServers {
  const names = new Set(named.map(({ name }) => name));
  return { ...read, units: [...read.units.filter(({ name }) => !names.has(name)), ...named] };
}

/** A hint for a missing file of `--config`: the files of applications that exist. */
export function missingConfigHint(
  command: string,
  files: readonly string[],
  exists: (file: string) => boolean = existsSync,
): string | undefined {
  if (files.every((file) => exists(resolve(file)))) return undefined;
  const there = knownFiles().filter(({ path }) => exists(path));
  const [first] = there;
  if (!first) {
    return `No application has a file here either. isthmus ${command} -- COMMAND ARGS… needs no file`;
  }
  const all = there.map(({ application, path }) => `${near(path)} (${application})`).join(', ');
  // A shell expands ~ only where it is not quoted.
  const file = near(first.path).replace(/[^~].*/s, quote);
  return `There are ${all}: isthmus ${command} --config ${file}`;
}

/** Relative to the working folder or to the home, if possible. */
function near(path: string): string {
  const here = relative(process.cwd(), path);
  if (!here.startsWith('..')) return here;
  const home = relative(homedir(), path);
  return home.startsWith('..') ? path : `~${sep}${home}`;
}

/** The servers of `--named-server NAME=COMMAND`. The other options about a server apply to all of them. */
function namedServers(options: ServeCommandOptions, hasPrincipals: boolean): readonly GatewayServerSpec[] {
  const processes = hasPrincipals && !options.statelessServer ? 'per-principal' : 'shared';
  const names = new Set<string>();
  return (options.namedServer ?? []).map((text) => {
    const { name, words } = namedCommand(text);
    if (names.has(name))
      throw usageError(`Two servers are called ${name}`, 'Give each --named-server its own name');
    names.add(name);
    const [command = '', ...args] = words;
    return servedSpec(commandTarget(command, args), options, { name, processes, start: 'eager' });
  });
}

function namedCommand(text: string): { readonly name: string; readonly words: readonly string[] } {
  const [, name, command] = /^([^\s=]+)=(.*)$/s.exec(text) ?? [];
  if (name === undefined || command === undefined) {
    throw usageError(
      '--named-server needs a name and a command',
      '--named-server weather "npx -y weather-server"',
    );
  }
  return { name, words: splitCommand(command, `--named-server ${name}`) };
}
