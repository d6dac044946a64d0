/** Calls the tool `large` over HTTP, one call at a time on one connection, and checks what comes back. */

import { Agent, request } from 'node:http';
import { INITIALIZE_MESSAGE, INITIALIZED_MESSAGE, LEGACY_REVISION, MODERN_REVISION, wrong } from './echo.js';

/** @typedef {import('./subjects.js').Era} Era */
/** @typedef {{ status: number, session: string | undefined, body: string }} Answer */

const LARGE_CHARACTERS = 5_000_000;
const CALL_AT_MOST_MS = 20_000;
const ENVELOPE = {
  'io.modelcontextprotocol/protocolVersion': MODERN_REVISION,
  'io.modelcontextprotocol/clientCapabilities': {},
  'io.modelcontextprotocol/clientInfo': { name: 'isthmus-benchmarks', version: '0.0.0' },
};

/**
 * @param {number} port
 * @param {Era} era
 * @param {{ opens: boolean, isChecked: boolean }} options whether it knows sessions; whether its answers have a body
 */
export function createLargeCaller(port, era, { opens, isChecked }) {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  /** @type {Record<string, string>} */
  let headers =
    era === 'modern'
      ? { 'mcp-protocol-version': MODERN_REVISION, 'mcp-method': 'tools/call', 'mcp-name': 'large' }
      : {};
  let nextId = 1;

  /** @returns {Promise<number>} milliseconds from the request to the end of its answer */
  async function call() {
    const id = nextId;
    nextId += 1;
    const params = { name: 'large', arguments: {}, ...(era === 'modern' && { _meta: ENVELOPE }) };
    const begin = performance.now();
    const answer = await post(JSON.stringify({ jsonrpc: '2.0', id, method: 'tools/call', params }));
    const millis = performance.now() - begin;
    if (isChecked) check(answer, id);
    return millis;
  }

  call.open = async () => {
    if (era === 'modern' || !opens) return;
    const { session, status, body } = await post(INITIALIZE_MESSAGE);
    if (status !== 200) throw wrong(`initialize was refused with status ${status}`, body);
    headers = { 'mcp-protocol-version': LEGACY_REVISION, ...(session && { 'mcp-session-id': session }) };
    await post(INITIALIZED_MESSAGE);
  };
  call.close = () => agent.destroy();
  return call;

  /**
   * @param {string} json
   * @returns {Promise<Answer>}
   */
  function post(json) {
    return new Promise((resolve, reject) => {
      const outgoing = request({
        agent,
        port,
        host: '127.0.0.1',
        path: '/mcp',
        method: 'POST',
        signal: AbortSignal.timeout(CALL_AT_MOST_MS),
        headers: {
          'content-type': 'application/json',
          accept: 'application/json, text/event-stream',
          ...headers,
          'content-length': Buffer.byteLength(json),
        },
      });
      outgoing.on('error', reject).on('response', (response) => {
        /** @type {Buffer[]} */
        const chunks = [];
        const session = response.headers['mcp-session-id'];
        response.on('error', reject).on('data', (chunk) => chunks.push(chunk));
        response.on('end', () => {
          const body = Buffer.concat(chunks).toString('utf8');
          resolve({ status: response.statusCode ?? 0, session: session?.toString(), body });
        });
      });
      outgoing.end(json);
    });
  }
}

/**
 * @param {Answer} answer
 * @param {number} id
 */
function check({ status, body }, id) {
  const json = body.startsWith('{') ? body : (/^data: ?(\{.*)$/m.exec(body)?.[1] ?? 'null');
  const message = JSON.parse(json);
  const isRight = message?.id === id && message.result?.content?.[0]?.text?.length === LARGE_CHARACTERS;
  if (status !== 200 || !isRight) throw wrong(`a wrong answer to a large call, with status ${status}`, body);
}
