import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { Pool } from 'undici';
import { onTestFinished } from 'vitest';
import type { Ask } from '../../../packages/sdk/test/support/http-server.js';

setFlagsFromString('--expose-gc');
const gc = runInNewContext('gc') as () => void;

/** A client that costs little, so that it is the gateway that is measured. */
export function lean(url: string): (request: Ask) => Promise<string> {
  const { origin, pathname } = new URL(url);
  const pool = new Pool(origin, { connections: 16 });
  onTestFinished(() => pool.destroy());
  return async ({ headers, body }) => {
    const answer = await pool.request({
      path: pathname,
      method: 'POST',
      headers: headers as Record<string, string>,
      body: body!,
    });
    const text = await answer.body.text();
    if (answer.statusCode !== 200) throw new Error(`${answer.statusCode}: ${text}`);
    return text;
  };
}

/** The same thing many times, 16 at once. */
export async function often(times: number, once: (at: number) => Promise<void>): Promise<void> {
  let next = 0;
  const work = async () => {
    while (next < times) {
      next += 1;
      await once(next);
    }
  };
  await Promise.all(Array.from({ length: 16 }, work));
}

/** What is really in use, in bytes: after everything that is over has been let go. */
export async function heapInUse(): Promise<number> {
  for (let round = 0; round < 4; round += 1) {
    await new Promise((resolve) => setTimeout(resolve, 20));
    gc();
  }
  return process.memoryUsage().heapUsed;
}
