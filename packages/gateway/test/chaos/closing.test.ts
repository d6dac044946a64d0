/** A gateway that is to end ends, whoever waits for whatever. */
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { startChild } from '../../../../test/support/child.js';
import { freshFolder } from '../support/open-gateway.js';

const PROGRAM = fileURLToPath(new URL('./programs/closes-while-clients-wait.mjs', import.meta.url));

it.each(['unix', 'http'])('is closed while clients wait for servers that never come (%s)', async (way) => {
  const child = startChild(PROGRAM, { args: [way, join(freshFolder(), 's')] });
  expect(await child.exit(15_000)).toEqual({ code: 0, signal: null });
  const { ms } = child.messages[0] as unknown as { ms: number };
  // Within the grace, and what the processes take to end.
  expect(ms).toBeLessThan(5000);
});
