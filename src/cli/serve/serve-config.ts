import { type Departure, planDeparture } from '../../async/departure.js';
import { describeProblem, type ServersChange, watchServers } from '../../config/index.js';
import { type Operation, operateGateway, type ReadUnits } from '../../gateway/operation.js';
import type { UnitDefinition } from '../../gateway/unit-definition.js';
import { ownProcess } from '../../server/own-process.js';
import { usageError } from '../cli-error.js';
import { EXIT } from '../exit-codes.js';
import { createPrompter, type Prompter } from '../terminal/prompter.js';
import { processTerminal } from '../terminal/terminal.js';
import { addressesOf } from './addresses.js';
import { askInputs } from './ask-inputs.js';
import { openDoors } from './doors.js';
import { openHouse } from './house.js';
import { cannotListen } from './listen-at.js';
import { missingConfigHint } from './missing-config.js';
import { namedUnits } from './named-units.js';
import { filesOf, labelOf, toUnits } from './read-units.js';
import type { ServeOptions } from './serve-options.js';
import { tellDescriptors } from './tell-descriptors.js';

/** It can be used there. */
export type Announce = (addresses: readonly string[], names: readonly string[]) => void;

/** Serves all servers of some files. One that cannot be started does not keep the others away. */
export async function serveConfig(options: ServeOptions, announce: Announce): Promise<void> {
  const { files, skipMissing } = filesOf(options.config, options.import);
  const house = openHouse(options, true);
  const { log } = house;
  let operation: Operation | undefined;
  let departure: Departure;
  const { inputs, secrets } = await askInputs(files, options.input ?? {}, prompterFor(options), NEVER);
  house.redactor.add(secrets);
  let read: ((change: ServersChange) => ReadUnits) | undefined;
  const watch = await watchServers(
    files,
    { skipMissing, inputs, lookMs: options.watch ? 5000 : false },
    (change) => {
      if (options.watch && read) operation?.adopt(read(change));
    },
  );
  try {
    const { servers } = usable(watch.current, files);
    const { gateway: settings = {} } = servers;
    const addresses = addressesOf(options, settings.listen);
    const doors = openDoors(options, addresses, (message) => log.warn({}, message));
    const limits = options.maxConcurrent === undefined ? {} : { maxConcurrent: options.maxConcurrent };
    const rules = { hasPrincipals: doors.hasPrincipals, gateway: { limits } };
    const named = namedUnits(options, doors.hasPrincipals);
    read = (change) => withNamed(toUnits(change, rules, operation?.gateway.definitions ?? []), named);
    const { units, warnings } = read(watch.current);
    for (const warning of warnings) log.warn({}, warning);
    if (units.length === 0) log.warn({}, `there are no servers in ${labelOf(files)}`);
    const graceMs = options.grace ?? settings.drainMs;
    departure = planDeparture({ isStdio: addresses.includes('stdio'), graceMs });
    operation = await operateGateway({
      ...house,
      units,
      addresses,
      endpoint: doors.endpoint,
      ...doors.places,
      tellsStderr: doors.isPrivate,
      separator: options.separator ?? settings.separator,
      patienceMs: settings.patienceMs,
      graceMs,
      read: async () => read!(await watch.reread()),
    }).catch((error: unknown) => {
      throw cannotListen(addresses, error);
    });
  } catch (error) {
    watch.close();
    throw error;
  }
  const { gateway, closed, reload } = operation;
  void closed.then(() => watch.close());
  tellDescriptors((line) => log.warn({}, line));
  ownProcess(operation, departure, () => void reload());
  announce(gateway.addresses, gateway.names);
}

/** Only where somebody is at the terminal, and stdin does not belong to the protocol. */
function prompterFor(options: ServeOptions): Prompter | undefined {
  const { canAsk, stdin, stderr } = processTerminal();
  if (!canAsk || addressesOf(options).includes('stdio')) return undefined;
  const onInterrupt = () => process.exit(EXIT.interrupted);
  return createPrompter(stdin, stderr, { terminal: true, onInterrupt });
}

const NEVER = new AbortController().signal;

/** Where there is nothing to go on with, a file that cannot be read is the end of it. */
function usable(change: ServersChange, files: readonly string[]): ServersChange {
  if (change.kind === 'read') return change;
  const [first, ...more] = change.problems.map(describeProblem);
  throw usageError(first!, missingConfigHint('serve', files) ?? 'isthmus config check FILE says more', more);
}

/** What was typed wins. */
function withNamed(read: ReadUnits, named: readonly UnitDefinition[]): ReadUnits {
  const names = new Set(named.map(({ name }) => name));
  return { ...read, units: [...read.units.filter(({ name }) => !names.has(name)), ...named] };
}
