/** Many clients at once, on one child, on a pool, and with a child each. */

import type { HostEvent } from '@isthmus/sdk/internal/host/host-event.js';
import { readStat } from '@isthmus/sdk/internal/process/proc-stat.js';
import { expect, it } from 'vitest';
import { openGateway } from '../../packages/gateway/test/support/open-gateway.js';
import { commandUnit } from '../../packages/gateway/test/support/server-definitions.js';
import { childrenOf, until, zombiesOf } from '../../packages/sdk/test/support/host-lifetime.js';
import { legacyHttp, modernHttp } from '../bridge-load/near/http.js';
import { call as callAs, type Near, outcome } from '../bridge-load/near/near.js';
import { diary, program } from '../bridge-load/support/far.js';
import { linesUnit, openWatched, pidsOf } from './support/gateway.js';

/** Clients of both eras in turn. */
function enter(url: string, count: number) {
  return Promise.all(
    Array.from({ length: count }, (_, at) =>
      at % 2 === 0 ? legacyHttp(url, `client ${at}`) : modernHttp(url, `client ${at}`),
    ),
  );
}

it.each([
  ['one child', 'shared', 1],
  ['a pool', { pool: 3 }, 3],
] as const)(
  'D-10 supercorp-ai/supergateway#138, #105: 50 clients of both eras at once on %s each get their own answers',
  async (_on, processes, count) => {
    const gateway = await openWatched([linesUnit('far', { processes })]);
    const clients = await enter(gateway.url, 50);
    const answers = await Promise.all(
      clients.flatMap((near) =>
        [0, 1, 2].map((id) => callAs(near, id, 'echo', { text: `${near.name}, ${id}` })),
      ),
    );
    expect(answers.map(outcome)).toEqual(
      clients.flatMap(({ name }) => [0, 1, 2].map((id) => [id, `${name}, ${id}`])),
    );
    expect(clients.flatMap(({ strays }) => strays)).toEqual([]);
    expect(pidsOf(await gateway.status(), 'far')).toHaveLength(count);
    expect(gateway.seen.all('exit')).toEqual([]);
  },
);

it('D-19 docker/mcp-gateway#483, #318: a burst of 200 calls has no more children than it may, and no zombies', async () => {
  const capped = { processes: 'per-conversation', maxProcesses: 4 } as const;
  // Whenever there is one more of them, all that this process has are counted.
  const counts: number[] = [];
  const onHostEvent = ({ kind }: HostEvent) => {
    if (kind === 'start') counts.push(livingChildren());
  };
  const gateway = await openGateway(
    [linesUnit('pool', { processes: { pool: 4 } }), linesUnit('each', capped)],
    { onHostEvent },
  );
  const pool = modernHttp(gateway.at('/mcp/pool'), 'pool');
  const burst = Array.from({ length: 170 }, (_, id) => callAs(pool, id, 'echo', { text: `${id}` }));
  // Each of these has a session, a child if there is a place for one, and goes away.
  const visits = Array.from({ length: 30 }, async (_, id) => {
    const near = await legacyHttp(gateway.at('/mcp/each'), `client ${id}`);
    const answer = await callAs(near, id, 'echo', { text: `${id}` });
    await near.leave();
    return answer;
  });
  const answers = await Promise.all([...burst, ...visits]);
  expect(answers.map(outcome)).toEqual([...range(170), ...range(30)].map((id) => [id, `${id}`]));
  // Four each, and the watch that ends them should this process be killed.
  expect(counts.length).toBeGreaterThanOrEqual(8);
  expect(Math.max(...counts)).toBeLessThanOrEqual(9);
  await until('every child of a client has ended', () => livingChildren() === 5);
  expect(pidsOf(await gateway.status(), 'pool')).toHaveLength(4);
  await until('no zombies', () => zombiesOf(process.pid).length === 0, 2000);
});

it('D-24 modelcontextprotocol/python-sdk#3060: callers of one child who use the same id never get the answers of each other', async () => {
  const written = diary();
  const gateway = await openWatched([
    commandUnit('far', [program('legacy-stdio.mjs')], { env: { DIARY: written.path } }),
  ]);
  const clients = await enter(gateway.url, 10);
  for (const id of [1, 'a']) {
    // They wait for each other, and the last is answered first.
    const answers = await Promise.all(
      clients.map((near) => callAs(near, id, 'echo', { text: `${near.name}'s`, of: clients.length })),
    );
    expect(answers.map(outcome)).toEqual(clients.map(({ name }) => [id, `${name}'s`]));
  }
  // A tool that is known to ask runs for one caller at a time until it has asked.
  const [first, ...others] = clients;
  const ask = (near: Near) => callAs(near, 7, 'elicit', { text: `${near.name}?` });
  const asked = [await ask(first!), ...(await Promise.all(others.map(ask)))];
  expect(asked.map(outcome)).toEqual(clients.map(({ name }) => [7, `${name}?: ${name}`]));
  expect(clients.map((near) => near.asked)).toEqual(clients.map(({ name }) => [`${name}?`]));
  expect(clients.flatMap(({ strays }) => strays)).toEqual([]);
  expect(pidsOf(await gateway.status(), 'far')).toHaveLength(1);
});

function range(count: number): number[] {
  return Array.from({ length: count }, (_, at) => at);
}

function livingChildren(): number {
  return childrenOf(process.pid).filter((pid) => (readStat(pid)?.state ?? 'Z') !== 'Z').length;
}
