/** What a bridge does not do. */

import { http } from '@isthmus/sdk/http';
import { expect, it } from 'vitest';
import { call, outcome } from './near/near.js';
import { keepFar, program, startHttpFar } from './support/far.js';
import { stage } from './support/stage.js';

it('a bridge that is closed opens nothing any more', async () => {
  const args = [program('legacy-lines.mjs')];
  const { host, seen } = keepFar('legacy', { args, processes: 'per-conversation' });
  const { bridge, enter } = await stage(host.upstream('far'));
  const near = await enter('modern HTTP', 'near');
  expect(outcome(await call(near, 0, 'echo', { text: 'a' }))).toEqual([0, 'a']);
  await bridge.close();
  const closed = expect.objectContaining({ reason: 'CONNECTION_CLOSED', sent: 'no' });
  expect(outcome(await call(near, 1, 'echo', { text: 'a' }))).toEqual([1, -32603, closed]);
  await expect(enter('legacy HTTP', 'late')).rejects.toThrow();
  expect([bridge.upstreamSessions, seen.all('start').length]).toEqual([0, 1]);
});

it('clients are not told what the server wrote to stderr', async () => {
  const last = 'process.stderr.write("the password is hunter2\\n", () => process.exit(3))';
  const { host } = keepFar('legacy', { args: ['-e', last], restart: false });
  const { enter } = await stage(host.upstream('far'));
  const { error } = await call(await enter('modern HTTP', 'near'), 0, 'echo', { text: 'a' });
  expect(error).toMatchObject({ code: -32603, data: { reason: 'CHILD_EXITED', sent: 'no' } });
  expect(error!.message).toMatch(/^far stopped with code 3/);
  expect(JSON.stringify(error)).not.toContain('hunter2');
});

it('clients are not told the keys that are in the address of the server', async () => {
  const far = await startHttpFar('modern');
  const { enter } = await stage(http(`${far.url}?key=hunter2`, { headers: { 'x-key': 'hunter2' } }));
  const near = await enter('modern HTTP', 'near');
  expect(outcome(await call(near, 0, 'echo', { text: 'a' }))).toEqual([0, 'a']);
  await far.kill();
  const { error } = await call(near, 1, 'echo', { text: 'a' });
  expect(error).toMatchObject({ code: -32603, data: { reason: 'ADDRESS_UNAVAILABLE', sent: 'no' } });
  expect(JSON.stringify(error)).not.toContain('hunter2');
});
