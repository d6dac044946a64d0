/**
 * `run.js --cluster`: three replicas of `isthmus serve` with a real redis-server, beside one process without a cluster.
 * Goals that need more cores than there are have no number, and are shown as such.
 */

import { connect } from 'node:net';
import { availableParallelism } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { startRedis, startReplica } from '../../../scripts/cluster/programs.js';
import { withCluster } from '../../../scripts/cluster/with-cluster.js';
import { createProgress } from '../../lib/progress.js';
import { align, number } from '../../lib/text.js';
import { verdict } from '../../lib/verdicts.js';
import {
  afterKill,
  cpuPerCall,
  echo,
  echoAll,
  newsTo,
  openSession,
  rssBytes,
  sessionCalls,
} from './parts.js';

/** Name, what it is, the limit, its unit. The limits are for a quiet machine. */
const GOALS = /** @type {const} */ ([
  ['modernCpu', 'CPU of a modern call in a cluster against one process', 1.01, 'x'],
  ['modernCommands', 'commands to Redis for 1,000 modern calls, without beats', 0, ''],
  ['ownerCpu', 'CPU of a legacy call at its owner against one process', 1.03, 'x'],
  ['handedOnCpuMs', 'CPU that handing a legacy call on adds, both processes together', 0.2, 'ms'],
  ['handedOnP50', 'p50 that handing on adds', 0.3, 'ms'],
  ['handedOnP99', 'p99 that handing on adds', 1, 'ms'],
  ['afterKillMs', 'next request of a session after kill -9 of its owner', 100, 'ms'],
  ['adoptionS', 'taking over 33,000 sessions of a process that was killed', 10, 's'],
  ['newsP99', 'p99 of a change until the clients of three replicas know it', 50, 'ms'],
  ['awayFailed', 'failed calls while Redis is away', 0, ''],
  ['sessionRedisMB', 'memory of Redis for 100,000 sessions', 90, 'MB'],
  ['sessionRssMB', 'memory of a replica for 33,000 sessions', 600, 'MB'],
  ['throughput', 'time of modern calls with 3 replicas on 4 cores against 1', 1 / 2.9, 'share'],
]);

/** @type {import('../index.js').Mode} */
export const CLUSTER = {
  name: 'cluster',
  takesEra: false,

  async measure({ quick }) {
    const progress = createProgress(process.stderr, 7);
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
        results.afterKillMs = await afterKill(third, second);
        results.adoptionS = ((await echoAll(second, opened)) / plan.sessions) * 33;
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
      const missing = name === 'throughput' ? `needs 4 cores, there are ${cores}` : 'not measured';
      return [what, value === undefined ? missing : `${number(value)} ${unit}`.trim()];
    });
    return align([['what', 'measured'], ...rows]);
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
  const meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientInfo': { name: 'bench', version: '1' },
    'io.modelcontextprotocol/clientCapabilities': {},
  };
  for (let id = 0; id < calls; id += 1) {
    const params = { name: 'echo', arguments: { text: 'x' }, _meta: meta };
    const answer = await fetch(url, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        'mcp-protocol-version': '2026-07-28',
        'mcp-method': 'tools/call',
        'mcp-name': 'echo',
      },
      body: JSON.stringify({ jsonrpc: '2.0', id, method: 'tools/call', params }),
    });
    if (answer.status !== 200) throw new Error(`a modern call: ${answer.status} ${await answer.text()}`);
    await answer.text();
  }
  const seconds = (performance.now() - began) / 1000;
  // Each of three replicas beats once a second; one beat more may fall into the time.
  return Math.max(0, (await scripts()) - before - 3 * (Math.ceil(seconds) + 1));
}

/** @param {number} port */
async function usedMemory(port) {
  return Number(/used_memory:(\d+)/.exec(await ask(port, 'INFO memory'))?.[1]);
}

/**
 * Failed calls of sessions whose owners live, while there is no Redis.
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
    await echo(replicas[to].url, sessions[at], call).catch(() => {
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
