import { secretsOf } from '@isthmus/gateway/internal/secrets.js';
import { createRedactor, type Redactor } from '@isthmus/gateway/internal/telemetry/redactor.js';
import { readServers } from '@isthmus/sdk/internal/config/index.js';
import type { Connector } from '@isthmus/sdk/internal/exchange/connection.js';
import type { Tap } from '@isthmus/sdk/internal/exchange/tap.js';
import { chooseTarget, type GivenOptions } from '../choose-target.js';
import { usageError } from '../cli-error.js';
import type { CommonOptions } from '../common-options.js';
import { findConfigured } from '../config-target.js';
import { withAuth } from '../login/auth-options.js';
import { connectorOf } from '../session/target-connector.js';
import { type CommandTarget, withSettings } from '../target.js';
import { oneLine } from '../terminal/text.js';

/** The server that is inspected, or the servers of a file that the page may choose from. */
export interface InspectTarget<Options extends CommonOptions> {
  readonly label: string;
  readonly kind: 'command' | 'url' | 'socket';
  /** The names of the file, where one of them has to be chosen. */
  readonly names?: readonly string[];
  readonly options: Options;
  readonly redactor: Redactor;
  /** The server itself, or the one with this name, with the options of the command line. */
  find(name: string | undefined): Promise<CommandTarget>;
  connector(tap: Tap, name: string | undefined): Promise<Connector>;
}

export async function findInspectTarget<Options extends CommonOptions>(
  args: readonly string[],
  afterDashes: readonly string[] | undefined,
  given: GivenOptions<Options>,
): Promise<InspectTarget<Options>> {
  const { config } = given;
  if (config && args.length === 0 && !afterDashes) return chooseInPage(config, given);
  const { target, rest, options } = await chooseTarget('inspect', args, afterDashes, given);
  if (rest.length > 0) throw usageError(`Unexpected argument "${rest[0]}": inspect takes only a target`);
  const whole = withSettings(target, options);
  return {
    label: oneLine(connectorOf(target, options).label),
    kind: whole.kind,
    options,
    redactor: createRedactor(secretsOf(whole)),
    find: async () => whole,
    connector: async (tap) => connectorOf(target, options, tap),
  };
}

/** The page chooses among the names of the files. It cannot name anything else. */
async function chooseInPage<Options extends CommonOptions>(
  files: readonly string[],
  given: GivenOptions<Options>,
): Promise<InspectTarget<Options>> {
  const { config: _, input, ...others } = given;
  const { servers } = await readServers(files, { ...(input && { inputs: input }) });
  const names = Object.values(servers).flatMap(({ name, disabled }) => (disabled ? [] : [name]));
  // The error names the problems of the files.
  if (names.length === 0) await findConfigured('inspect', files, undefined, input);
  const options = { ...others, mode: given.mode ?? 'auto' } as unknown as Options;
  const redactor = createRedactor();
  const find = async (name: string | undefined) => {
    const { target } = await findConfigured('inspect', files, name, input);
    const whole = withSettings(await withAuth(target, given), options);
    redactor.add(secretsOf(whole));
    return whole;
  };
  return {
    label: files.map((file) => oneLine(file)).join(', '),
    kind: 'command',
    names,
    options,
    redactor,
    find,
    connector: async (tap, name) => connectorOf(await find(name), {}, tap),
  };
}
