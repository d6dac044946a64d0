/** A measured client in a process of its own (`clients/driver.js`), and the orders it takes, one at a time. */

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { startNode } from '../lib/child.js';
import { BENCHMARKS, ROOT } from '../lib/subjects.js';

/** @typedef {ReturnType<typeof startClient>} ClientProcess */

/** No order takes longer than this; a client that hangs is a failure, not a hanging benchmark. */
const PATIENCE_MS = 30_000;

/**
 * Every failure carries what it last said.
 * @param {string} program its file in `clients/`
 * @param {string} [needs] what must have been built
 */
export function startClient(program, needs) {
  const child = startNode([join(BENCHMARKS, 'clients', program)], ROOT);
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const ended = child.exited.then((how) => ({ error: `the client ${how}` }));
  const answer = async () => {
    const next = lines.next().then(({ value, done }) => (done ? ended : JSON.parse(value)));
    const message = await within(PATIENCE_MS, Promise.race([next, ended]));
    if (message.error === undefined) return message;
    const missing = needs !== undefined && !existsSync(needs) ? '; run `npm run build` first' : '';
    const said = child.stderrTail();
    throw new Error(`${message.error}${missing}${said && `; last stderr:\n${said.replace(/^/gm, '    ')}`}`);
  };
  return {
    ready: answer,
    order(/** @type {object} */ order) {
      child.stdin.write(`${JSON.stringify(order)}\n`);
      return answer();
    },
    close: child.close,
  };
}

/**
 * @template T
 * @param {number} ms
 * @param {Promise<T>} work
 * @returns {Promise<T | { error: string }>}
 */
async function within(ms, work) {
  /** @type {NodeJS.Timeout | undefined} */
  let timer;
  const limit = new Promise((/** @type {(late: { error: string }) => void} */ resolve) => {
    timer = setTimeout(() => resolve({ error: `no answer within ${ms} ms` }), ms);
  });
  return Promise.race([work, limit]).finally(() => clearTimeout(timer));
}
