/** The numbers of bridges become the text a person reads. */

import { toMB } from '../../lib/statistics.js';
import { align, fraction, number, renderFailures, times } from '../../lib/text.js';
import { cpuRatio, renderCold } from '../stdio.js';
import { addedP50, largeRatio, nameCell } from './goals.js';
import { BRIDGE_SUBJECTS } from './subjects.js';

/** @typedef {import('./goals.js').MeasuredCell} MeasuredCell */

/**
 * @typedef {object} BridgeDocument
 * @property {boolean} quick
 * @property {MeasuredCell[]} cells
 * @property {import('./goals.js').ColdCell[]} cold
 * @property {import('./memory.js').MemoryResult[]} memory
 * @property {{ era: string, results: import('./large.js').LargeResult[] }[]} large
 * @property {import('./bench.js').Failure[]} failures
 */

/** @param {BridgeDocument} document */
export function render({ quick, cells, cold, memory, large, failures }) {
  const parts = [
    renderCells(cells, failures),
    renderCold(cold, nameCell, titleOf, 'server', 'mcp-proxy'),
    ...(large.some(({ results }) => results.length > 0) ? [renderLarge(large)] : []),
    ...memory.map(renderMemory),
    quick ? 'Quick run: too short for the rivals; judge by the full run.' : '',
    renderFailures(failures, 'CANNOT'),
  ];
  return parts.filter(Boolean).join('\n\n');
}

/** @param {string} name */
function titleOf(name) {
  return BRIDGE_SUBJECTS.find((subject) => subject.name === name)?.title ?? name;
}

/**
 * @param {readonly MeasuredCell[]} cells
 * @param {readonly import('./bench.js').Failure[]} failures
 */
function renderCells(cells, failures) {
  /** @type {(string[] | string)[]} */
  const rows = [
    ['', 'calls/s', 'CPU µs/call', '', '', 'p50 µs', 'added µs', 'p99 µs', 'peak RSS MB', 'generator µs'],
  ];
  for (const cell of cells) {
    rows.push(nameCell(cell));
    for (const { name, title, reach, bridges, spawns } of BRIDGE_SUBJECTS) {
      const result = cell.results.find(({ subject }) => subject === name);
      if (result === undefined) {
        const failure = failures.find((each) => each.subject === name && each.where === nameCell(cell));
        if (failure) rows.push([`  ${title}`, 'cannot', ...Array(8).fill('')]);
        continue;
      }
      const behind = spawns.includes(cell.era);
      rows.push([
        `  ${title}${behind ? ' *' : ''}`,
        number(result.requestsPerSecond),
        reach === 'none' ? '' : number(result.serverCpuMicros),
        bridges ? times(cpuRatio(cell, name, 'server'), 'server') : '',
        bridges && name !== 'mcp-proxy' ? fraction(cpuRatio(cell, name, 'mcp-proxy'), 'mcp-proxy') : '',
        number(result.p50Micros),
        reach === 'none' ? '' : number(addedP50(cell, name)),
        number(result.p99Micros),
        number(toMB(result.peakRssBytes)),
        number(result.clientCpuMicros),
      ]);
    }
  }
  const note = cells.some(({ results, era }) =>
    BRIDGE_SUBJECTS.some(
      ({ name, spawns }) => spawns.includes(era) && results.some(({ subject }) => subject === name),
    ),
  )
    ? '\n\n* starts a process for each call, whose own CPU is not counted here; fewer rounds, after the others'
    : '';
  return `${align(rows)}${note}`;
}

/** @param {BridgeDocument['large']} cells */
function renderLarge(cells) {
  /** @type {(string[] | string)[]} */
  const rows = [['A result of 5 MB', 'CPU ms/call', '', 'ms/call', 'peak RSS MB']];
  for (const { era, results } of cells) {
    rows.push(`${era} client`);
    for (const { subject, title, cpuMicros, millis, peakRssBytes } of results) {
      rows.push([
        `  ${title}`,
        number(cpuMicros === undefined ? undefined : cpuMicros / 1000),
        subject === 'once' ? '' : times(largeRatio(results, subject, 'once'), 'once'),
        number(millis),
        number(toMB(peakRssBytes)),
      ]);
    }
  }
  return align(rows);
}

/** @param {import('./memory.js').MemoryResult} result */
function renderMemory({ era, samples }) {
  const each = samples.map(
    ({ calls, rssBytes }) => `${Math.round(calls / 1000)}k: ${number(toMB(rssBytes))}`,
  );
  return `RSS MB of isthmus serve after so many calls, ${era}: ${each.join(', ')}`;
}
