/** What a server holds for its clients, and how a client makes it: sessions, streams, calls that wait, connections. */

import { once } from 'node:events';
import { connect } from 'node:net';
import { createAgent, messageIn, modernRequest, openSession, post, postStream } from '../../lib/http-post.js';
import { upstreamArgs } from '../bridge/process.js';

/** @typedef {'session' | 'listen' | 'parked' | 'waiting' | 'connection'} ThingName */
/** @typedef {{ isAlive: () => boolean, close: () => void }} Held */
/** @typedef {{ make: (at: number) => Promise<Held>, close: () => void }} Maker */

/**
 * @typedef {object} Thing
 * @property {ThingName} name
 * @property {string} title
 * @property {boolean} needsSocket each of them has a connection of its own
 * @property {readonly string[]} [upstream] the server that a bridge needs for it
 * @property {(port: number) => Promise<Maker>} open
 */

const ASKABLE = { elicitation: {} };
const ASKING = [...upstreamArgs('legacy'), 'asks'];
const FEW_CONNECTIONS = 16;
const CALLS_OF_A_SESSION = 240;
const NOTHING_TO_CLOSE = { isAlive: () => true, close: () => {} };

/** @type {readonly Thing[]} */
export const THINGS = [
  { name: 'session', title: 'idle legacy session', needsSocket: false, open: openSessions },
  { name: 'listen', title: 'open subscriptions/listen', needsSocket: true, open: openListens },
  {
    name: 'parked',
    title: 'parked call, modern client',
    needsSocket: false,
    upstream: ASKING,
    open: openParked,
  },
  {
    name: 'waiting',
    title: 'call that waits for a person, legacy client',
    needsSocket: true,
    upstream: ASKING,
    open: openWaiting,
  },
  { name: 'connection', title: 'idle HTTP connection', needsSocket: true, open: openConnections },
];

/** @type {Thing['open']} */
async function openSessions(port) {
  const agent = createAgent(FEW_CONNECTIONS);
  const make = async () => {
    const headers = await openSession({ port, agent });
    if (headers['mcp-session-id'] === undefined) throw new Error('initialize gave no session');
    return NOTHING_TO_CLOSE;
  };
  return { make, close: () => agent.destroy() };
}

/** @type {Thing['open']} */
async function openListens(port) {
  const agent = createAgent(Number.POSITIVE_INFINITY);
  const make = async (/** @type {number} */ at) => {
    const params = { notifications: { toolsListChanged: true } };
    const { headers, json } = modernRequest(at, 'subscriptions/listen', params);
    const acknowledged = 'notifications/subscriptions/acknowledged';
    const stream = await postStream({ port, agent, headers }, json, acknowledged);
    return { isAlive: stream.isOpen, close: stream.close };
  };
  return { make, close: () => agent.destroy() };
}

/**
 * The answer is `input_required`; the call itself waits in the server.
 * @type {Thing['open']}
 */
async function openParked(port) {
  const agent = createAgent(FEW_CONNECTIONS);
  const make = async (/** @type {number} */ at) => {
    const { headers, json } = modernRequest(at, 'tools/call', { name: 'ask', arguments: {} }, ASKABLE);
    const { body } = await post({ port, agent, headers }, json);
    if (messageIn(body)?.result?.resultType !== 'input_required')
      throw new Error(`a call did not ask: ${body.slice(0, 300)}`);
    return NOTHING_TO_CLOSE;
  };
  return { make, close: () => agent.destroy() };
}

/**
 * The answer to each call is a stream that carries the question. A session has 240 of them; isthmus runs 256.
 * @type {Thing['open']}
 */
async function openWaiting(port) {
  const agent = createAgent(Number.POSITIVE_INFINITY);
  /** @type {Promise<Record<string, string>>[]} */
  const sessions = [];
  const make = async (/** @type {number} */ at) => {
    const params = { name: 'ask', arguments: {} };
    const json = JSON.stringify({ jsonrpc: '2.0', id: at, method: 'tools/call', params });
    const session = Math.floor(at / CALLS_OF_A_SESSION);
    sessions[session] ??= openSession({ port, agent }, ASKABLE);
    const headers = await sessions[session];
    const stream = await postStream({ port, agent, headers }, json, 'elicitation/create');
    return { isAlive: stream.isOpen, close: stream.close };
  };
  return { make, close: () => agent.destroy() };
}

/**
 * A connection that has carried one request and is kept for the next.
 * @type {Thing['open']}
 */
async function openConnections(port) {
  const make = async () => {
    const socket = connect({ port, host: '127.0.0.1' });
    let isAlive = true;
    socket.on('close', () => (isAlive = false));
    socket.write(`GET /idle HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\n\r\n`);
    await once(socket, 'data');
    // It may be reset when its server ends.
    socket.on('error', () => {}).resume();
    return { isAlive: () => isAlive, close: () => socket.destroy() };
  };
  return { make, close: () => {} };
}
