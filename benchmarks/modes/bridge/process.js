/** A bridge and the upstream behind it become a process that a generator can ask. */

import { connect, createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { startNode } from '../../lib/child.js';
import { createHttpLoad } from '../../lib/http-load.js';
import { createLoad } from '../../lib/load.js';
import { guarded } from '../../lib/measure.js';
import { BENCHMARKS, ROOT } from '../../lib/subjects.js';

/** @typedef {import('../../lib/subjects.js').Era} Era */
/** @typedef {import('../../lib/child.js').Child} Child */
/** @typedef {import('./subjects.js').BridgeSubject} BridgeSubject */

const START_AT_MOST_MS = 15_000;
const POLL_MS = 20;

/**
 * What `node` is started with for the upstream.
 * @param {Era} era the newest that it knows
 */
export function upstreamArgs(era) {
  const program = join(BENCHMARKS, 'subjects', 'bridge-upstream.js');
  return era === 'legacy' ? [program, 'legacy'] : [program];
}

/**
 * @param {BridgeSubject} subject
 * @param {import('../../lib/measure.js').Cell & { upstream: Era }} cell
 * @returns {Promise<import('../../lib/measure.js').Peer>}
 */
export async function connectThrough(subject, cell) {
  const { child, port } = await startBridge(subject, upstreamArgs(cell.upstream));
  // Without a bridge, a server is spoken to in an era that it knows.
  const direct = cell.upstream === 'legacy' ? { ...cell, era: cell.upstream } : cell;
  const load = subject.reach === 'none' ? createLoad(child, direct) : createHttpLoad(port, cell);
  const peer = { child, load };
  child.exited.then((how) => load.abort(new Error(how)));
  await guarded(peer, () => load.open());
  return peer;
}

/**
 * @param {BridgeSubject} subject
 * @param {readonly string[]} upstream
 * @param {import('../../lib/child.js').StartOptions} [options]
 * @returns {Promise<{ child: Child, port: number }>} the port is 0 where there is none
 */
export async function startBridge({ reach, argsFor, missing }, upstream, options = {}) {
  const why = missing?.();
  if (why !== undefined) throw new Error(why);
  const given = reach === 'given' ? await freePort() : 0;
  const endSignal = reach === 'none' ? undefined : /** @type {const} */ ('SIGTERM');
  const child = startNode(argsFor(upstream, given), ROOT, { endSignal, ...options });
  let ended = '';
  child.exited.then((how) => {
    ended = how;
  });
  let printed = '';
  if (reach === 'stdout') child.stdout.on('data', (text) => (printed += text));
  // A full pipe would block a bridge whose log is not read.
  else if (reach !== 'none') child.stdout.resume();
  const find = {
    none: async () => 0,
    stdout: async () => (printed.endsWith('\n') ? Number(printed) : undefined),
    stderr: async () => portIn(child.stderrTail()),
    given: async () => ((await accepts(given)) ? given : undefined),
  }[reach];
  return guarded(/** @type {any} */ ({ child }), async () => {
    for (const latest = performance.now() + START_AT_MOST_MS; performance.now() < latest; ) {
      const port = await find();
      if (port !== undefined) return { child, port };
      if (ended !== '') throw new Error(`it ${ended} before it listened`);
      await sleep(POLL_MS);
    }
    throw new Error(`it did not listen within ${START_AT_MOST_MS / 1000} s`);
  });
}

/** @param {string} text */
function portIn(text) {
  const match = /http:\/\/127\.0\.0\.1:(\d+)\/mcp/.exec(text);
  return match ? Number(match[1]) : undefined;
}

/** @param {number} port */
function accepts(port) {
  return new Promise((/** @type {(accepted: boolean) => void} */ resolve) => {
    const socket = connect({ port, host: '127.0.0.1' });
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
    socket.once('connect', () => socket.destroy());
  });
}

/** For bridges that need a port as an argument. */
function freePort() {
  return new Promise((/** @type {(port: number) => void} */ resolve, reject) => {
    const server = createServer().once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
      server.close(() => resolve(port));
    });
  });
}
