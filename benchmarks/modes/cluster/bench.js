/**
 * `run.js --cluster`: three replicas of `isthmus serve` with a real redis-server, beside one process without a cluster.
 * The throughput of three replicas is computed from CPU. Goals that tests measure have no number here, and name the test.
 */

import { connect } from 'node:net';
import { availableParallelism } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { startRedis, startReplica } from '../../../scripts/cluster/programs.js';
import { allKnown, withCluster } from '../../../scripts/cluster/with-cluster.js';
import { createProgress } from '../../lib/progress.js';
import { align, number } from '../../lib/text.js';
import { verdict } from '../../lib/verdicts.js';
import { callModern, echo, openSession } from './calls.js';
import { afterKill, afterVanishing, cpuPerCall, echoAll, newsTo, rssBytes, sessionCalls } from './parts.js';

/** Name, what it is, the limit, its unit. The limits are for a quiet machine. */
const GOALS = /** @type {const} */ ([
  ['modernCpu', 'CPU of a modern call in a cluster against one process', 1.01, 'x'],
  ['modernCommands', 'commands to Redis for 1,000 modern calls, without beats', 0, ''],
  ['ownerCpu', 'CPU of a legacy call at its owner against one process', 1.03, 'x'],
  ['handedOnCpuMs', 'CPU that handing a legacy call on adds, both processes together', 0.2, 'ms'],
  ['handedOnP50', 'p50 that handing on adds', 0.3, 'ms'],
  ['handedOnP99', 'p99 that handing on adds', 1, 'ms'],
  ['throughputModern', 'time of modern calls with 3 replicas against 1, from CPU', 1 / 2.9, 'share'],
  ['throughputLegacy', 'the same, legacy, round robin', 1 / 1.5, 'share'],
  ['throughputSticky', 'the same, legacy, each session at its owner', 1 / 2.8, 'share'],
  ['afterKillMs', 'next request of a session after kill -9 of its owner', 100, 'ms'],
  ['streamMs', 'the standing stream of a session is open again after kill -9', 1000, 'ms'],
  ['vanishedS', 'next result of a session whose owner is silent (SIGSTOP)', 6, 's'],
  ['adoptionS', 'taking over 33,000 sessions of a process that was killed', 10, 's'],
  ['newsP99', 'p99 of a change until the clients of three replicas know it', 50, 'ms'],
  ['awayFailed', 'failed calls while Redis is away, modern and of sessions', 0, ''],
  [
    'rollingFailed',
    'failed calls and lost sessions in a rolling restart: 500 a second, 1,000 sessions',
    0,
    '',
  ],
  ['questionsLost', 'calls with questions in storms that are lost, crossed, or run twice', 0, ''],
  ['sessionRedisMB', 'memory of Redis for 100,000 sessions', 90, 'MB'],
  ['sessionRssMB', 'memory of a replica for 33,000 sessions', 600, 'MB'],
]);

/** Goals that tests measure. */
const IN_TESTS = {
  rollingFailed:
    'ISTHMUS_LOAD_RPS=500 ISTHMUS_LOAD_SESSIONS=1000 npm run test:long -- test/cluster/load.test.ts',
  questionsLost: 'ISTHMUS_CHAOS_SEED=1,2,3 npm run test:long -- test/cluster/chaos.test.ts',
};

