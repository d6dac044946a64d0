/** Ids belong to their client: two clients that use the same ones at the same time do not notice each other. */
import { expect, it } from 'vitest';
import { call, type Era, outcome } from './near/near.js';
import { keepFar } from './support/far.js';
import { stage, type Way } from './support/stage.js';

const IDS = [0, '', '0', 1, -1, 'a'.repeat(65_536)];

const PAIRS: readonly (readonly [Way, Way])[] = [
  ['legacy HTTP', 'legacy HTTP'],
  ['modern HTTP', 'modern HTTP'],
  ['legacy socket', 'legacy socket'],
  ['modern socket', 'modern socket'],
  ['legacy HTTP', 'modern HTTP'],
  ['legacy socket', 'modern socket'],
  ['legacy HTTP', 'modern socket'],
];

it.each<Era>(['legacy', 'modern'])(
  'in front of a %s process, two clients with the same ids in flight together get their own answers',
  async (era) => {
    const { host } = keepFar(era);
    const { enter } = await stage(host.upstream('far'));
    for (const ways of PAIRS) {
      const clients = await Promise.all(ways.map((way, at) => enter(way, `${way} ${at}`)));
      const of = 2 * IDS.length;
      const answers = await Promise.all(
        clients.map((near) =>
          Promise.all(IDS.map((id, at) => call(near, id, 'echo', { text: `${near.name}, ${at}`, of }))),
        ),
      );
      expect(answers.map((each) => each.map(outcome))).toEqual(
        clients.map(({ name }) => IDS.map((id, at) => [id, `${name}, ${at}`])),
      );
      expect(clients.map(({ strays }) => strays)).toEqual([[], []]);
    }
  },
);
