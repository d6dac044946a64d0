/** The goals and whether these numbers meet them. Pure: numbers in, verdicts out. */

/** @typedef {import('./measure.js').Cell & { results: import('./measure.js').CellResult[] }} MeasuredCell */

/**
 * @typedef {object} Verdict
 * @property {'cpu-vs-bare' | 'cpu-vs-v2' | 'start' | 'peak-rss'} goal
 * @property {boolean} headline
 * @property {string} where the cell or era
 * @property {number} value
 * @property {number} limit
 * @property {boolean} met
 * @property {number} [bare] what the bare loop itself has against v2, where that alone misses the goal
 */

export const GOALS = { cpuVsBare: 2, cpuVsV2: 1 / 6, startMsAboveBare: 80, peakRssMB: 90 };

/**
 * Every goal for which the subjects it compares were measured.
 * @param {readonly MeasuredCell[]} cells
 * @param {readonly import('./measure.js').StartResult[]} starts
 * @returns {Verdict[]}
 */
export function judge(cells, starts) {
  const cpu = (/** @type {MeasuredCell} */ cell, /** @type {string} */ name) =>
    resultOf(cell, name)?.serverCpuMicros;
  return [
    ...cells.flatMap((cell) =>
      verdict('cpu-vs-bare', cell, ratio(cpu(cell, 'isthmus'), cpu(cell, 'bare')), GOALS.cpuVsBare),
    ),
    ...cells.flatMap((cell) => {
      const bare = ratio(cpu(cell, 'bare'), cpu(cell, 'v2'));
      const ours = verdict('cpu-vs-v2', cell, ratio(cpu(cell, 'isthmus'), cpu(cell, 'v2')), GOALS.cpuVsV2);
      return bare !== undefined && bare > GOALS.cpuVsV2 ? ours.map((one) => ({ ...one, bare })) : ours;
    }),
    ...starts
      .filter(({ subject }) => subject === 'isthmus')
      .flatMap(({ era, medianMs }) => {
        const bare = starts.find((start) => start.subject === 'bare' && start.era === era);
        return verdict('start', era, bare && medianMs - bare.medianMs, GOALS.startMsAboveBare);
      }),
    ...cells.flatMap((cell) =>
      verdict('peak-rss', cell, toMB(resultOf(cell, 'isthmus')?.peakRssBytes), GOALS.peakRssMB),
    ),
  ];
}

/** @param {import('./measure.js').Cell} cell */
export function nameCell({ era, textBytes, inFlight }) {
  const size = textBytes >= 1024 ? `${textBytes / 1024} KB` : `${textBytes} B`;
  return `${era}, ${size}, ${inFlight === 1 ? 'one at a time' : `${inFlight} in flight`}`;
}

/**
 * @param {number | undefined} value
 * @param {number | undefined} base
 */
export function ratio(value, base) {
  return value === undefined || base === undefined || base === 0 ? undefined : value / base;
}

/** @param {number | undefined} bytes */
export function toMB(bytes) {
  return bytes === undefined ? undefined : bytes / 1e6;
}

/**
 * @param {MeasuredCell} cell
 * @param {string} name
 */
function resultOf(cell, name) {
  return cell.results.find(({ subject }) => subject === name);
}

/**
 * @param {Verdict['goal']} goal
 * @param {MeasuredCell | string} place
 * @param {number | undefined} value
 * @param {number} limit
 * @returns {Verdict[]} none when there is nothing to judge
 */
function verdict(goal, place, value, limit) {
  if (value === undefined) return [];
  const isCell = typeof place !== 'string';
  const where = isCell ? nameCell(place) : place;
  const headline = isCell && place.textBytes === 64 && place.inFlight > 1;
  return [{ goal, headline, where, value, limit, met: value <= limit }];
}
