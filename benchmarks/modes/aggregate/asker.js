/** Asks a gateway for the list of all its tools, and calls one of them, on one connection of the modern era. */

import { wrong } from '../../lib/echo.js';
import { createAgent, messageIn, modernRequest, post } from '../../lib/http-post.js';
import { guarded } from '../../lib/measure.js';

/**
 * @param {import('../../lib/child.js').Child} child
 * @param {number} port
 * @param {number} tools how many there must be at least
 */
export function createAsker(child, port, tools) {
  const agent = createAgent();
  let nextId = 1;
  const ask = async (/** @type {string} */ method, /** @type {Record<string, any>} */ params) => {
    const { headers, json } = modernRequest(nextId++, method, params);
    const { status, body } = await post({ port, agent, headers }, json);
    const { result } = messageIn(body) ?? {};
    if (status !== 200 || result === undefined)
      throw wrong(`a wrong answer to ${method}, status ${status}`, body);
    return result;
  };
  const timed = async (/** @type {() => Promise<void>} */ work) => {
    const begin = performance.now();
    await guarded(/** @type {any} */ ({ child }), work);
    return performance.now() - begin;
  };
  return {
    /** All pages of the list, in milliseconds. */
    list: () =>
      timed(async () => {
        let count = 0;
        /** @type {string | undefined} */
        let cursor;
        do {
          const result = await ask('tools/list', cursor === undefined ? {} : { cursor });
          count += result.tools.length;
          cursor = result.nextCursor;
        } while (cursor !== undefined);
        if (count < tools) throw new Error(`the list has ${count} tools instead of ${tools}`);
      }),
    /** One call of a tool of the first server, in milliseconds. */
    call: () =>
      timed(async () => {
        const params = { name: 'server0__echo', arguments: { text: 'hello' } };
        const { content } = await ask('tools/call', params);
        if (content?.[0]?.text !== 'hello') throw new Error(`a wrong answer: ${JSON.stringify(content)}`);
      }),
    close: async () => {
      agent.destroy();
      await child.close();
    },
  };
}
