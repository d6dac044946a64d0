import type { GatewayServerStatus, GatewayStatus } from '@isthmus/gateway/internal/server-state.js';
import { quote } from '../target.js';
import { table } from '../terminal/table.js';
import type { Terminal } from '../terminal/terminal.js';
import { oneLine } from '../terminal/text.js';
import { describeBytes, describeDuration, isWell, mainProcess, paintState, whyOf } from './render-server.js';

type Look = Pick<Terminal, 'width' | 'out'>;

/** The gateway, a row for each server, and a summary. */
export function renderStatus(status: GatewayStatus, { width, out }: Look, now: number): string {
  const servers = Object.values(status.servers);
  // Reasons are long. On a narrow terminal they are below the table.
  const isWide = width >= WIDE;
  const rows = servers.map((server) => [...cells(server), ...(isWide ? [whyOf(server, now)] : [])]);
  const head = [...HEAD, ...(isWide ? ['why'] : [])];
  const states = servers.map(({ state }) => state);
  let row = -1;
  const lines = table([head, ...rows], {
    width,
    paint(text, column) {
      if (column === 0) row += 1;
      // A cell of several lines is painted line by line, so the row is not known. The state is found by its text.
      if (row === 0) return out.dim(text);
      return column === 1 && states.some((state) => state === text) ? paintState(text, out) : text;
    },
  });
  const below = isWide
    ? []
    : servers
        .filter((server) => !isWell(server) && whyOf(server, now) !== '')
        .map((server) => `${out.bold(oneLine(server.name))}: ${whyOf(server, now)}`);
  return [
    describeGateway(status, now),
    '',
    ...(servers.length > 0 ? [lines.trimEnd(), ''] : []),
    ...(below.length > 0 ? [...below, ''] : []),
    ...summary(status, { out }),
    '',
  ].join('\n');
}

const HEAD = ['server', 'state', 'era', 'pid', 'gen', 'uptime', 'restarts', 'calls', 'memory'];
const WIDE = 110;

function cells(server: GatewayServerStatus): string[] {
  const { name, state, era, processes } = server;
  const process = mainProcess(server);
  const several = (processes?.processes ?? []).filter(({ pid }) => pid !== undefined).length;
  const rss = processes?.processes.flatMap(({ facts }) => (facts ? [facts.rssBytes] : [])) ?? [];
  const waiting = processes && processes.queued > 0 ? `+${processes.queued}` : '';
  return [
    oneLine(name),
    state,
    era ?? '',
    process?.pid === undefined ? '' : `${process.pid}${several > 1 ? ` +${several - 1}` : ''}`,
    process ? String(process.generation) : '',
    process?.pid === undefined ? '' : describeDuration(process.uptimeMs),
    processes ? String(processes.restarts) : '',
    processes ? `${processes.inFlight}${waiting}` : '',
    rss.length > 0 ? describeBytes(rss.reduce((sum, each) => sum + each, 0)) : '',
  ];
}

function describeGateway(status: GatewayStatus, now: number): string {
  const { version, pid, startedAt, listening, workers = [] } = status;
  const up = describeDuration(now - Date.parse(startedAt));
  const where = listening.length > 0 ? ` at ${listening.map(oneLine).join(', ')}` : '';
  const many = workers.length > 0 ? `, ${workers.length} workers` : '';
  return `isthmus ${oneLine(version)}, pid ${pid}${many}, up ${up || 'for a moment'}${where}`;
}

/** Which servers are not ready, and what to do. */
function summary(status: GatewayStatus, { out }: Pick<Terminal, 'out'>): string[] {
  const servers = Object.values(status.servers);
  const unready = servers.filter((server) => !isWell(server) && server.state !== 'off');
  const names = (list: readonly GatewayServerStatus[]) => list.map(({ name }) => oneLine(name)).join(', ');
  const lines: string[] = [];
  const missing = unready.filter(({ needed }) => needed);
  const others = unready.filter(({ needed }) => !needed);
  if (missing.length > 0) lines.push(out.red(`Not ready: ${names(missing)}.`));
  if (others.length > 0) lines.push(out.yellow(`Not ready, and not needed: ${names(others)}.`));
  const [first] = unready.filter(({ state }) => state === 'failed' || state === 'needs-login');
  if (first)
    lines.push(
      `${out.dim('hint:')} isthmus doctor ${quote(oneLine(first.name))} explains why, and how to fix it`,
    );
  if (unready.length === 0)
    lines.push(
      servers.length > 0 ? out.green(`Everything is ok: ${count(servers)}.`) : 'The gateway has no servers.',
    );
  if (status.configProblem !== undefined) {
    lines.push(
      out.yellow(
        `The changed configuration was rejected; the old one is in use: ${oneLine(status.configProblem)}`,
      ),
    );
  }
  return lines;
}

function count(servers: readonly GatewayServerStatus[]): string {
  const states = [...new Set(servers.map(({ state }) => state))];
  return states
    .map((state) => `${servers.filter((server) => server.state === state).length} ${state}`)
    .join(', ');
}
