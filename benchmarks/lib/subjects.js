/** The servers that are measured, in the order of the table and of every round. */

import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** @typedef {'modern' | 'legacy'} Era */

/**
 * @typedef {object} Subject
 * @property {string} name what `--only` calls it
 * @property {string} title what the table calls it
 * @property {string[]} args what `node` is started with
 * @property {readonly Era[]} eras the eras it can be asked in
 * @property {boolean} rival it needs the packages of `benchmarks/package.json`
 * @property {() => string | undefined} [missing] why it cannot be started at all, if it cannot
 */

export const BENCHMARKS = join(dirname(fileURLToPath(import.meta.url)), '..');
export const ROOT = join(BENCHMARKS, '..');

/** @type {readonly Subject[]} */
export const SUBJECTS = [
  {
    name: 'bare',
    title: 'bare loop',
    args: [join(BENCHMARKS, 'subjects', 'bare-loop.js')],
    eras: ['modern', 'legacy'],
    rival: false,
  },
  {
    name: 'isthmus',
    title: 'isthmus',
    args: [join(ROOT, 'bin', 'isthmus.js'), 'demo'],
    eras: ['modern', 'legacy'],
    rival: false,
    missing: () =>
      existsSync(join(ROOT, 'packages', 'cli', 'dist', 'main.js'))
        ? undefined
        : 'packages/cli/dist/main.js is missing; run `npm run build` first',
  },
  {
    name: 'v2',
    title: 'official v2',
    args: [join(BENCHMARKS, 'subjects', 'official-v2.js')],
    eras: ['modern', 'legacy'],
    rival: true,
  },
  {
    name: 'v1',
    title: 'official v1',
    args: [join(BENCHMARKS, 'subjects', 'official-v1.js')],
    eras: ['legacy'],
    rival: true,
  },
];
