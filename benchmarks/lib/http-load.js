/**
 * The load generator over HTTP: raw sockets, one request at a time on each. Requests are copied from a template,
 * and an answer of the length that the first, verified one had is checked by the two numbers in it (see echo.js):
 * headers and all, the answers of one subject have one length.
 */

import { connect } from 'node:net';
import {
  createRequest,
  INITIALIZE_MESSAGE,
  INITIALIZED_MESSAGE,
  isEcho,
  isInitialized,
  LEGACY_REVISION,
  learnShape,
  MODERN_REVISION,
  parse,
  readId,
  wrong,
} from './echo.js';
import { grown, percentile } from './load.js';

/** @typedef {import('./subjects.js').Era} Era */

/**
 * @typedef {object} Lane one connection and what is under way on it
 * @property {import('node:net').Socket} socket
 * @property {ReturnType<typeof createRequest>} request
 * @property {Buffer | undefined} pending the beginning of an answer
 * @property {number} id of the request in flight, 0 for none
 * @property {number} sentAt
 * @property {((response: Response) => void) | undefined} onResponse takes an answer that is not to a call
 */

/** @typedef {{ status: number, head: string, body: string }} Response */

const FIRST_ID = 1_000_000;
const SAMPLE_EVERY = 256;
const SILENCE_MS = 10_000;

/**
 * @param {number} port
 * @param {{ era: Era, textBytes: number, inFlight: number }} options `inFlight` is the number of connections
 * @returns {import('./load.js').Load}
 */
export function createHttpLoad(port, { era, textBytes, inFlight: connections }) {
  /** @type {Lane[]} */
  const lanes = [];
  /** @type {import('./echo.js').Shape | undefined} */
  let shape;
  /** @type {Error | undefined} */
  let broken;
  /** @type {{ resolve: (value: any) => void, reject: (error: Error) => void } | undefined} */
  let waiting;
  let nextId = FIRST_ID;
  let inFlight = 0;
  let answered = 0;
  let stopAt = 0;
  let unsent = 0;
  let lastHeard = 0;
  let lastAt = 0;
  let latencies = new Float64Array(1 << 16);

  return {
    async open() {
      for (let index = 0; index < connections; index += 1) lanes.push(await openLane());
      await run({ inFlight: 1, forMs: 0 });
    },
    run,
    abort,
  };

  /** @param {Error} error */
  function abort(error) {
    broken ??= error;
    waiting?.reject(broken);
    for (const { socket } of lanes) socket.destroy();
  }

  /** In the legacy era every connection has a session of its own. */
  async function openLane() {
    /** @type {Lane} */
    const lane = {
      socket: dial(() => lane),
      request: createRequest(era, textBytes, FIRST_ID, (json) => post(port, era, json)),
      pending: undefined,
      id: 0,
      sentAt: 0,
      onResponse: undefined,
    };
    if (era === 'modern') return lane;
    const { head, body } = await ask(lane, post(port, undefined, INITIALIZE_MESSAGE));
    if (!isInitialized(parse(body))) throw wrong('initialize was refused', body);
    const session = /^mcp-session-id: (.*)\r$/im.exec(head)?.[1];
    await ask(lane, post(port, era, INITIALIZED_MESSAGE, session));
    lane.request = createRequest(era, textBytes, FIRST_ID, (json) => post(port, era, json, session));
    return lane;
  }

  /**
   * A server may close a connection that is idle, while the others have their rounds; then there is another.
   * @param {() => Lane} laneOf
   */
  function dial(laneOf) {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true });
    socket.on('data', (chunk) => onData(laneOf(), chunk));
    socket.on('error', abort);
    socket.on('close', () => {
      const lane = laneOf();
      const isIdle = lane.id === 0 && lane.onResponse === undefined;
      if (isIdle && broken === undefined) lane.socket = dial(laneOf);
      else abort(new Error('the server closed a connection'));
    });
    return socket;
  }

  /**
   * @param {Lane} lane
   * @param {string} text
   * @returns {Promise<Response>}
   */
  async function ask(lane, text) {
    const answer = wait('an answer');
    lane.onResponse = (response) => waiting?.resolve(response);
    lane.socket.write(text);
    const response = await answer;
    lane.onResponse = undefined;
    if (response.status >= 300) throw wrong(`status ${response.status}`, response.body);
    return response;
  }

  /** @param {import('./load.js').Plan} plan */
  async function run({
    inFlight: wanted,
    forMs = Number.POSITIVE_INFINITY,
    calls = Number.POSITIVE_INFINITY,
  }) {
    answered = 0;
    unsent = calls;
    const done = wait('an answer to tools/call');
    const begin = performance.now();
    stopAt = begin + forMs;
    for (const lane of lanes.slice(0, Math.min(wanted, unsent))) send(lane, begin);
    await done;
    const sorted = latencies.subarray(0, answered).sort();
    return {
      requests: answered,
      elapsedMs: lastAt - begin,
      p50Micros: percentile(sorted, 0.5) * 1000,
      p99Micros: percentile(sorted, 0.99) * 1000,
    };
  }

  /**
   * @param {Lane} lane
   * @param {Buffer} chunk
   */
  function onData(lane, chunk) {
    const now = performance.now();
    lastHeard = now;
    try {
      const bytes = lane.pending === undefined ? chunk : Buffer.concat([lane.pending, chunk]);
      const isWhole = onBytes(lane, bytes, now);
      lane.pending = isWhole ? undefined : bytes;
      if (!isWhole) return;
      if (lane.id !== 0 || lane.onResponse !== undefined) return;
      if (now < stopAt && unsent > 0) send(lane, now);
      else if (inFlight === 0) waiting?.resolve(undefined);
    } catch (error) {
      abort(/** @type {Error} */ (error));
    }
  }

  /**
   * @param {Lane} lane
   * @param {Buffer} bytes
   * @param {number} now
   * @returns {boolean} whether that was a whole answer
   */
  function onBytes(lane, bytes, now) {
    if (shape !== undefined && bytes.length === shape.length && answered % SAMPLE_EVERY !== 0) {
      if (readId(bytes, shape.idAt) === lane.id && readId(bytes, shape.textAt) === lane.id) {
        settle(lane, now);
        return true;
      }
    }
    // The first piece of a good answer; a refusal may well be shorter, and so may an answer with chance in it.
    const isShort = shape !== undefined && bytes.length < shape.length;
    if (isShort && isOk(bytes) && !endsChunks(bytes) && lane.onResponse === undefined) return false;
    const response = readResponse(bytes);
    if (response === undefined) return false;
    // The server ends a connection that has waited for its turn for too long. There will be another.
    if (lane.id === 0 && lane.onResponse === undefined && response.status === 408) return true;
    if (lane.onResponse !== undefined) {
      lane.onResponse(response);
      return true;
    }
    const whatIsWrong = `a wrong answer to tools/call, with status ${response.status}`;
    // What is refused may have no message.
    if (response.status !== 200) throw wrong(whatIsWrong, response.body);
    const message = parse(response.body);
    if (message.id !== lane.id || !isEcho(message, lane.request.text(lane.id), era)) {
      throw wrong(whatIsWrong, response.body);
    }
    shape ??= learnShape(bytes.toString('latin1'), lane.id);
    settle(lane, now);
    return true;
  }

  /**
   * @param {Lane} lane
   * @param {number} now
   */
  function settle(lane, now) {
    lane.id = 0;
    inFlight -= 1;
    if (answered === latencies.length) latencies = grown(latencies);
    latencies[answered] = now - lane.sentAt;
    answered += 1;
    lastAt = now;
  }

  /**
   * @param {Lane} lane
   * @param {number} now
   */
  function send(lane, now) {
    lane.id = nextId;
    lane.sentAt = now;
    inFlight += 1;
    unsent -= 1;
    lane.socket.write(lane.request.batch(nextId, 1));
    nextId += 1;
  }

  /**
   * @param {string} what
   * @returns {Promise<any>}
   */
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

