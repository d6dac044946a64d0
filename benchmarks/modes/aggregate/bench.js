/**
 * `run.js --aggregate`: `tools/list` over 30 servers with 280 tools in all through `isthmus serve --config`, beside a bare
 * program that asks the same servers. Half of the servers know the legacy era only, and no list may be kept. Two more
 * gateways have one server more, which hangs: from the start, or on `tools/list` alone.
 */

import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createProgress } from '../../lib/progress.js';
import { median, medianOf, pairedRatio } from '../../lib/statistics.js';
import { BENCHMARKS, ROOT } from '../../lib/subjects.js';
import { align, number, renderFailures } from '../../lib/text.js';
import { verdict } from '../../lib/verdicts.js';
import { startBridge } from '../bridge/process.js';
import { BRIDGE_SUBJECTS } from '../bridge/subjects.js';
import { createAsker } from './asker.js';

/** @typedef {import('../bridge/subjects.js').BridgeSubject} BridgeSubject */
/** @typedef {{ subject: string, firstMs: number[], warmMs: number[], callMs: number[] }} AggregateResult */

const SERVERS = 30;
const TOOLS = 280;
const EFFORT = {
  starts: 3,
  rounds: 7,
  listsARound: 10,
  callsARound: 50,
  warmUpCalls: 5000,
  warmUpLists: 100,
};
const QUICK_EFFORT = {
  ...EFFORT,
  rounds: 3,
  listsARound: 3,
  callsARound: 20,
  warmUpCalls: 500,
  warmUpLists: 20,
};
/** A hanging server may make each list wait for seconds. */
const WARM_UP_AT_MOST_MS = 20_000;
const ROUND_AT_MOST_MS = 12_000;
const UPSTREAM = join(BENCHMARKS, 'subjects', 'bridge-upstream.js');

const HANGS = [
  { subject: 'silent', title: 'isthmus, and a server that never answers', args: ['silent-on=*'] },
  {
    subject: 'silent-list',
    title: 'isthmus, and a server silent on tools/list',
    args: ['silent-on=tools/list', 'tools=10'],
  },
];
const TITLES = { bare: 'bare aggregate', isthmus: 'isthmus serve --config' };

