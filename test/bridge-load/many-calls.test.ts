/** 20 clients of both eras, on HTTP and on a Unix socket, in front of one process. */
import { expect, it } from 'vitest';
import { call, type Era, outcome } from './near/near.js';
import { keepFar } from './support/far.js';
import { stage, WAYS } from './support/stage.js';

it.each<Era>(['legacy', 'modern'])(
  '200 calls that run at the same time in one %s process each get their own answer, once',
  async (era) => {
    const { host, seen } = keepFar(era);
    const { enter } = await stage(host.upstream('far'));
    const clients = await Promise.all(
      Array.from({ length: 20 }, (_, at) => enter(WAYS[at % 4]!, `client ${at}`)),
    );
    // The server answers none of them before it has all 200.
    const answers = await Promise.all(
      clients.flatMap((near) =>
        Array.from({ length: 10 }, async (_, id) => ({
          expected: [id, `${near.name}, call ${id}`],
          got: outcome(await call(near, id, 'echo', { text: `${near.name}, call ${id}`, of: 200 })),
        })),
      ),
    );
    expect(answers.map(({ got }) => got)).toEqual(answers.map(({ expected }) => expected));
    expect(clients.flatMap(({ strays }) => strays)).toEqual([]);
    expect(seen.all('start')).toHaveLength(1);
  },
);
