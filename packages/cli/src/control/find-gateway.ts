import { statSync } from 'node:fs';
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
  /** The path of a control socket, or a folder with sockets. */
  readonly socket?: string;
  readonly pid?: number;
  /** The subject of the command. Of several gateways, the only one with this server is chosen. */
  readonly server?: string;
  /** All processes of a cluster are meant. Any of them asks the others. */
  readonly all?: boolean;
}

/** A client of the chosen gateway. Fails with advice when there is none, or more than one. */
export async function connectGateway(
  choice: GatewayChoice,
  address: ControlAddress = {},
): Promise<ControlClient> {
  const { socket } = choice;
  if (socket !== undefined && !isFolder(socket)) return controlClient(socket);
  const found = await findGateways(choice, address);
  const chosen = choose(found, choice);
  const served = chosen.filter(({ isDaemon }) => !isDaemon);
  // Without a name, the gateway is meant, and not the daemon of `isthmus attach`.
  const fitting = choice.all ? oneOfCluster(served) : served;
  const [only] = chosen.length === 1 ? chosen : fitting.length === 1 ? fitting : [];
  if (only) return controlClient(only.path);
  if (chosen.length === 0) throw noGateway(found, choice);
  throw usageError('Several gateways are running', 'Choose one with --pid PID or --socket PATH', [
    'gateways:',
    ...chosen.map((each) => `  ${describe(each)}`),
  ]);
}

/** One process, if all that are in a cluster are in the same. Otherwise all of them. Pure. */
function oneOfCluster(gateways: readonly FoundGateway[]): readonly FoundGateway[] {
  const inCluster = gateways.filter(({ status }) => status?.cluster);
  const members = new Set(inCluster[0]?.status?.cluster?.members.map(({ replica }) => replica));
  const isSame = inCluster.every(({ status }) => members.has(status!.cluster!.replica));
  return inCluster.length > 0 && isSame ? inCluster.slice(0, 1) : gateways;
}

/** All gateways of this user, or those of the folder of `--socket`. */
export function findGateways(
  { socket }: GatewayChoice,
  address: ControlAddress = {},
): Promise<readonly FoundGateway[]> {
  return listGateways({ ...address, ...(socket !== undefined && { folder: socket }) });
}

export function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
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

export function noGateway(
  found: readonly FoundGateway[],
  { pid, socket }: Pick<GatewayChoice, 'pid' | 'socket'>,
): CliError {
  const where = socket === undefined ? 'for this user' : `in ${oneLine(socket)}`;
  const what =
    pid === undefined ? `No running gateway found ${where}` : `No gateway of this user has the pid ${pid}`;
  const evidence = found.map((each) => describe(each));
  return new CliError(EXIT.cannotConnect, what, {
    hint:
      pid === undefined
        ? 'isthmus serve --config FILE starts one; --socket PATH names a control socket, or its folder'
        : 'isthmus status shows the running gateways',
    evidence: evidence.length > 0 ? ['found:', ...evidence.map((line) => `  ${line}`)] : [],
  });
}

export function describe({ path, status, problem, isDaemon }: FoundGateway): string {
  if (!status) return `${path}: ${oneLine(problem)}`;
  const names = Object.keys(status.servers).map(oneLine);
  const servers = names.length > MAX_NAMES ? [...names.slice(0, MAX_NAMES), '…'] : names;
  const places = new Set([...status.listening, path]);
  const what = isDaemon ? 'the daemon of isthmus attach: ' : '';
  return `--pid ${status.pid}  ${[...places].join(' ')}  (${what}${servers.join(', ') || 'no servers'})`;
}

const MAX_NAMES = 5;