/** @type {import('../index.js').Mode} */
export const CLUSTER = {
  name: 'cluster',
  takesEra: false,

  async measure({ quick }) {
    const progress = createProgress(process.stderr, 8);
    const plan = quick
      ? { rounds: 3, forMs: 300, warmUpCalls: 5000, calls: 300, times: 20, sessions: 300, awayMs: 3000 }
      : {
          rounds: 15,
          forMs: 1000,
          warmUpCalls: 30_000,
          calls: 2000,
          times: 200,
          sessions: 3000,
          awayMs: 60_000,
        };
    const alone = await startReplica({});
    /** @type {Record<string, number>} */
    const results = {};
    try {
      // Some more sessions open first: what a process needs for its first ones is not what a session takes.
      const args = ['--max-sessions', String(2 * plan.sessions)];
      await withCluster({ args }, async ({ replicas, redis, keep }) => {
        const [first, second, third] = replicas;
        progress.next('modern calls');
        const modern = await cpuPerCall([alone, first], 'modern', plan);
        results.modernCpu = modern[1] / modern[0];
        results.modernCommands = await commandsFor(redis.port, first, 1000);
        progress.next('legacy calls at their owner');
        const legacy = await cpuPerCall([alone, first], 'legacy', plan);
        results.ownerCpu = legacy[1] / legacy[0];
        progress.next('legacy calls that are handed on');
        const here = await sessionCalls(first, first, plan);
        const there = await sessionCalls(first, second, plan);
        results.handedOnCpuMs = (there.micros - here.micros) / 1000;
        results.handedOnP50 = there.p50 - here.p50;
        results.handedOnP99 = there.p99 - here.p99;
        results.throughputModern = results.modernCpu / 3;
        results.throughputSticky = results.ownerCpu / 3;
        // Two of three calls come to a replica that does not have their session.
        results.throughputLegacy = (legacy[1] + (2 / 3) * (there.micros - here.micros)) / legacy[0] / 3;
        progress.next('news');
        results.newsP99 = await newsTo(replicas, plan);
        progress.next(`${plan.sessions} sessions`);
        for (let session = 0; session < plan.sessions / 3; session += 1) await openSession(third.url);
        const [usedBefore, heldBefore] = [await usedMemory(redis.port), rssBytes(third.pid)];
        const opened = [];
        for (let session = 0; session < plan.sessions; session += 1)
          opened.push(await openSession(third.url));
        const perSession = ((await usedMemory(redis.port)) - usedBefore) / plan.sessions;
        results.sessionRedisMB = (perSession * 100_000) / 1e6;
        const grown = rssBytes(third.pid) - heldBefore;
        // A process that has given memory back meanwhile says nothing about sessions.
        if (grown > 0) results.sessionRssMB = ((grown / plan.sessions) * 33_000) / 1e6;
        progress.next('kill -9');
        Object.assign(results, await afterKill(third, second));
        results.adoptionS = ((await echoAll(second, opened)) / plan.sessions) * 33;
        progress.next('a silent owner');
        results.vanishedS = (await afterVanishing(second, first)) / 1000;
        await allKnown([first, second]);
        progress.next(`Redis away for ${plan.awayMs / 1000} s`);
        results.awayFailed = await whileAway([first, second], redis, plan.awayMs);
        await keep(startRedis(redis.port));
      });
    } finally {
      await alone.stop();
      progress.end();
    }
    return { document: { results, cores: availableParallelism() }, failed: false };
  },

  judge({ results = {} }) {
    return GOALS.map(([name, what, limit, unit]) =>
      verdict({
        ...{ mode: 'cluster', what, where: '3 replicas, loopback', limit, unit },
        value: results[name],
        // The figures of a shared machine are too rough to fail a check.
        required: false,
      }),
    );
  },

  render({ results, cores }) {
    const rows = GOALS.map(([name, what, , unit]) => {
      const value = results[name];
      const missing = name in IN_TESTS ? `by ${IN_TESTS[name]}` : 'not measured';
      return [what, value === undefined ? missing : `${number(value)} ${unit}`.trim()];
    });
    return `${align([['what', 'measured'], ...rows])}\n\nThroughput of several processes needs a core for each and one for the load; here: ${cores}.`;
  },
};

/**
 * Commands that calls cause, besides those that come by themselves in the same time.
 * @param {number} port
 * @param {{ url: string }} replica
 * @param {number} calls
 */
async function commandsFor(port, { url }, calls) {
  const scripts = async () =>
    Number(/cmdstat_evalsha:calls=(\d+)/.exec(await ask(port, 'INFO commandstats'))?.[1]);
  const before = await scripts();
  const began = performance.now();
  for (let id = 0; id < calls; id += 1) await callModern(url, id);
  const seconds = (performance.now() - began) / 1000;
  // Each of three replicas beats once a second; one beat more may fall into the time.
  return Math.max(0, (await scripts()) - before - 3 * (Math.ceil(seconds) + 1));
}

/** @param {number} port */
async function usedMemory(port) {
  return Number(/used_memory:(\d+)/.exec(await ask(port, 'INFO memory'))?.[1]);
}

/**
 * Failed modern calls, and calls of sessions whose owners live, while there is no Redis.
 * @param {readonly { url: string }[]} replicas
 * @param {{ stop(): Promise<void> }} redis
 * @param {number} ms
 */
async function whileAway(replicas, redis, ms) {
  const sessions = await Promise.all(replicas.map(({ url }) => openSession(url)));
  await redis.stop();
  const until = performance.now() + ms;
  let failed = 0;
  for (let call = 0; performance.now() < until; call += 1) {
    const [at, to] = [call % 2, (call >> 1) % 2];
    const calling =
      call % 3 === 2 ? callModern(replicas[to].url, call) : echo(replicas[to].url, sessions[at], call);
    await calling.catch(() => {
      failed += 1;
    });
    await sleep(2);
  }
  return failed;
}

/**
 * @param {number} port
 * @param {string} command
 * @returns {Promise<string>}
 */
function ask(port, command) {
  return new Promise((resolve, reject) => {
    let text = '';
    const socket = connect(port, '127.0.0.1', () => socket.write(`${command}\r\n`));
    socket.setEncoding('utf8').on('error', reject);
    socket.on('data', (chunk) => {
      text += chunk;
      const length = /^\$(\d+)\r\n/.exec(text);
      if (!length || text.length < length[0].length + Number(length[1])) return;
      socket.destroy();
      resolve(text);
    });
  });
}
