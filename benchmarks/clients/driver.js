/**
 * What runs in the process of a measured client: it opens the client, calls `echo` in a closed loop and weighs
 * its own process. Orders come as lines of JSON on stdin, answers leave on stdout; see `modes/clients.js`.
 */

import { createInterface } from 'node:readline';

/** @typedef {'modern' | 'legacy' | 'auto'} Mode */
/**
 * @typedef {object} OpenClient
 * @property {string | undefined} revision what was negotiated
 * @property {(text: string) => Promise<unknown>} call gives the text of the answer
 * @property {() => Promise<void>} close
 */

/** @typedef {(mode: Mode, command: string, args: string[]) => Promise<OpenClient>} OpenFunction */

/**
 * @typedef {object} ClientRound
 * @property {number} calls
 * @property {number} callsPerSecond
 * @property {number} cpuMicros user + system time of this process per call
 * @property {number} p50Micros
 * @property {number} p99Micros
 */

const TEXT_BYTES = 64;

/** @param {OpenFunction} open */
export async function drive(open) {
  /** @type {OpenClient | undefined} */
  let client;
  const echo = createEcho();
  say({ ready: true });
  for await (const line of createInterface({ input: process.stdin })) {
    const order = JSON.parse(line);
    try {
      if (order.kind === 'open') {
        const begin = performance.now();
        client = await open(order.mode, process.execPath, order.args);
        await echo(client);
        const firstCallMs = performance.now() - begin;
        if (client.revision !== order.revision) throw new Error(`it speaks ${client.revision} here`);
        say({ firstCallMs });
      } else if (order.kind === 'round') {
        say(await look(() => echo(/** @type {OpenClient} */ (client)), order));
      }
    } catch (error) {
      say({ error: error instanceof Error ? error.message : String(error) });
    }
  }
  // The benchmark has closed the input. The driver closes the client that it opened.
  await client?.close();
  process.exit(0);
}

/** A call with a text of its own, whose answer must be that text. */
function createEcho() {
  let count = 1_000_000;
  const rest = 'the quick brown fox jumps over the lazy dog '.repeat(2).slice(0, TEXT_BYTES - 7);
  return async (/** @type {OpenClient} */ client) => {
    count += 1;
    const text = `${count}${rest}`;
    const answer = await client.call(text);
    if (answer !== text) throw new Error(`the echo of "${text}" was ${JSON.stringify(answer)}`);
  };
}

/**
 * @param {() => Promise<void>} call
 * @param {{ inFlight: number, forMs: number }} options
 * @returns {Promise<ClientRound>}
 */
async function look(call, { inFlight, forMs }) {
  /** @type {number[]} */
  const micros = [];
  const before = process.cpuUsage();
  const begin = performance.now();
  const end = begin + forMs;
  await Promise.all(
    Array.from({ length: inFlight }, async () => {
      for (let now = performance.now(); now < end; ) {
        const sent = now;
        await call();
        now = performance.now();
        micros.push((now - sent) * 1000);
      }
    }),
  );
  const elapsedMs = performance.now() - begin;
  const { user, system } = process.cpuUsage(before);
  const sorted = Float64Array.from(micros).sort();
  const calls = sorted.length;
  const percentile = (/** @type {number} */ share) => sorted[Math.min(calls - 1, Math.floor(calls * share))];
  return {
    calls,
    callsPerSecond: (calls / elapsedMs) * 1000,
    cpuMicros: (user + system) / calls,
    p50Micros: percentile(0.5),
    p99Micros: percentile(0.99),
  };
}

/** @param {object} answer */
function say(answer) {
  process.stdout.write(`${JSON.stringify(answer)}\n`);
}
