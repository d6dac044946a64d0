/** What is measured of a cluster, one function for each row. Each gets the parts of a running cluster. */

import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { readCpuMicros } from '../../lib/child.js';
import { createHttpLoad } from '../../lib/http-load.js';
import { echo, openSession, openStream, post } from './calls.js';
import { median, percentileOf } from './numbers.js';

/** @typedef {{ url: string, origin: string, host: string, pid: number, kill(signal: NodeJS.Signals): void }} Replica */

/** @param {number} pid */
export function rssBytes(pid) {
  return 1024 * Number(/^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]);
}

/**
 * CPU per call in several processes that take turns, so that a busy machine treats all alike. The median of the rounds. As many
 * calls go to each before: what the optimizer has compiled in one of them only would be the difference.
 * @param {readonly Replica[]} replicas
 * @param {'modern' | 'legacy'} era
 * @param {{ rounds: number, forMs: number, warmUpCalls: number }} plan
 */
export async function cpuPerCall(replicas, era, { rounds, forMs, warmUpCalls }) {
  const loads = replicas.map(({ url }) =>
    createHttpLoad(Number(new URL(url).port), { era, textBytes: 64, inFlight: 16 }),
  );
  for (const load of loads) await load.open();
  /** @type {number[][]} */
  const found = replicas.map(() => []);
  for (const load of loads) {
    let calls = 0;
    while (calls < warmUpCalls) calls += (await load.run({ inFlight: 16, forMs: 100 })).requests;
  }
  for (let round = 0; round < rounds; round += 1) {
    for (const [at, load] of loads.entries()) {
      const before = readCpuMicros(replicas[at].pid);
      const { requests } = await load.run({ inFlight: 16, forMs });
      found[at].push((readCpuMicros(replicas[at].pid) - before) / requests);
    }
  }
  return found.map(median);
}

/**
 * Calls of sessions of `owner`, sent to `entrance`, one after the other. CPU of both, and latencies.
 * @param {Replica} owner
 * @param {Replica} entrance
 * @param {{ calls: number, warmUpCalls: number }} plan
 */
export async function sessionCalls(owner, entrance, { calls, warmUpCalls }) {
  const headers = await openSession(owner.url);
  const pids = [...new Set([owner.pid, entrance.pid])];
  const cpu = () => pids.reduce((sum, pid) => sum + readCpuMicros(pid), 0);
  await echoTogether(
    entrance,
    Array.from({ length: warmUpCalls / 3 }, () => headers),
  );
  const before = cpu();
  /** @type {number[]} */
  const ms = [];
  for (let call = 0; call < calls; call += 1) {
    const began = performance.now();
    await echo(entrance.url, headers, call);
    ms.push(performance.now() - began);
  }
  return { micros: (cpu() - before) / calls, p50: percentileOf(ms, 0.5), p99: percentileOf(ms, 0.99) };
}

/**
 * After kill -9 of the owner of two sessions: how long until the next call of one is answered, and until the standing stream of
 * the other is open again.
 * @param {Replica} owner
 * @param {Replica} other
 */
export async function afterKill(owner, other) {
  const [calling, listening] = [await openSession(owner.url), await openSession(owner.url)];
  await echo(other.url, calling, 1);
  const stream = await openStream(other.url, listening);
  owner.kill('SIGKILL');
  const killedAt = performance.now();
  const isBack = read(stream, () => {})
    .catch(() => {})
    .then(() => openStream(other.url, listening))
    .then(async (again) => {
      const ms = performance.now() - killedAt;
      await again.body?.cancel();
      return ms;
    });
  await sleep(50);
  const afterKillMs = await untilAnswered(other, calling);
  return { afterKillMs, streamMs: await isBack };
}

/**
 * How long after its owner has fallen silent the next call of a session is answered with a result. The owner goes on afterwards.
 * @param {Replica} owner
 * @param {Replica} other
 */
export async function afterVanishing(owner, other) {
  const headers = await openSession(owner.url);
  await echo(other.url, headers, 1);
  owner.kill('SIGSTOP');
  try {
    return await untilAnswered(other, headers);
  } finally {
    owner.kill('SIGCONT');
  }
}

/**
 * @param {Replica} replica
 * @param {Record<string, string>} headers
 */
async function untilAnswered({ url }, headers) {
  const began = performance.now();
  // A request that leaves before the loss of its owner is known is answered with an error: it may have run.
  for (let id = 2; ; id += 1) {
    try {
      await echo(url, headers, id);
      return performance.now() - began;
    } catch (error) {
      if (id > 20 || !String(error).includes('REPLICA_LOST')) throw error;
    }
  }
}

/**
 * How long a replica takes until it has answered a call of each of these sessions, in milliseconds.
 * @param {Replica} replica
 * @param {readonly Record<string, string>[]} sessions
 */
export async function echoAll(replica, sessions) {
  const began = performance.now();
  await echoTogether(replica, sessions);
  return performance.now() - began;
}

/**
 * A call of each of these sessions, 32 at once.
 * @param {Replica} replica
 * @param {readonly Record<string, string>[]} sessions
 */
async function echoTogether({ url }, sessions) {
  const left = [...sessions];
  const callers = Array.from({ length: 32 }, async () => {
    for (let headers = left.pop(); headers; headers = left.pop()) await echo(url, headers, left.length);
  });
  await Promise.all(callers);
}

/**
 * How long a change at one replica takes until the clients of all replicas have heard of it.
 * @param {readonly Replica[]} replicas
 * @param {{ times: number }} plan
 */
export async function newsTo(replicas, { times }) {
  /** @type {(() => void)[]} */
  let waiting = [];
  const closing = new AbortController();
  for (const { url } of replicas) {
    const headers = await openSession(url);
    const params = { uri: 'demo://clock' };
    const message = { jsonrpc: '2.0', id: 1, method: 'resources/subscribe', params };
    await (await post(url, headers, message)).text();
    const stream = await openStream(url, headers, closing.signal);
    void read(stream, () => waiting.shift()?.()).catch(() => {});
  }
  const caller = await openSession(replicas[0].url);
  /** @type {number[]} */
  const ms = [];
  for (let time = 0; time < times; time += 1) {
    const heard = Promise.all(replicas.map(() => new Promise((resolve) => waiting.push(() => resolve(0)))));
    const began = performance.now();
    const params = { name: 'touch', arguments: {} };
    await (
      await post(replicas[0].url, caller, { jsonrpc: '2.0', id: time, method: 'tools/call', params })
    ).text();
    await heard;
    ms.push(performance.now() - began);
    await sleep(30);
  }
  closing.abort();
  waiting = [];
  return percentileOf(ms, 0.99);
}

/**
 * @param {Response} stream
 * @param {() => void} onUpdate
 */
async function read(stream, onUpdate) {
  const decoder = new TextDecoder();
  for await (const chunk of /** @type {any} */ (stream.body)) {
    const count = decoder.decode(chunk).split('notifications/resources/updated').length - 1;
    for (let each = 0; each < count; each += 1) onUpdate();
  }
}
