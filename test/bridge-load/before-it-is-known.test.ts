/** Requests that come while the server behind the bridge has not said what it is. */
import { once } from 'node:events';
import { expect, it } from 'vitest';
import { until } from '../../packages/sdk/test/support/host-lifetime.js';
import { LineSocket } from '../support/line-socket.js';
import { call, line } from '../support/messages.js';
import { outcome } from './near/near.js';
import { deaf } from './support/deaf-client.js';
import { keepFar, program } from './support/far.js';
import { stage } from './support/stage.js';

const CALLS = 2000;
const text = 'x'.repeat(10_000);

it('a flood of requests for a server that is not awake is not taken in, and is answered when it wakes', async () => {
  const { host, diary } = keepFar('legacy', { args: [program('legacy-lines.mjs')] }, { SLEEPY: '1' });
  const { socket } = await stage(host.upstream('far'));
  const client = new LineSocket(await deaf(socket));
  const requests = Array.from({ length: CALLS }, (_, id) =>
    line(call(id, 'echo', { text: `${id} ${text}` })),
  );
  const pouring = pour(client, requests);
  await until('it is started', () => diary.lines().length === 1);
  // Of 20 MB.
  expect(await pouring.rests).toBeLessThan(10_000_000);

  process.kill(Number(diary.lines()[0]!.split(' ')[1]), 'SIGUSR2');
  client.read();
  await client.until('all answers', () => client.messages.length === CALLS);
  await pouring.done;
  const answers = client.messages.map(outcome) as [number, string][];
  expect(answers.filter(([id, said]) => said !== `${id} ${text}`)).toEqual([]);
  expect(new Set(answers.map(([id]) => id)).size).toBe(CALLS);
});

/** Writes all of it as fast as it is taken. `rests`: how much was when nothing had been taken for a second. */
function pour(
  { socket }: LineSocket,
  parts: readonly string[],
): { rests: Promise<number>; done: Promise<void> } {
  let taken = 0;
  let movedAt = Date.now();
  let isDone = false;
  const write = async () => {
    for (const part of parts) {
      if (!socket.write(part)) await once(socket, 'drain');
      taken += part.length;
      movedAt = Date.now();
    }
    isDone = true;
  };
  const rest = async () => {
    await until('a rest', () => isDone || Date.now() - movedAt > 1000);
    return taken;
  };
  return { rests: rest(), done: write() };
}
