/** Whoever is somebody shares neither a process nor a session of the far side with anybody else. */

import type { HttpRequestFacts } from '@isthmus/sdk/http';
import { http } from '@isthmus/sdk/http';
import { expect, it } from 'vitest';
import {
  ask,
  initialize,
  legacy,
  modern,
  modernCall,
  openSession,
} from '../../packages/sdk/test/support/http-server.js';
import { call, type Era, type Near, outcome } from './near/near.js';
import { keepFar, program, startHttpFar } from './support/far.js';
import { type Stage, type StageOptions, stage } from './support/stage.js';

const as = (principal: string) => ({ headers: { authorization: principal } });
const authenticated: StageOptions = {
  http: { authenticate: (request: HttpRequestFacts) => request.header('authorization') },
};
const lines = { args: [program('legacy-lines.mjs')] };

/** Two modern and two legacy clients for each of them. */
async function enterAs(principals: readonly string[], { enter }: Stage): Promise<Near[][]> {
  return Promise.all(
    principals.map((principal) =>
      Promise.all(
        (['modern', 'legacy', 'modern', 'legacy'] as const).map((era: Era) =>
          enter(`${era} HTTP`, `${principal}, ${era}`, as(principal)),
        ),
      ),
    ),
  );
}

/** What each of them is told, without repetitions. */
async function told(groups: readonly (readonly Near[])[], tool: string): Promise<string[][]> {
  const answers = await Promise.all(
    groups.map((clients) => Promise.all(clients.map((near) => call(near, 1, tool)))),
  );
  return answers.map((group) => [...new Set(group.map(({ result }) => String(result.content[0].text)))]);
}

it('each principal has a process of its own, the same for all of its clients; nobody in particular has another', async () => {
  const { host } = keepFar('legacy', { ...lines, processes: 'per-principal' });
  const on = await stage(host.upstream('far'), authenticated);
  const nobody = await Promise.all(
    (['modern', 'legacy'] as const).map((era) => on.enter(`${era} socket`, era)),
  );
  const clients = [nobody, ...(await enterAs(['alice', 'bob', '["alice"'], on))];
  const pids = await told(clients, 'pid');
  expect(pids.map((each) => each.length)).toEqual([1, 1, 1, 1]);
  expect(new Set(pids.flat()).size).toBe(4);
});

it('a principal without a name is not taken for nobody', async () => {
  const { host } = keepFar('legacy', { ...lines, processes: 'per-principal' });
  const { enter, url } = await stage(host.upstream('far'), authenticated);
  const nobody = await enter('modern socket', 'nobody');
  const [[ofNobody]] = (await told([[nobody]], 'pid')) as [[string]];
  const unnamed = await ask(url, modernCall(0, 'pid', {}, as('')));
  // Either is right: it is not let in, or it has a process of its own.
  if (unnamed.status !== 401) expect(unnamed.json.result.content[0].text).not.toBe(ofNobody);
});

it('no principal is served in an HTTP session of another', async () => {
  const far = await startHttpFar('legacy');
  const clients = await enterAs(['alice', 'bob'], await stage(http(far.url), authenticated));
  const [ofAlice, ofBob] = await told(clients, 'session');
  // One for both of the modern clients, and one for each legacy one.
  expect([ofAlice!.length, ofBob!.length]).toEqual([3, 3]);
  expect(ofAlice!.filter((id) => ofBob!.includes(id))).toEqual([]);
});

it('questions of one process per principal reach the client that called', async () => {
  const { host } = keepFar('legacy', { ...lines, processes: 'per-principal' });
  const { enter } = await stage(host.upstream('far'), authenticated);
  const clients = await Promise.all(
    ['alice', 'bob', 'carol'].map((name) => enter('modern HTTP', name, as(name))),
  );
  const answers = await Promise.all(clients.map((near) => call(near, 0, 'elicit', { text: near.name })));
  expect(answers.map(outcome)).toEqual([
    [0, 'alice: alice'],
    [0, 'bob: bob'],
    [0, 'carol: carol'],
  ]);
  expect(clients.map(({ asked }) => asked)).toEqual([['alice'], ['bob'], ['carol']]);
});

const refusal = {
  code: -32603,
  message:
    'far has one process for all clients, and it serves another principal: ' +
    'give each principal its own process, or declare the server stateless',
  data: { reason: 'INVALID_OPTION', sent: 'no' },
};

it.each<Era>(['modern', 'legacy'])(
  'a process for everybody that serves a %s client of one principal refuses all of another',
  async (era) => {
    const { host } = keepFar('legacy', lines);
    const { enter, url, bridge } = await stage(host.upstream('far'), authenticated);
    const alice = await enter(`${era} HTTP`, 'alice', as('alice'));
    expect(outcome(await call(alice, 0, 'echo', { text: 'hello' }))).toEqual([0, 'hello']);

    const bob = await enter('modern HTTP', 'bob', as('bob'));
    expect((await call(bob, 7, 'echo', { text: 'hello' })).error).toEqual(refusal);
    const listen = modern(
      'l',
      'subscriptions/listen',
      { notifications: { toolsListChanged: true } },
      as('bob'),
    );
    expect((await ask(url, listen)).messages).toEqual([{ jsonrpc: '2.0', id: 'l', error: refusal }]);
    const session = await ask(url, legacy(initialize('init'), as('bob').headers));
    expect(session.json).toEqual({ jsonrpc: '2.0', id: 'init', error: refusal });
    expect(session.headers['mcp-session-id']).toBeUndefined();
    expect(bridge.upstreamSessions).toBe(1);
    expect(outcome(await call(alice, 1, 'echo', { text: 'still here' }))).toEqual([1, 'still here']);
  },
);

it('a server that is declared to keep nothing serves them all in one process', async () => {
  const { host } = keepFar('legacy', lines);
  const on = await stage(host.upstream('far'), { ...authenticated, bridge: { stateless: true } });
  const pids = await told(await enterAs(['alice', 'bob'], on), 'pid');
  expect(pids[0]).toEqual(pids[1]);
  expect(pids[0]).toHaveLength(1);
});

it('a session of one principal does not exist for another', async () => {
  const { host } = keepFar('legacy', { ...lines, processes: 'per-principal' });
  const { url } = await stage(host.upstream('far'), authenticated);
  const session = await openSession(url, as('alice'));
  const echo = {
    jsonrpc: '2.0',
    id: 1,
    method: 'tools/call',
    params: { name: 'echo', arguments: { text: 'a' } },
  };
  expect((await session.post(echo, { authorization: 'bob' })).status).toBe(404);
  expect((await session.post(echo)).status).toBe(200);
});
