import type { GatewayServerStatus } from '@isthmus/gateway/internal/server-state.js';
import type { LastExit, ProcessStatus, Receipt } from '@isthmus/sdk/internal/host/status.js';
import { table } from '../terminal/table.js';
import type { Terminal } from '../terminal/terminal.js';
import { oneLine, printable } from '../terminal/text.js';

/** All facts about one server, for a terminal. */
export function renderServer(
  status: GatewayServerStatus,
  { width, out }: Pick<Terminal, 'width' | 'out'>,
  now: number,
): string {
  const { name, kind, state, era, evidence, server, paths, processes, needed } = status;
  const rows = [
    ['state', `${state}${needed ? '' : ' (not needed for the gateway to be ready)'}`],
    ...row('because', whyOf(status, now)),
    ...row('era', era),
    ...row('known by', evidence),
    ...row('server', server && `${server.name} ${server.version}`),
    ...row('kind', kind === 'command' ? 'a command' : 'a remote server'),
    ...row('served at', paths.join(', ')),
    ...(processes
      ? [
          [
            'calls',
            `${processes.inFlight} in flight, ${processes.queued} waiting, ${counted(processes.conversations, 'conversation')}`,
          ],
          ['restarts', String(processes.restarts)],
          ...processes.processes.map((process, at) => [
            at === 0 ? 'processes' : '',
            describeProcess(process, now),
          ]),
          ...lastExit(processes.lastExit, now),
        ]
      : []),
  ];
  const lines = table(
    rows.map(([label, text]) => [label!, oneLine(text!)]),
    {
      width,
      indent: '  ',
      maxLines: 6,
      paint: (text, column) => (column === 0 ? out.dim(text) : text === state ? paintState(text, out) : text),
    },
  );
  return `${out.bold(oneLine(name))}\n${lines}${stderrOf(processes?.lastExit)}`;
}

function row(label: string, text: string | undefined): string[][] {
  return text === undefined || text === '' ? [] : [[label, text]];
}

function describeProcess(process: ProcessStatus, now: number): string {
  const { state, generation, pid, owner, uptimeMs, facts, receipt } = process;
  return [
    `${state}, generation ${generation}`,
    ...(pid === undefined ? [] : [`pid ${pid}`]),
    ...(owner === undefined ? [] : [`for ${owner}`]),
    ...(uptimeMs === undefined ? [] : [`up ${describeDuration(uptimeMs)}`]),
    ...(facts ? [describeBytes(facts.rssBytes)] : []),
    ...(receipt ? [describeReceipt(receipt, now)] : []),
  ].join(', ');
}

function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? '' : 's'}`;
}

function describeReceipt({ handshake, handshakeAt, list, listError }: Receipt, now: number): string {
  const ago = `answered ${handshake} ${describeDuration(now - handshakeAt) || '0s'} ago`;
  if (listError !== undefined) return `${ago}, and then failed: ${listError}`;
  return list ? `${ago} and ${list.method} with ${counted(list.items, 'item')}` : ago;
}

function lastExit(exit: LastExit | undefined, now: number): string[][] {
  if (!exit) return [];
  return [
    [
      'last exit',
      `${describeDuration(now - exit.at) || '0s'} ago (generation ${exit.generation}): ${exit.reason}`,
    ],
  ];
}

function stderrOf(exit: LastExit | undefined): string {
  const tail = printable(exit?.stderrTail ?? '').trimEnd();
  if (tail === '') return '';
  const lines = tail.split('\n').slice(-TAIL_LINES);
  return ['  its last stderr lines:', ...lines.map((line) => `  | ${line}`), ''].join('\n');
}

const TAIL_LINES = 10;

export function paintState(text: string, out: Terminal['out']): string {
  if (text === 'ready') return out.green(text);
  if (text === 'failed' || text === 'needs-login') return out.red(text);
  return text === 'starting' || text === 'restarting' ? out.yellow(text) : out.dim(text);
}

/** The server can be used, or the first call starts it. */
export function isWell({ state }: Pick<GatewayServerStatus, 'state'>): boolean {
  return state === 'ready' || state === 'asleep';
}

/** Why a server is in its state. Empty when the state needs no explanation. */
export function whyOf({ name, state, reason, processes }: GatewayServerStatus, now: number): string {
  if (state === 'off') return 'it was stopped, or is disabled in the configuration';
  if (state === 'asleep') return 'the first call starts it';
  const next = processes?.processes.find(({ nextAttemptAt }) => nextAttemptAt !== undefined)?.nextAttemptAt;
  const then = next === undefined ? '' : `; it is started again ${inTime(next - now)}`;
  const stopped = processes?.processes.some(({ facts }) => facts?.stopped)
    ? 'its process is stopped (SIGSTOP?)'
    : '';
  // Most reasons begin with the name, which the reader knows.
  const text = oneLine(reason ?? stopped);
  return `${text.startsWith(`${name} `) ? text.slice(name.length + 1) : text}${then}`.replace(/^; /, '');
}

/** Of several processes: one that is ready, or else one that lives. */
export function mainProcess({ processes }: GatewayServerStatus): ProcessStatus | undefined {
  const all = processes?.processes ?? [];
  return all.find(({ state }) => state === 'ready') ?? all.find(({ pid }) => pid !== undefined) ?? all[0];
}

export function describeDuration(ms: number | undefined): string {
  if (ms === undefined || !(ms >= 0)) return '';
  const seconds = Math.floor(ms / 1000);
  if (seconds < 60) return `${seconds}s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes}m${String(seconds % 60).padStart(2, '0')}s`;
  const hours = Math.floor(minutes / 60);
  if (hours < 48) return `${hours}h${String(minutes % 60).padStart(2, '0')}m`;
  return `${Math.floor(hours / 24)}d${String(hours % 24).padStart(2, '0')}h`;
}

export function describeBytes(bytes: number | undefined): string {
  if (bytes === undefined) return '';
  const megabytes = bytes / (1024 * 1024);
  return megabytes < 1024 ? `${Math.round(megabytes)} MB` : `${(megabytes / 1024).toFixed(1)} GB`;
}

function inTime(ms: number): string {
  return ms < 1000 ? 'at once' : `in ${describeDuration(ms)}`;
}
