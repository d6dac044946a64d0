/** The command line of the benchmarks. Pure: arguments in, a tagged value out. */

import { parseArgs } from 'node:util';

/** @typedef {import('./subjects.js').Era} Era */
/** @typedef {{ name: string, subjects?: readonly string[], takesEra: boolean }} KnownMode */

/**
 * @typedef {object} RunOptions
 * @property {'run' | 'goals'} kind `goals`: print the goals and measure nothing
 * @property {string[]} modes
 * @property {string[] | undefined} only the subjects; undefined for all
 * @property {Era[]} eras
 * @property {Era[]} upstreams
 * @property {boolean} quick
 * @property {boolean} check
 * @property {'text' | 'json' | 'markdown'} format
 */

/** @typedef {RunOptions | { kind: 'help' } | { kind: 'wrong', why: string }} Options */

/** Without a flag it is this one. */
const FIRST_MODE = 'stdio';
/** They need a registry, or other programs, so they are not part of `--all`. */
const ALONE = ['install', 'cluster'];
const flag = /** @type {const} */ ({ type: 'boolean', default: false });

/**
 * @param {readonly string[]} args
 * @param {readonly KnownMode[]} known
 * @returns {Options}
 */
export function readOptions(args, known) {
  /** @type {Record<string, string | boolean | undefined>} */
  let values;
  const modeFlags = Object.fromEntries(known.map(({ name }) => [name, flag]));
  try {
    ({ values } = parseArgs({
      args: [...args],
      options: {
        ...modeFlags,
        all: flag,
        goals: flag,
        quick: flag,
        check: flag,
        json: flag,
        markdown: flag,
        help: { ...flag, short: 'h' },
        only: { type: 'string' },
        era: { type: 'string' },
        upstream: { type: 'string' },
      },
    }));
  } catch (error) {
    return wrong(/** @type {Error} */ (error).message);
  }
  if (values.help) return { kind: 'help' };

  const named = known.filter(({ name }) => values[name]).map(({ name }) => name);
  const wantsAll = values.all === true || (values.goals === true && named.length === 0);
  if (named.length > 1)
    return wrong(`--${named[0]} and --${named[1]} cannot be combined; --all runs every mode`);
  if (values.all && named.length > 0) return wrong(`--all runs every mode; --${named[0]} is not needed`);
  const modes = wantsAll
    ? known.map(({ name }) => name).filter((name) => !ALONE.includes(name))
    : [named[0] ?? FIRST_MODE];
  const mode = wantsAll ? undefined : known.find(({ name }) => name === modes[0]);

  const only = readOnly(values.only, mode, values.check === true);
  if (typeof only === 'string') return wrong(only);
  if (values.era !== undefined && values.era !== 'modern' && values.era !== 'legacy')
    return wrong(`--era is modern or legacy, not ${values.era}`);
  if (values.era !== undefined && mode?.takesEra === false)
    return wrong(`--${mode.name} does not take --era`);
  const upstreams = readUpstreams(values, modes);
  if (typeof upstreams === 'string') return wrong(upstreams);
  if (values.json && values.markdown) return wrong('--json and --markdown cannot be combined');
  return {
    kind: values.goals ? 'goals' : 'run',
    modes,
    only,
    eras: values.era === undefined ? ['modern', 'legacy'] : [values.era],
    upstreams,
    quick: values.quick === true,
    check: values.check === true,
    format: values.json ? 'json' : values.markdown ? 'markdown' : 'text',
  };
}

/**
 * @param {string | boolean | undefined} value
 * @param {KnownMode | undefined} mode undefined for all of them
 * @param {boolean} isCheck
 * @returns {string[] | undefined | string} a text is an error
 */
function readOnly(value, mode, isCheck) {
  if (typeof value !== 'string') return undefined;
  if (isCheck) return '--check judges goals that compare all subjects, so --only cannot be used with it';
  const known = mode?.subjects;
  if (known === undefined) return `--${mode?.name ?? 'all'} does not take --only`;
  const names = value.split(',').map((name) => name.trim());
  const unknown = names.filter((name) => !known.includes(name));
  return unknown.length > 0
    ? `there is no subject called ${unknown.join(', ')}; there are ${known.join(', ')}`
    : names;
}

/**
 * The goals of a bridge are for servers of both eras.
 * @param {Record<string, string | boolean | undefined>} values
 * @param {readonly string[]} modes
 * @returns {Era[] | string} a text is an error
 */
function readUpstreams(values, modes) {
  const wantsBoth = values.check || values.all || values.goals;
  const { upstream = wantsBoth ? 'both' : 'modern' } = values;
  if (values.upstream !== undefined && !modes.includes('bridge')) return '--upstream goes with --bridge only';
  if (upstream === 'both') return ['modern', 'legacy'];
  if (upstream === 'modern' || upstream === 'legacy') return [upstream];
  return `--upstream is modern, legacy or both, not ${upstream}`;
}

/**
 * @param {string} why
 * @returns {{ kind: 'wrong', why: string }}
 */
function wrong(why) {
  return { kind: 'wrong', why };
}
