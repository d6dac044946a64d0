import {
  type ControlAddress,
  type ControlClient,
  controlClient,
  type FoundGateway,
  listGateways,
} from '@isthmus/gateway/internal/control/index.js';
import { CliError, EXIT, usageError } from '../cli-error.js';
import { oneLine } from '../terminal/text.js';

/** The options that choose a gateway. */
export interface GatewayChoice {
  readonly socket?: string;
  readonly pid?: number;
  /** The subject of the command. Of several gateways, the only one with this server is chosen. */
  readonly server?: string;
}

/** A client of the chosen gateway. Fails with advice when there is none, or more than one. */
export async function connectGateway(
  choice: GatewayChoice,
  address: ControlAddress = {},
): Promise<ControlClient> {
  return controlClient(choice.socket ?? (await findPath(choice, address)));
}

async function findPath(choice: GatewayChoice, address: ControlAddress): Promise<string> {
  const found = await listGateways(address);
  const chosen = choose(found, choice);
  if (chosen.length === 1) return chosen[0]!.path;
  if (chosen.length === 0) throw noGateway(found, choice.pid);
  throw usageError('Several gateways are running', 'Choose one with --pid PID or --socket PATH', [
    'gateways:',
    ...chosen.map((each) => `  ${describe(each)}`),
  ]);
}

/** The gateways that fit the choice. Pure. */
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
    pid === undefined
      ? 'No running gateway found for this user'
      : `No gateway of this user has the pid ${pid}`;
  const evidence = found.map((each) => describe(each));
  return new CliError(EXIT.cannotConnect, what, {
    hint:
      pid === undefined
        ? 'isthmus serve --config FILE starts one; --socket PATH names a control socket in another folder'
        : 'isthmus status shows the running gateways',
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
