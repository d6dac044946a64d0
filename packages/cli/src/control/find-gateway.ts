import {
  type ControlAddress,
  type ControlClient,
  controlClient,
  type FoundGateway,
  listGateways,
} from '@isthmus/gateway/internal/control/index.js';
import { CliError, usageError } from '../cli-error.js';
import { EXIT } from '../exit-codes.js';
import { oneLine } from '../terminal/text.js';

/** Which gateway is meant, as it was typed. */
export interface GatewayChoice {
  readonly socket?: string;
  readonly pid?: number;
  /** A server that the command is about: of several gateways, the only one that has it is meant. */
  readonly server?: string;
}

/** Connects to the gateway that is meant. Fails with what to do when there is none, or more than one. */
export async function connectGateway(
  choice: GatewayChoice,
  place: ControlAddress = {},
): Promise<ControlClient> {
  return controlClient(choice.socket ?? (await findPath(choice, place)));
}

async function findPath(choice: GatewayChoice, place: ControlAddress): Promise<string> {
  const found = await listGateways(place);
  const chosen = choose(found, choice);
  if (chosen.length === 1) return chosen[0]!.path;
  if (chosen.length === 0) throw noGateway(found, choice.pid);
  throw usageError(
    'Several gateways are running, and it is not clear which is meant',
    'Say which: --pid PID or --socket PATH',
    ['gateways:', ...chosen.map((each) => `  ${describe(each)}`)],
  );
}

/** Those that can be meant. Pure. */
export function choose(
  found: readonly FoundGateway[],
  { pid, server }: GatewayChoice,
): readonly FoundGateway[] {
  const answering = found.filter(({ status }) => status !== undefined);
  if (pid !== undefined) return answering.filter(({ status }) => status!.pid === pid);
  const having = answering.filter(
    ({ status }) => server !== undefined && Object.hasOwn(status!.servers, server),
  );
  return having.length === 1 ? having : answering;
}

export function noGateway(found: readonly FoundGateway[], pid: number | undefined): CliError {
  const what =
    pid === undefined ? 'No gateway of yours is running' : `No gateway of yours has the pid ${pid}`;
  const evidence = found.map((each) => describe(each));
  return new CliError(EXIT.cannotConnect, what, {
    hint:
      pid === undefined
        ? 'isthmus serve --config FILE starts one; --socket PATH asks one whose control socket is elsewhere'
        : 'isthmus status shows those that are running',
    evidence: evidence.length > 0 ? ['found:', ...evidence.map((line) => `  ${line}`)] : [],
  });
}

export function describe({ path, status, problem }: FoundGateway): string {
  if (!status) return `${path}: ${oneLine(problem)}`;
  const names = Object.keys(status.servers).map(oneLine);
  const servers = names.length > MAX_NAMES ? [...names.slice(0, MAX_NAMES), '…'] : names;
  return `--pid ${status.pid}  ${[...status.listening, path].join(' ')}  (${servers.join(', ') || 'no servers'})`;
}

const MAX_NAMES = 5;
