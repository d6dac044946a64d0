import type { GatewayServerStatus } from '@isthmus/gateway/internal/server-state.js';
import type { LastExit, ProcessStatus, Receipt } from '@isthmus/sdk/internal/host/status.js';
import { table } from '../terminal/table.js';
import type { Terminal } from '../terminal/terminal.js';
import { oneLine, printable } from '../terminal/text.js';
import { describeBytes, describeDuration, whyOf } from './describe-unit.js';
import { paintState } from './render-status.js';

/** All that is known of one server. */
export function renderServer(
  unit: GatewayServerStatus,
  { width, out }: Pick<Terminal, 'width' | 'out'>,
  now: number,
): string {
  const { name, kind, state, era, evidence, server, paths, processes, needed } = unit;
  const rows = [
    ['state', `${state}${needed ? '' : ' (not needed for the gateway to be ready)'}`],
    ...row('because', whyOf(unit, now)),
    ...row('era', era),
    ...row('known by', evidence),
    ...row('server', server && `${server.name} ${server.version}`),
    ...row('kind', kind === 'command' ? 'a command' : 'a remote server'),
    ...row('served at', paths.join(', ')),
    ...(processes
      ? [
          [
            'calls',
            `${processes.inFlight} in flight, ${processes.queued} waiting, ${processes.conversations} conversations`,
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

function describeReceipt({ handshake, handshakeAt, list, listError }: Receipt, now: number): string {
  const ago = `answered ${handshake} ${describeDuration(now - handshakeAt) || '0s'} ago`;
  if (listError !== undefined) return `${ago}, and then failed: ${listError}`;
  return list ? `${ago} and ${list.method} with ${list.items} items` : ago;
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
  return ['  its last words:', ...lines.map((line) => `  | ${line}`), ''].join('\n');
}

const TAIL_LINES = 10;
