/** kill -9 of the process behind a bridge, under load: each call ends once, and the next one works. */
import { expect, it } from 'vitest';
import { until } from '../../packages/sdk/test/support/host-lifetime.js';
import { accept, call, type Era, outcome } from './near/near.js';
import { type KeptFar, keepFar, program } from './support/far.js';
import { gate } from './support/gate.js';
import { touchUntilHeard } from './support/listening.js';
import { stage, WAYS } from './support/stage.js';

const mayHaveRun = (generation: number) => ({ reason: 'CHILD_EXITED', sent: 'maybe', generation });

it.each<Era>(['legacy', 'modern'])(
  'when a %s process is killed, its calls end saying that they may have run, the next ones work, listens go on',
  async (era) => {
    const far = keepFar(era);
    const { enter } = await stage(far.host.upstream('far'));
    const clients = await Promise.all(
      Array.from({ length: 12 }, (_, at) => enter(WAYS[at % 4]!, `client ${at}`)),
    );
    const listeners = clients.slice(0, 4);
    await Promise.all(listeners.map((near) => near.listen('memo://1')));
    await touchUntilHeard(clients[4]!, listeners);
    const inFlight = clients.flatMap((near) =>
      [0, 1, 2].map((id) => call(near, id, 'hold', { text: `${near.name}, ${id}` })),
    );
    await until('all 36 run', () => far.diary.lines().length === 36);

    kill(far);
    const ended = (await Promise.all(inFlight)).map(outcome);
    expect(ended).toEqual(clients.flatMap(() => [0, 1, 2].map((id) => [id, -32603, mayHaveRun(1)])));
    const next = await Promise.all(clients.map((near) => call(near, 3, 'echo', { text: near.name })));
    expect(next.map(outcome)).toEqual(clients.map(({ name }) => [3, name]));
    await touchUntilHeard(clients[4]!, listeners);
    expect(clients.flatMap(({ strays }) => strays)).toEqual([]);
    // None was made again by itself.
    expect(far.diary.lines()).toHaveLength(36);
  },
);

it('when a legacy process is killed that has asked, the call ends once, saying that it may have run', async () => {
  const far = keepFar('legacy', { args: [program('legacy-lines.mjs')] });
  const { enter } = await stage(far.host.upstream('far'));
  for (const [at, way] of WAYS.entries()) {
    const near = await enter(way, way);
    const asked = gate();
    const answer = gate<object>();
    near.answer = () => {
      asked.open();
      return answer.promise;
    };
    const ended = call(near, 0, 'elicit', { text: `how is ${way}?` });
    await asked.promise;
    kill(far);
    await far.seen.nth('ready', at + 2);
    answer.open(accept('late'));
    expect([way, ...outcome(await ended)]).toEqual([way, 0, -32603, mayHaveRun(at + 1)]);
    expect(near.strays).toEqual([]);
  }
  const asked = far.diary.lines().filter((line) => line.startsWith('asking'));
  expect(asked).toEqual(WAYS.map((way) => `asking how is ${way}?`));
});

it('when a modern process is killed that has asked, nobody notices: the answers go to its successor', async () => {
  const far = keepFar('modern');
  const { enter } = await stage(far.host.upstream('far'));
  const clients = await Promise.all(WAYS.map((way) => enter(way, way)));
  const answer = gate<object>();
  for (const near of clients) near.answer = () => answer.promise;
  const ended = clients.map((near) => call(near, 0, 'elicit', { text: near.name }));
  await until('all are asked', () => clients.every(({ asked }) => asked.length === 1));
  kill(far);
  await far.seen.nth('ready', 2);
  answer.open(accept('in time'));
  expect((await Promise.all(ended)).map(outcome)).toEqual(WAYS.map((way) => [0, `${way}: in time`]));
  expect(clients.flatMap(({ strays }) => strays)).toEqual([]);
});

function kill({ seen }: KeptFar): void {
  process.kill(seen.all('ready').at(-1)!.pid!, 'SIGKILL');
}
