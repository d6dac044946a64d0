/**
 * The load generator: a number of requests in flight, raw lines out and raw lines in. It must cost less
 * than the leanest subject, so nothing is parsed that need not be (see echo.js), and all requests that
 * one read allows leave in one write.
 */

import {
  createRequest,
  INITIALIZE,
  INITIALIZED,
  isEcho,
  isInitialized,
  learnShape,
  parse,
  readId,
  wrong,
} from './echo.js';

/** @typedef {import('./subjects.js').Era} Era */

/**
 * @typedef {object} Window what one run of the generator saw
 * @property {number} requests
 * @property {number} elapsedMs
 * @property {number} p50Micros
 * @property {number} p99Micros
 */

/** @typedef {{ inFlight: number, forMs?: number, calls?: number }} Plan for so long, or so many calls */

/**
 * @typedef {object} Load
 * @property {() => Promise<void>} open shakes hands where the era asks for it and makes the first call
 * @property {(plan: Plan) => Promise<Window>} run
 * @property {(error: Error) => void} abort fails the current wait and all later ones
 */

const FIRST_ID = 1_000_000;
const SAMPLE_EVERY = 256;
const SILENCE_MS = 10_000;
// A power of two far above any number in flight: the slot of an id is its low bits.
const SLOTS = 8192;
const NEWLINE = 10;

/**
 * Takes over both streams of a server; call `open` first.
 * @param {{ stdin: import('node:stream').Writable, stdout: import('node:stream').Readable }} child
 * @param {{ era: Era, textBytes: number }} options
 * @returns {Load}
 */
export function createLoad({ stdin, stdout }, { era, textBytes }) {
  const request = createRequest(era, textBytes, FIRST_ID);
  const idInSlot = new Int32Array(SLOTS);
  const sentAt = new Float64Array(SLOTS);

  /** @type {import('./echo.js').Shape | undefined} */
  let shape;
  /** @type {Error | undefined} */
  let broken;
  /** @type {{ resolve: (value: any) => void, reject: (error: Error) => void } | undefined} */
  let waiting;
  /** @type {Buffer[]} */
  let pending = [];
  let nextId = FIRST_ID;
  let inFlight = 0;
  let answered = 0;
  let stopAt = 0;
  let unsent = 0;
  let now = 0;
  let lastHeard = 0;
  let latencies = new Float64Array(1 << 16);

  stdout.on('data', onData);

  return {
    async open() {
      if (era === 'legacy') {
        const initialized = wait('the answer to initialize');
        stdin.write(INITIALIZE);
        await initialized;
        stdin.write(INITIALIZED);
      }
      await run({ inFlight: 1, forMs: 0 });
    },
    run,
    abort,
  };

  /** @param {Error} error */
  function abort(error) {
    broken ??= error;
    waiting?.reject(broken);
  }

  /** @param {Plan} plan */
  async function run({
    inFlight: wanted,
    forMs = Number.POSITIVE_INFINITY,
    calls = Number.POSITIVE_INFINITY,
  }) {
    answered = 0;
    unsent = calls;
    const done = wait('an answer to tools/call');
    const begin = performance.now();
    now = begin;
    stopAt = begin + forMs;
    send(Math.min(wanted, unsent));
    await done;
    const sorted = latencies.subarray(0, answered).sort();
    return {
      requests: answered,
      elapsedMs: now - begin,
      p50Micros: percentile(sorted, 0.5) * 1000,
      p99Micros: percentile(sorted, 0.99) * 1000,
    };
  }

  /** @param {Buffer} chunk */
  function onData(chunk) {
    now = performance.now();
    lastHeard = now;
    const before = answered;
    try {
      let from = 0;
      for (let to = chunk.indexOf(NEWLINE); to !== -1; to = chunk.indexOf(NEWLINE, from)) {
        if (pending.length === 0) {
          onLine(chunk, from, to);
        } else {
          pending.push(chunk.subarray(from, to));
          const line = Buffer.concat(pending);
          pending = [];
          onLine(line, 0, line.length);
        }
        from = to + 1;
      }
      if (from < chunk.length) pending.push(from === 0 ? chunk : chunk.subarray(from));
      if (answered === before) return;
      const more = now < stopAt ? Math.min(answered - before, unsent) : 0;
      if (more > 0) send(more);
      else if (inFlight === 0) waiting?.resolve(undefined);
    } catch (error) {
      abort(/** @type {Error} */ (error));
    }
  }

  /**
   * @param {Buffer} bytes
   * @param {number} from
   * @param {number} to
   */
  function onLine(bytes, from, to) {
    if (shape !== undefined && to - from === shape.length && answered % SAMPLE_EVERY !== 0) {
      const id = readId(bytes, from + shape.idAt);
      if (id === readId(bytes, from + shape.textAt) && settle(id)) return;
    }
    const line = bytes.toString('utf8', from, to);
    const message = parse(line);
    if (message.method !== undefined) return;
    if (message.id === 'initialize') {
      if (!isInitialized(message)) throw wrong('initialize was refused', line);
      waiting?.resolve(undefined);
      return;
    }
    if (!isEcho(message, request.text(message.id), era)) throw wrong('a wrong answer to tools/call', line);
    if (!settle(message.id)) throw wrong('an answer to a request that is not in flight', line);
    shape ??= learnShape(line, message.id);
  }

  /**
   * @param {number} id
   * @returns {boolean} whether the id was in flight
   */
  function settle(id) {
    const slot = id & (SLOTS - 1);
    if (idInSlot[slot] !== id) return false;
    idInSlot[slot] = 0;
    inFlight -= 1;
    if (answered === latencies.length) latencies = grown(latencies);
    latencies[answered] = now - sentAt[slot];
    answered += 1;
    return true;
  }

  /** @param {number} count */
  function send(count) {
    const batch = request.batch(nextId, count);
    for (let id = nextId; id < nextId + count; id += 1) {
      const slot = id & (SLOTS - 1);
      if (idInSlot[slot] !== 0)
        throw new Error(`request ${idInSlot[slot]} got no answer, ${SLOTS} later ones did`);
      idInSlot[slot] = id;
      sentAt[slot] = now;
    }
    nextId += count;
    unsent -= count;
    inFlight += count;
    stdin.write(batch);
  }

  /** @param {string} what */
  function wait(what) {
    lastHeard = performance.now();
    const watchdog = setInterval(() => {
      if (performance.now() - lastHeard < SILENCE_MS) return;
      abort(new Error(`waited ${SILENCE_MS / 1000} s for ${what} (${inFlight} in flight)`));
    }, 500);
    return new Promise((resolve, reject) => {
      waiting = { resolve, reject };
      if (broken) reject(broken);
    }).finally(() => clearInterval(watchdog));
  }
}

/** @param {Float64Array} full */
export function grown(full) {
  const larger = new Float64Array(full.length * 2);
  larger.set(full);
  return larger;
}

/**
 * @param {Float64Array} sorted
 * @param {number} share
 */
export function percentile(sorted, share) {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}
