import {
  type ControlAddress,
  type ControlClient,
  isUnreachable,
} from '@isthmus/gateway/internal/control/index.js';
import type { GatewayServerStatus, GatewayStatus } from '@isthmus/gateway/internal/server-state.js';
import { IsthmusError } from '@isthmus/sdk/internal/errors.js';
import { Command, InvalidArgumentError, Option } from 'commander';
import { suggest } from '../arguments/suggest.js';
import { CliError, EXIT, usageError } from '../cli-error.js';
import { quote } from '../target.js';
import type { Terminal } from '../terminal/terminal.js';
import { oneLine } from '../terminal/text.js';
import { connectGateway } from './find-gateway.js';

/** The options of every command for a running gateway. */
export interface ControlOptions {
  readonly socket?: string;
  readonly pid?: number;
  readonly json?: boolean;
  /** All processes of the cluster, and not only the one that is asked. */
  readonly all?: boolean;
}

/** The surroundings of a command. Tests have their own. */
export interface ControlContext {
  readonly terminal: Terminal;
  readonly address?: ControlAddress;
}

export function controlCommand(
  name: string,
  about: { readonly description: string; readonly help: string },
): Command {
  return new Command(name)
    .description(about.description)
    .addOption(
      new Option(
        '-s, --socket <path>',
        'the control socket of the gateway, or the folder it is in (default: of the running gateway)',
      ).env('ISTHMUS_SOCKET'),
    )
    .option('--pid <pid>', 'the process id of the gateway, when several are running', toPid)
    .addHelpText('after', about.help)
    .showHelpAfterError(`(isthmus ${name} --help explains the options)`)
    .exitOverride();
}

/** Finds the gateway and does the work with it. Failures become `CliError`s. `server` is the subject of the command. */
export async function withGateway<T>(
  options: ControlOptions & { readonly server?: string | undefined },
  { address }: ControlContext,
  work: (client: ControlClient) => Promise<T>,
): Promise<T> {
  const { socket, pid, server, all } = options;
  const client = await connectGateway(
    {
      ...(socket !== undefined && { socket }),
      ...(pid !== undefined && { pid }),
      ...(server !== undefined && { server }),
      ...(all !== undefined && { all }),
    },
    address,
  );
  try {
    return await work(client);
  } catch (error) {
    throw error instanceof IsthmusError ? describeRefusal(error, options) : error;
  }
}

/** The server of that name. The error for an unknown name suggests a similar one. */
export function serverOf({ servers }: GatewayStatus, name: string): GatewayServerStatus {
  if (Object.hasOwn(servers, name)) return servers[name]!;
  const names = Object.keys(servers);
  const meant = suggest(name, names);
  throw usageError(
    `The gateway has no server "${oneLine(name)}"`,
    meant === undefined ? 'isthmus status shows its servers' : `Did you mean ${oneLine(meant)}?`,
    names.length > 0 ? ['servers:', ...names.map((each) => `  ${oneLine(each)}`)] : [],
  );
}

function describeRefusal(
  error: IsthmusError,
  { socket, server }: { readonly socket?: string; readonly server?: string | undefined },
): CliError {
  if (isUnreachable(error)) {
    const hint =
      socket === undefined
        ? 'The gateway has just ended, or is about to end; try again'
        : 'Check that a gateway runs there. Without --socket, isthmus looks in the usual folders';
    return new CliError(EXIT.cannotConnect, oneLine(error.message), { hint });
  }
  const isProtocolFailure = PROTOCOL_FAILURES.has(error.code);
  const hint =
    HINTS[error.code] ??
    (server === undefined
      ? undefined
      : `isthmus logs ${quote(server)} shows its output; isthmus doctor ${quote(server)} explains the problem`);
  return new CliError(isProtocolFailure ? EXIT.protocol : EXIT.failed, oneLine(error.message), {
    ...(hint !== undefined && { hint }),
  });
}

/** The gateway did not answer, or its answer was invalid. */
const PROTOCOL_FAILURES: ReadonlySet<string> = new Set([
  'TIMED_OUT',
  'CONNECTION_CLOSED',
  'INVALID_RESULT',
  'RESULT_TOO_LARGE',
  'NO_COMMON_REVISION',
]);

const HINTS: Readonly<Record<string, string>> = {
  TIMED_OUT: 'The gateway may be busy; isthmus status shows its state',
  CONNECTION_CLOSED: 'Its own log may say why it ended; isthmus status shows the running gateways',
  NO_COMMON_REVISION: 'Restart the gateway with the installed isthmus',
};

function toPid(text: string): number {
  if (!/^\d{1,10}$/.test(text)) throw new InvalidArgumentError('It must be a process id.');
  return Number(text);
}