/** @type {import('../index.js').Mode} */
export const AGGREGATE = {
  name: 'aggregate',
  takesEra: false,

  async measure({ quick }) {
    const effort = quick ? QUICK_EFFORT : EFFORT;
    const folder = await mkdtemp(join(tmpdir(), 'isthmus-aggregate-'));
    const progress = createProgress(process.stderr, effort.starts + effort.rounds + 1);
    /** @type {AggregateResult[]} */
    const results = [];
    /** @type {{ subject: string, message: string }[]} */
    const failures = [];
    try {
      let contestants = [];
      for (const subject of await subjectsIn(folder)) {
        /** @type {AggregateResult} */
        const result = { subject: subject.name, firstMs: [], warmMs: [], callMs: [] };
        contestants.push({ subject, result });
      }
      /** @param {(contestant: typeof contestants[number]) => Promise<void>} work */
      const each = async (work) => {
        for (const contestant of contestants.slice()) {
          try {
            await work(contestant);
          } catch (error) {
            const { message } = /** @type {Error} */ (error);
            failures.push({ subject: contestant.subject.name, message });
            progress.note(`${contestant.subject.title} FAILED: ${message}`);
            contestants = contestants.filter((other) => other !== contestant);
          }
        }
      };

      for (let start = 1; start <= effort.starts; start += 1) {
        progress.next(`start to first list, ${start} of ${effort.starts}`);
        await each(async ({ subject, result }) => {
          const begin = performance.now();
          const asker = await startAsker(subject);
          await asker.list();
          result.firstMs.push(performance.now() - begin);
          await asker.close();
        });
      }
      /** @type {Map<string, Awaited<ReturnType<typeof createAsker>>>} */
      const askers = new Map();
      progress.next('warm-up');
      await each(async ({ subject }) => {
        const asker = await startAsker(subject);
        askers.set(subject.name, asker);
        const latest = performance.now() + WARM_UP_AT_MOST_MS;
        for (let at = 0; at < effort.warmUpLists && performance.now() < latest; at += 1) await asker.list();
        for (let at = 0; at < effort.warmUpCalls && performance.now() < latest; at += 1) await asker.call();
      });
      for (let round = 1; round <= effort.rounds; round += 1) {
        progress.next(`round ${round} of ${effort.rounds}`);
        await each(async ({ subject, result }) => {
          const asker = /** @type {NonNullable<ReturnType<typeof askers.get>>} */ (askers.get(subject.name));
          result.warmMs.push(await medianTime(asker.list, effort.listsARound));
          result.callMs.push(await medianTime(asker.call, effort.callsARound));
        });
      }
      await Promise.all([...askers.values()].map((asker) => asker.close()));
      results.push(...contestants.map(({ result }) => result));
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
    progress.end();
    return {
      document: { effort, servers: SERVERS, tools: TOOLS, results, failures },
      failed: failures.length > 0,
    };
  },

  judge({ results = [] }) {
    const of = (/** @type {string} */ name) =>
      results.find((/** @type {AggregateResult} */ { subject }) => subject === name);
    const warm = (/** @type {string} */ name) => medianOf(of(name)?.warmMs, (ms) => ms);
    const place = { mode: 'aggregate', unit: /** @type {const} */ ('ms'), limit: 100 };
    return [
      verdict({
        ...place,
        what: 'tools/list, warm',
        where: `${SERVERS} servers, ${TOOLS} tools`,
        value: warm('isthmus'),
      }),
      ...HANGS.flatMap(({ subject, args }) => {
        const where =
          args[0] === 'silent-on=*' ? 'and one that never answers' : 'and one silent on tools/list';
        return [
          verdict({ ...place, what: 'tools/list, warm', where, value: warm(subject) }),
          verdict({
            mode: 'aggregate',
            what: 'time of a call to another server against no server that hangs',
            where,
            unit: 'x',
            limit: 1.2,
            value: pairedRatio(of(subject)?.callMs, of('isthmus')?.callMs, (ms) => ms),
          }),
        ];
      }),
    ];
  },

  render({ results, failures }) {
    /** @type {(string[] | string)[]} */
    const rows = [
      [`${SERVERS} servers, ${TOOLS} tools`, 'start to first list ms', 'warm list ms', 'call ms'],
    ];
    for (const { subject, firstMs, warmMs, callMs } of results) {
      const title = TITLES[/** @type {keyof typeof TITLES} */ (subject)];
      const [first, warm, call] = [firstMs, warmMs, callMs].map((all) => medianOf(all, (ms) => ms));
      const shownCall = call === undefined ? 'n/a' : call.toFixed(2);
      const shown = title ?? HANGS.find((hang) => hang.subject === subject)?.title ?? subject;
      rows.push([shown, number(first), number(warm), shownCall]);
    }
    return [align(rows), renderFailures(failures)].filter(Boolean).join('\n\n');
  },
};

/**
 * One gateway for each configuration file.
 * @param {string} folder
 * @returns {Promise<BridgeSubject[]>}
 */
async function subjectsIn(folder) {
  const template = /** @type {BridgeSubject} */ (BRIDGE_SUBJECTS.find(({ name }) => name === 'isthmus'));
  const plain = join(folder, 'plain.json');
  await writeFile(plain, configuration([]));
  const gateway = (/** @type {string} */ name, /** @type {string} */ title, /** @type {string} */ file) => ({
    ...template,
    name,
    title,
    argsFor: () => [
      join(ROOT, 'bin', 'isthmus.js'),
      ...['serve', '--config', file, '--listen', 'http://127.0.0.1:0/mcp', '--no-watch'],
    ],
  });
  const hanging = await Promise.all(
    HANGS.map(async ({ subject, title, args }) => {
      const file = join(folder, `${subject}.json`);
      await writeFile(file, configuration(args));
      return gateway(subject, title, file);
    }),
  );
  return [
    {
      ...template,
      name: 'bare',
      title: TITLES.bare,
      missing: undefined,
      reach: 'stdout',
      argsFor: () => [join(BENCHMARKS, 'subjects', 'bare-aggregate.js'), plain],
    },
    gateway('isthmus', TITLES.isthmus, plain),
    ...hanging,
  ];
}

/** @param {readonly string[]} hanging the arguments of one server more; none when empty */
function configuration(hanging) {
  const entries = Array.from({ length: SERVERS }, (_, at) => {
    const count = Math.floor(TOOLS / SERVERS) + (at < TOOLS % SERVERS ? 1 : 0);
    const era = at % 2 === 0 ? [] : ['legacy'];
    return [`server${at}`, { command: process.execPath, args: [UPSTREAM, `tools=${count}`, ...era] }];
  });
  if (hanging.length > 0)
    entries.push(['hanging', { command: process.execPath, args: [UPSTREAM, ...hanging] }]);
  return JSON.stringify({ mcpServers: Object.fromEntries(entries) });
}

/** @param {BridgeSubject} subject */
async function startAsker(subject) {
  const { child, port } = await startBridge(subject, []);
  return createAsker(child, port, TOOLS);
}

/**
 * The time of one, as the median of several.
 * @param {() => Promise<number>} ask
 * @param {number} count
 */
async function medianTime(ask, count) {
  const latest = performance.now() + ROUND_AT_MOST_MS;
  const all = [];
  for (let at = 0; at < count && performance.now() < latest; at += 1) all.push(await ask());
  return median(all);
}
