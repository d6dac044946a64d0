/** A server over HTTP behind a bridge: it is killed, forgets its sessions, or is not there yet. */

import { http } from '@isthmus/sdk/http';
import { describe, expect, it } from 'vitest';
import { until } from '../../packages/sdk/test/support/host-lifetime.js';
import { ask, initialize, legacy } from '../../packages/sdk/test/support/http-server.js';
import { call, type Era, outcome } from './near/near.js';
import { diary, startHttpFar } from './support/far.js';
import { touchUntilHeard } from './support/listening.js';
import { stage, WAYS } from './support/stage.js';

const notSent = expect.objectContaining({ sent: 'no' });

describe.each<Era>(['legacy', 'modern'])('a %s HTTP server', (era) => {
  it('that is killed ends its calls once; started again on its port, it is called and heard again', async () => {
    const written = diary();
    const far = await startHttpFar(era, written);
    const { enter } = await stage(http(far.url));
    const clients = await Promise.all(
      Array.from({ length: 12 }, (_, at) => enter(WAYS[at % 4]!, `client ${at}`)),
    );
    const listeners = clients.slice(0, 4);
    await Promise.all(listeners.map((near) => near.listen('memo://1')));
    await touchUntilHeard(clients[4]!, listeners);
    const inFlight = clients.flatMap((near) =>
      [0, 1, 2].map((id) => call(near, id, 'hold', { text: `${near.name}, ${id}` })),
    );
    await until('all 36 run', () => written.lines().length === 36);

    await far.kill();
    const ended = (await Promise.all(inFlight)).map(outcome);
    const mayHaveRun = { reason: 'CONNECTION_CLOSED', sent: 'maybe' };
    expect(ended).toEqual(clients.flatMap(() => [0, 1, 2].map((id) => [id, -32603, mayHaveRun])));
    const down = await Promise.all(clients.map((near) => call(near, 3, 'echo', { text: near.name })));
    expect(down.map(outcome)).toEqual(clients.map(() => [3, -32603, notSent]));

    await startHttpFar(era, written, far);
    const up = await Promise.all(clients.map((near) => call(near, 4, 'echo', { text: near.name })));
    expect(up.map(outcome)).toEqual(clients.map(({ name }) => [4, name]));
    await touchUntilHeard(clients[4]!, listeners);
    expect(clients.flatMap(({ strays }) => strays)).toEqual([]);
    expect(written.lines()).toHaveLength(36);
  });

  it('that is not there yet refuses calls and handshakes, and serves the same clients later', async () => {
    const early = await startHttpFar(era);
    await early.kill();
    const { enter, url, bridge } = await stage(http(early.url));
    await expect(bridge.start()).rejects.toMatchObject({ code: 'ADDRESS_UNAVAILABLE' });
    const near = await enter('modern HTTP', 'client');
    expect(outcome(await call(near, 0, 'echo', { text: 'early' }))).toEqual([0, -32603, notSent]);
    const refused = await ask(url, legacy(initialize(0)));
    expect(refused.json.error).toMatchObject({ code: -32603, data: notSent });
    expect(refused.headers['mcp-session-id']).toBeUndefined();
    await expect(enter('legacy socket', 'too early')).rejects.toThrow();

    await startHttpFar(era, undefined, early);
    expect(outcome(await call(near, 1, 'echo', { text: 'late' }))).toEqual([1, 'late']);
    const session = await enter('legacy HTTP', 'session');
    expect(outcome(await call(session, 0, 'echo', { text: 'late' }))).toEqual([0, 'late']);
  });
});

it('a legacy HTTP server that forgets its sessions is told again who calls, and no client notices', async () => {
  const far = await startHttpFar('legacy');
  const { enter } = await stage(http(far.url));
  const clients = await Promise.all(WAYS.map((way) => enter(way, way)));
  await Promise.all(clients.map((near) => near.listen('memo://1')));
  await touchUntilHeard(clients[0]!, clients);
  const sessions = await Promise.all(clients.map((near) => call(near, 0, 'session')));

  // Three of their own and one for the two that are modern, and nobody in particular.
  expect((await ask(new URL('/forget', far.url).href)).text).toBe('3');
  const answers = await Promise.all(
    clients.flatMap((near) => [1, 2, 3].map((id) => call(near, id, 'echo', { text: `${near.name} ${id}` }))),
  );
  expect(answers.map(outcome)).toEqual(WAYS.flatMap((way) => [1, 2, 3].map((id) => [id, `${way} ${id}`])));
  await touchUntilHeard(clients[0]!, clients);
  expect(clients.flatMap(({ strays }) => strays)).toEqual([]);
  const later = await Promise.all(clients.map((near) => call(near, 4, 'session')));
  const known = new Set(sessions.map(({ result }) => result.content[0].text));
  expect(later.filter(({ result }) => known.has(result.content[0].text))).toEqual([]);
});
