/** Calls the tool `large` over HTTP, one call at a time on one connection, and checks what comes back. */

import { wrong } from '../../lib/echo.js';
import { createAgent, messageIn, modernRequest, openSession, post } from '../../lib/http-post.js';

/** @typedef {import('../../lib/subjects.js').Era} Era */

const LARGE_CHARACTERS = 5_000_000;

/**
 * @param {number} port
 * @param {Era} era
 * @param {{ opens: boolean, isChecked: boolean }} options whether it knows sessions; whether its answers have a body
 */
export function createLargeCaller(port, era, { opens, isChecked }) {
  const agent = createAgent();
  /** @type {Record<string, string>} */
  let headers = {};
  let nextId = 1;

  /** @returns {Promise<number>} milliseconds from the request to the end of its answer */
  async function call() {
    const id = nextId;
    nextId += 1;
    const params = { name: 'large', arguments: {} };
    const request =
      era === 'modern'
        ? modernRequest(id, 'tools/call', params)
        : { headers, json: JSON.stringify({ jsonrpc: '2.0', id, method: 'tools/call', params }) };
    const begin = performance.now();
    const answer = await post({ port, agent, headers: request.headers }, request.json);
    const millis = performance.now() - begin;
    if (isChecked) check(answer, id);
    return millis;
  }

  call.open = async () => {
    if (era === 'legacy' && opens) headers = await openSession({ port, agent });
  };
  call.close = () => agent.destroy();
  return call;
}

/**
 * @param {import('../../lib/http-post.js').Answer} answer
 * @param {number} id
 */
function check({ status, body }, id) {
  const message = messageIn(body);
  const isRight = message?.id === id && message.result?.content?.[0]?.text?.length === LARGE_CHARACTERS;
  if (status !== 200 || !isRight) throw wrong(`a wrong answer to a large call, with status ${status}`, body);
}