/**
 * @param {number} port
 * @param {Era | undefined} era undefined before it is agreed upon
 * @param {string} json
 * @param {string} [session]
 */
function post(port, era, json, session) {
  const headers = {
    host: `127.0.0.1:${port}`,
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    ...(era === 'modern' && {
      'mcp-protocol-version': MODERN_REVISION,
      'mcp-method': 'tools/call',
      'mcp-name': 'echo',
    }),
    ...(era === 'legacy' && { 'mcp-protocol-version': LEGACY_REVISION }),
    ...(session !== undefined && { 'mcp-session-id': session }),
    'content-length': Buffer.byteLength(json),
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return `POST /mcp HTTP/1.1\r\n${lines.join('')}\r\n${json}`;
}

/**
 * Whether a response begins with the status 200.
 * @param {Buffer} bytes
 */
function isOk(bytes) {
  return bytes[9] === 0x32 && bytes[10] === 0x30 && bytes[11] === 0x30;
}

/**
 * Whether these bytes end with the last chunk of a body, `0\r\n\r\n`.
 * @param {Buffer} bytes
 */
function endsChunks(bytes) {
  const at = bytes.length - 5;
  return bytes[at] === 0x30 && bytes[at + 1] === 0x0d && bytes[at + 2] === 0x0a && bytes[at + 3] === 0x0d;
}

/**
 * A whole response, or undefined while it is not all there. The body of an event stream is that of its one event.
 * @param {Buffer} bytes
 * @returns {Response | undefined}
 */
function readResponse(bytes) {
  const text = bytes.toString('utf8');
  const end = text.indexOf('\r\n\r\n');
  if (end === -1) return undefined;
  const head = text.slice(0, end + 2);
  const status = Number(head.slice(9, 12));
  let body = text.slice(end + 4);
  if (/^transfer-encoding: chunked\r$/im.test(head)) {
    if (!body.endsWith('0\r\n\r\n')) return undefined;
    body = unchunk(body);
  } else {
    const length = Number(/^content-length: (\d+)\r$/im.exec(head)?.[1] ?? 0);
    if (Buffer.byteLength(body) < length) return undefined;
  }
  return { status, head, body: /^data: (\{.*)$/m.exec(body)?.[1] ?? body };
}

/** @param {string} text the texts here are ASCII, so characters are bytes */
function unchunk(text) {
  let body = '';
  for (let at = 0; ; ) {
    const end = text.indexOf('\r\n', at);
    const size = Number.parseInt(text.slice(at, end), 16);
    if (!(size > 0)) return body;
    body += text.slice(end + 2, end + 2 + size);
    at = end + 2 + size + 2;
  }
}
