/** Single requests over HTTP, for what is not a load: sessions, streams, lists and large results. */

import { Agent, request } from 'node:http';
import {
  CLIENT_INFO,
  INITIALIZE_MESSAGE,
  INITIALIZED_MESSAGE,
  LEGACY_REVISION,
  MODERN_REVISION,
  wrong,
} from './echo.js';

/** @typedef {import('./subjects.js').Era} Era */
/** @typedef {{ status: number, session: string | undefined, body: string }} Answer */
/** @typedef {{ port: number, agent: Agent, headers?: Record<string, string> }} Where */

const AT_MOST_MS = 30_000;

/** @param {number} [connections] */
export function createAgent(connections = 1) {
  return new Agent({ keepAlive: true, maxSockets: connections });
}

/**
 * The answer, when all of it has arrived.
 * @param {Where} where
 * @param {string} json
 * @returns {Promise<Answer>}
 */
export function post(where, json) {
  return new Promise((resolve, reject) => {
    const outgoing = start(where, json);
    outgoing.on('error', reject).on('response', (response) => {
      /** @type {Buffer[]} */
      const chunks = [];
      const session = response.headers['mcp-session-id']?.toString();
      response.on('error', reject).on('data', (chunk) => chunks.push(chunk));
      response.on('end', () => {
        const body = Buffer.concat(chunks).toString('utf8');
        resolve({ status: response.statusCode ?? 0, session, body });
      });
    });
  });
}

/**
 * An answer that stays open: resolves when a text has arrived. Comments and empty events may come before it.
 * @param {Where} where
 * @param {string} json
 * @param {string} expected
 * @returns {Promise<{ isOpen: () => boolean, close: () => void }>}
 */
export function postStream(where, json, expected) {
  return new Promise((resolve, reject) => {
    const outgoing = start(where, json);
    let isOpen = true;
    const close = () => outgoing.destroy();
    // It stays open until the benchmark ends it, and then its error is of no interest.
    outgoing.on('error', reject).on('close', () => (isOpen = false));
    outgoing.on('response', (response) => {
      response.on('error', reject).on('end', () => {
        isOpen = false;
        reject(wrong(`a stream with status ${response.statusCode} ended without ${expected}`, text));
      });
      const late = setTimeout(
        () => reject(wrong(`no ${expected} within ${AT_MOST_MS / 1000} s`, text)),
        AT_MOST_MS,
      ).unref();
      let text = '';
      const read = (/** @type {Buffer} */ chunk) => {
        text += chunk.toString('utf8');
        if (!text.includes(expected)) return;
        clearTimeout(late);
        response.off('data', read).resume();
        resolve({ isOpen: () => isOpen, close });
      };
      response.on('data', read);
    });
  });
}

/**
 * A legacy session: the headers of its requests.
 * @param {Where} where
 * @param {object} [capabilities] of the client
 * @returns {Promise<Record<string, string>>}
 */
export async function openSession(where, capabilities) {
  const initialize = JSON.parse(INITIALIZE_MESSAGE);
  if (capabilities !== undefined) initialize.params.capabilities = capabilities;
  const { session, status, body } = await post(where, JSON.stringify(initialize));
  if (status !== 200) throw wrong(`initialize was refused with status ${status}`, body);
  const headers = { 'mcp-protocol-version': LEGACY_REVISION, ...(session && { 'mcp-session-id': session }) };
  await post({ ...where, headers }, INITIALIZED_MESSAGE);
  return headers;
}

/**
 * A request of the modern era, with the headers that go with it.
 * @param {number} id
 * @param {string} method
 * @param {Record<string, any>} params
 * @param {object} [capabilities] of the client
 */
export function modernRequest(id, method, params, capabilities = {}) {
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': MODERN_REVISION,
    'io.modelcontextprotocol/clientCapabilities': capabilities,
    'io.modelcontextprotocol/clientInfo': CLIENT_INFO,
  };
  return {
    headers: {
      'mcp-protocol-version': MODERN_REVISION,
      'mcp-method': method,
      ...(params.name !== undefined && { 'mcp-name': params.name }),
    },
    json: JSON.stringify({ jsonrpc: '2.0', id, method, params: { ...params, _meta } }),
  };
}

/**
 * The message of an answer, whether it is JSON or a stream with one event.
 * @param {string} body
 * @returns {any}
 */
export function messageIn(body) {
  return JSON.parse(body.startsWith('{') ? body : (/^data: ?(\{.*)$/m.exec(body)?.[1] ?? 'null'));
}

/**
 * @param {Where} where
 * @param {string} json
 */
function start({ port, agent, headers }, json) {
  const outgoing = request({
    agent,
    port,
    host: '127.0.0.1',
    path: '/mcp',
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...headers,
      'content-length': Buffer.byteLength(json),
    },
  });
  const watchdog = setTimeout(
    () => outgoing.destroy(new Error(`no answer within ${AT_MOST_MS / 1000} s`)),
    AT_MOST_MS,
  );
  const calm = () => clearTimeout(watchdog);
  outgoing.on('response', calm).on('close', calm);
  outgoing.end(json);
  return outgoing;
}
