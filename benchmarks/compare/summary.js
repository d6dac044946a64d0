/** The table of README.md: at most eight rows. Figures come from the results and from docs/scoreboard.md. Pure. */

import { micros, runLine, table } from './tables.js';

/** @typedef {import('./tables.js').Results} Results */

const HEAD = [
  '',
  'Isthmus',
  'official SDK v2',
  'mcp-proxy 6.7',
  'supergateway 4',
  'mcp-remote 0.15',
  'Inspector 2.12',
];
const NONE = '–';

/**
 * @param {Results} results
 * @param {string} scoreboard the text of docs/scoreboard.md
 */
export function summaryTable(results, scoreboard) {
  const must = (/** @type {string} */ name) => mustOf(scoreboard, name);
  const cpu = (/** @type {string} */ mode, /** @type {Record<string, string>} */ wanted) =>
    micros(findFigure(results[mode]?.figures, wanted)?.cpuMicros) || NONE;
  const modern = { era: 'modern', upstream: 'modern' };
  const rows = [
    [
      'modern client, legacy server',
      '**yes**, questions of the server too',
      NONE,
      'calls only',
      'no',
      'no',
      NONE,
    ],
    [
      'legacy client, modern server',
      '**yes**, questions of the server too',
      NONE,
      'calls only',
      'no',
      'one stdio client',
      NONE,
    ],
    [
      'official conformance suite through it (30 + 37)',
      '**30 + 37**',
      NONE,
      '24 + 25',
      '29 + 35',
      NONE,
      NONE,
    ],
    [
      'MUST rules that hold',
      `**${must('server-everything through isthmus serve')}**`,
      must('official SDK v2 fixture, stdio'),
      must('server-everything through mcp-proxy'),
      must('server-everything through supergateway'),
      must('mcp-remote (client)'),
      must('@modelcontextprotocol/inspector (client)'),
    ],
    [
      'CPU of a call, server on stdio',
      `**${cpu('stdio', { era: 'modern', subject: 'isthmus' })}**`,
      cpu('stdio', { era: 'modern', subject: 'v2' }),
      ...Array(4).fill(NONE),
    ],
    [
      'CPU of a call, server over HTTP',
      `**${cpu('http', { subject: 'isthmus' })}**`,
      cpu('http', { subject: 'v2' }),
      ...Array(4).fill(NONE),
    ],
    [
      'CPU of a call, HTTP in front of a stdio server',
      `**${cpu('bridge', { ...modern, subject: 'isthmus' })}**`,
      NONE,
      cpu('bridge', { ...modern, subject: 'mcp-proxy' }),
      'a process for each call',
      NONE,
      NONE,
    ],
    [
      'tells you whether a server follows the specification',
      '**yes**',
      NONE,
      NONE,
      NONE,
      NONE,
      'you judge what it shows',
    ],
  ];
  const measured = ['stdio', 'http', 'bridge'].flatMap((mode) => results[mode] ?? []);
  return `${table(HEAD, rows)}\n\n${runLine(...measured)}`;
}

/**
 * @param {readonly import('./figures.js').Figure[] | undefined} figures
 * @param {Record<string, string>} wanted
 */
function findFigure(figures, wanted) {
  return figures?.find((figure) => Object.entries(wanted).every(([key, value]) => figure[key] === value));
}

/**
 * The column "MUST" of a row of the scoreboard.
 * @param {string} scoreboard
 * @param {string} name
 */
function mustOf(scoreboard, name) {
  const line = scoreboard.split('\n').find((each) => each.startsWith(`| ${name} |`));
  const must = line?.split('|')[4]?.trim();
  if (must === undefined) throw new Error(`docs/scoreboard.md has no row for ${name}`);
  return must.replace('/', ' of ');
}

/**
 * Some rows of the scoreboard, for docs/compare.md.
 * @param {string} scoreboard
 */
export function scoreboardTable(scoreboard) {
  const rows = scoreboard
    .slice(scoreboard.indexOf('## Servers'), scoreboard.indexOf('## Clients'))
    .split('\n')
    .filter((line) => /^\| (?:isthmus demo|official SDK|server-)/.test(line))
    .map((line) =>
      line
        .split('|')
        .slice(1, -1)
        .map((cell) => cell.trim()),
    )
    .map(([server, , , must, should, grade]) => [server, must, should, grade]);
  return table(['server', 'MUST that hold', 'SHOULD that hold', 'grade'], rows);
}
