/**
 * Goals and whether numbers meet them. A mode names each goal with `verdict`, also when it has no number for it, so that
 * a goal that was not measured is visible. Pure: numbers in, states and text out.
 */

import { number } from './text.js';

/**
 * `x`: times as much. `share`: a part of another figure, shown as 1/n. Empty: a count. The limit is an upper bound in every unit.
 * @typedef {'x' | 'share' | 'ms' | 'µs' | 'MB' | ''} Unit
 */

/**
 * @typedef {object} Verdict
 * @property {string} mode
 * @property {string} what
 * @property {string} where the cell, the era or the command
 * @property {number} limit
 * @property {Unit} unit
 * @property {boolean} required decides the exit status of `--check`; the others are watched
 * @property {number} [value] undefined: not measured
 * @property {number} [bare] what the limit itself has, where that alone misses the goal
 * @property {'met' | 'missed' | 'unmeasured'} state
 */

/**
 * @param {Omit<Verdict, 'state' | 'required'> & { required?: boolean }} goal
 * @returns {Verdict}
 */
export function verdict({ value, bare, required = true, ...goal }) {
  const state =
    value === undefined || Number.isNaN(value) ? 'unmeasured' : value <= goal.limit ? 'met' : 'missed';
  return {
    ...goal,
    required,
    state,
    ...(state !== 'unmeasured' && { value }),
    ...(bare !== undefined && bare > goal.limit && { bare }),
  };
}

/**
 * What `--check` fails for: required goals that are missed, or that have no number.
 * @param {readonly Verdict[]} verdicts
 */
export function failing(verdicts) {
  return verdicts.filter(({ required, state }) => required && state !== 'met');
}

/**
 * 0: measured. 1: a subject failed, or with `--check` a required goal is not met.
 * @param {{ check: boolean, failed: boolean, verdicts: readonly Verdict[] }} outcome
 */
export function exitStatus({ check, failed, verdicts }) {
  return failed || (check && failing(verdicts).length > 0) ? 1 : 0;
}

/** @param {readonly Verdict[]} verdicts */
export function renderVerdicts(verdicts) {
  if (verdicts.length === 0) return 'No goals judged: they compare isthmus with the other subjects.';
  const met = verdicts.filter(({ state }) => state === 'met').length;
  const head = `Goals: ${met} of ${verdicts.length} met (* decides --check)`;
  return [
    head,
    ...verdicts.map((one) => `  ${WORDS[one.state]}  ${one.required ? '*' : ' '} ${describe(one)}`),
  ].join('\n');
}

/**
 * What `--check` prints at the end.
 * @param {readonly Verdict[]} verdicts
 */
export function renderCheck(verdicts) {
  const wrong = failing(verdicts);
  const required = verdicts.filter((one) => one.required).length;
  if (wrong.length === 0) return `Check: all ${required} required goals are met.`;
  const head = `Check: ${wrong.length} of ${required} required goals are not met:`;
  return [head, ...wrong.map((one) => `  ${WORDS[one.state]}  ${one.mode}: ${describe(one)}`)].join('\n');
}

/**
 * The table of benchmarks/README.md.
 * @param {readonly Verdict[]} verdicts
 */
export function renderMarkdown(verdicts) {
  const rows = verdicts.map((one) => [
    one.mode,
    `${one.what}${one.required ? '' : ' (watched)'}`,
    one.where,
    `at most ${show(one.limit, one.unit)}`,
    one.value === undefined ? 'not measured yet' : show(one.value, one.unit),
    one.state === 'unmeasured' ? '' : `${one.state}${limitItself(one)}`,
  ]);
  const line = (/** @type {readonly string[]} */ cells) => `| ${cells.join(' | ')} |`;
  const head = ['mode', 'goal', 'where', 'limit', 'measured', 'verdict'];
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}

const WORDS = { met: 'met   ', missed: 'MISSED', unmeasured: '?     ' };

/** @param {Verdict} verdict */
function describe(verdict) {
  const { what, where, value, limit, unit } = verdict;
  const shown = value === undefined ? 'not measured' : show(value, unit);
  return `${what}: ${shown}, at most ${show(limit, unit)}: ${where}${limitItself(verdict)}`;
}

/** @param {Verdict} verdict */
function limitItself({ bare, unit }) {
  return bare === undefined ? '' : ` (the limit itself: ${show(bare, unit)})`;
}

/**
 * @param {number} value
 * @param {Unit} unit
 */
function show(value, unit) {
  if (unit === 'share' && value > 0) return value > 1 ? `${value.toFixed(2)}x` : `1/${trim(1 / value)}`;
  if (unit === 'x' || unit === 'share') return `${value.toFixed(2)}x`;
  return unit === '' ? String(value) : `${number(value)} ${unit}`;
}

/** @param {number} value */
function trim(value) {
  return value.toFixed(1).replace(/\.0$/, '');
}
