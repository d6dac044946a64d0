/** The bridges that are measured, in the order of the table and of every round. */

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { BENCHMARKS, ROOT } from '../../lib/subjects.js';

/** @typedef {import('../../lib/subjects.js').Era} Era */

/**
 * How its address is known. `stdout`: it prints its port there. `stderr`: it prints its URL there. `given`: it gets the port
 * as an argument. `none`: it speaks stdio.
 * @typedef {'stdout' | 'stderr' | 'given' | 'none'} Reach
 */

/**
 * @typedef {import('../../lib/subjects.js').Subject & {
 *   reach: Reach,
 *   bridges: boolean,
 *   translates: boolean,
 *   spawns: readonly Era[],
 *   argsFor: (upstream: readonly string[], port: number) => string[],
 * }} BridgeSubject `translates`: between the eras, if it must; `spawns`: the eras in which it starts a process for each request; `argsFor`: what `node` is
 *   started with, given the arguments of `node` for the upstream
 */

const EVERY_ERA = /** @type {const} */ (['modern', 'legacy']);
const MCP_PROXY = join(BENCHMARKS, 'node_modules', 'mcp-proxy', 'dist', 'bin', 'mcp-proxy.mjs');
const SUPERGATEWAY = join(BENCHMARKS, 'node_modules', 'supergateway', 'dist', 'index.js');
const isthmusIsMissing = () =>
  existsSync(join(ROOT, 'packages', 'cli', 'dist', 'commands', 'serve.js'))
    ? undefined
    : 'packages/cli/dist/commands/serve.js is missing; run `npm run build` first';

/** @type {readonly BridgeSubject[]} */
export const BRIDGE_SUBJECTS = [
  subject('direct', 'no bridge, stdio', { reach: 'none', bridges: false }, (upstream) => [...upstream]),
  subject('server', 'isthmus, no bridge, HTTP', { reach: 'stdout', bridges: false }, () => [
    join(BENCHMARKS, 'subjects', 'isthmus-http.js'),
  ]),
  subject('bare', 'bare bridge', { reach: 'stdout', translates: false }, (upstream) => [
    join(BENCHMARKS, 'subjects', 'bare-bridge.js'),
    ...upstream,
  ]),
  subject('isthmus', 'isthmus serve', { reach: 'stderr', missing: isthmusIsMissing }, (upstream) => [
    join(ROOT, 'bin', 'isthmus.js'),
    ...['serve', '--listen', 'http://127.0.0.1:0/mcp', '--', process.execPath, ...upstream],
  ]),
  subject(
    'isthmus-console',
    'isthmus serve, console open',
    { reach: 'stderr', missing: isthmusIsMissing },
    (upstream) => [
      join(ROOT, 'bin', 'isthmus.js'),
      ...['serve', '--listen', 'http://127.0.0.1:0/mcp', '--console', '127.0.0.1:0'],
      ...['--', process.execPath, ...upstream],
    ],
  ),
  subject('mcp-proxy', 'mcp-proxy', { reach: 'given', rival: true }, (upstream, port) => [
    MCP_PROXY,
    ...['--host', '127.0.0.1', '--port', String(port), '--server', 'stream', '--upstreamProtocol', 'auto'],
    ...['--', process.execPath, ...upstream],
  ]),
  subject(
    'supergateway',
    'supergateway, stateful',
    { reach: 'given', rival: true, spawns: ['modern'] },
    (upstream, port) => [...supergateway(upstream, port), '--stateful'],
  ),
  subject(
    'supergateway-stateless',
    'supergateway, stateless',
    { reach: 'given', rival: true, spawns: EVERY_ERA },
    supergateway,
  ),
];

/**
 * @param {string} name
 * @param {string} title
 * @param {Partial<BridgeSubject> & { reach: Reach }} traits
 * @param {BridgeSubject['argsFor']} argsFor
 * @returns {BridgeSubject}
 */
function subject(name, title, traits, argsFor) {
  return {
    name,
    title,
    args: [],
    eras: EVERY_ERA,
    rival: false,
    bridges: true,
    translates: true,
    spawns: [],
    argsFor,
    ...traits,
  };
}

/**
 * Without its log, which by default has a line or more for each message.
 * @param {readonly string[]} upstream
 * @param {number} port
 */
function supergateway(upstream, port) {
  const command = [process.execPath, ...upstream].map((part) => `'${part}'`).join(' ');
  return [
    SUPERGATEWAY,
    ...['--stdio', command, '--outputTransport', 'streamableHttp', '--port', String(port)],
    ...['--logLevel', 'none'],
  ];
}
