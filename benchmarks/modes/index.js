/** All modes, in the order in which `--all` runs them. */

import { AGGREGATE } from './aggregate/bench.js';
import { AUTH } from './auth.js';
import { BRIDGE } from './bridge/bench.js';
import { CLIENTS_MODE } from './clients.js';
import { CLUSTER } from './cluster/bench.js';
import { HOST } from './host.js';
import { HTTP } from './http.js';
import { INSTALL } from './install.js';
import { MEMORY } from './memory/bench.js';
import { START } from './start.js';
import { STDIO } from './stdio.js';

/** @typedef {import('../lib/subjects.js').Era} Era */

/**
 * @typedef {object} ModeOptions
 * @property {readonly string[]} names the subjects
 * @property {readonly Era[]} eras
 * @property {readonly Era[]} upstreams
 * @property {boolean} quick
 */

/**
 * @typedef {object} Mode
 * @property {string} name also its flag
 * @property {readonly string[]} [subjects] the names that `--only` takes
 * @property {readonly string[]} [onRequest] those of them that are left out without `--only`
 * @property {boolean} takesEra
 * @property {(options: ModeOptions) => Promise<{ document: Record<string, any>, failed: boolean }>} measure
 * @property {(document: any) => import('../lib/verdicts.js').Verdict[]} judge with nothing measured: all goals
 * @property {(document: any) => string} render
 */

/** @type {readonly Mode[]} */
export const MODES = [
  ...[STDIO, HTTP, CLIENTS_MODE, HOST, BRIDGE, START, MEMORY, AGGREGATE, AUTH],
  ...[CLUSTER, INSTALL],
];
