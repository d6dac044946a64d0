/** Whose memory is measured: two servers, two bridges in front of a stdio server, and bare `node:http` as the limit. */

import { join } from 'node:path';
import { BENCHMARKS, ROOT } from '../../lib/subjects.js';
import { upstreamArgs } from '../bridge/process.js';
import { BRIDGE_SUBJECTS } from '../bridge/subjects.js';

/** @typedef {import('./things.js').ThingName} ThingName */
/** @typedef {import('../bridge/subjects.js').BridgeSubject} BridgeSubject */

/**
 * @typedef {object} MemorySubject
 * @property {string} name
 * @property {BridgeSubject} program
 * @property {readonly string[]} upstream the arguments of `node` for the server behind a bridge
 * @property {Partial<Record<ThingName, string>>} lacks why it does not have a thing
 * @property {Partial<Record<ThingName, number>>} atMost how many it can have, where that is less than wanted
 */

const MANY = '40000';
/** mcp-proxy ends a listen at once where nothing can change. */
const UPSTREAM = [...upstreamArgs('modern'), 'changes'];
const NOT_MCP = 'it knows no sessions, streams or questions';
const NO_QUESTIONS = 'it does not pass questions on';

const [isthmusServe, mcpProxy] = ['isthmus', 'mcp-proxy'].map(
  (name) => /** @type {BridgeSubject} */ (BRIDGE_SUBJECTS.find((subject) => subject.name === name)),
);

/** @type {readonly MemorySubject[]} */
export const MEMORY_SUBJECTS = [
  server('isthmus', 'isthmus', 'isthmus-memory.js', {}),
  server('v2', 'official v2', 'official-v2-memory.js', {
    parked: 'its handler ends with the question and runs again with the answer, so there is nothing to hold',
  }),
  {
    name: 'isthmus-serve',
    program: {
      ...isthmusServe,
      title: 'isthmus serve',
      argsFor: (upstream) => [
        join(ROOT, 'bin', 'isthmus.js'),
        ...['serve', '--listen', 'http://127.0.0.1:0/mcp', '--max-sessions', MANY, '--max-parked', MANY],
        ...['--max-streams', MANY],
        ...['--', process.execPath, ...upstream],
      ],
    },
    upstream: UPSTREAM,
    lacks: {},
    // Questions to several legacy sessions at once would be refused, since the server does not say whose call asks; so
    // all waiting calls are in one session. About 20 calls a second are parked.
    atMost: { waiting: 200, parked: 500 },
  },
  {
    name: 'mcp-proxy',
    program: mcpProxy,
    upstream: UPSTREAM,
    lacks: { parked: NO_QUESTIONS, waiting: NO_QUESTIONS },
    // Its limit of 1,024 cannot be changed.
    atMost: { listen: 900 },
  },
  server('bare', 'bare node:http', 'bare-http.js', {
    session: NOT_MCP,
    listen: NOT_MCP,
    parked: NOT_MCP,
    waiting: NOT_MCP,
  }),
];

/** Whose bytes are compared with whose. */
export const PAIRS = [
  { ours: 'isthmus', theirs: 'v2' },
  { ours: 'isthmus-serve', theirs: 'mcp-proxy' },
];

/** @param {string} name */
export function findSubject(name) {
  return /** @type {MemorySubject} */ (MEMORY_SUBJECTS.find((subject) => subject.name === name));
}

/**
 * @param {string} name
 * @param {string} title
 * @param {string} file
 * @param {MemorySubject['lacks']} lacks
 * @returns {MemorySubject}
 */
function server(name, title, file, lacks) {
  const program = {
    ...isthmusServe,
    name,
    title,
    rival: name === 'v2',
    reach: /** @type {const} */ ('stdout'),
    argsFor: () => [join(BENCHMARKS, 'subjects', file)],
  };
  return { name, program, upstream: [], lacks, atMost: {} };
}
