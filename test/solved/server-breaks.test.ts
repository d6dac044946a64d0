/** The server behind the gateway exits, cannot be started, or is started again. */
import { expect, it } from 'vitest';
import { commandUnit, urlUnit } from '../../packages/gateway/test/support/server-definitions.js';
import { programmed } from '../../packages/sdk/test/support/host-lifetime.js';
import { ask, initialize, legacy, modernCall, within } from '../../packages/sdk/test/support/http-server.js';
import { startHttpFar } from '../bridge-load/support/far.js';
import { eventually } from '../support/until.js';
import {
  bothEras,
  call,
  linesUnit,
  openWatched,
  pidsOf,
  programmedUnit,
  said,
  unitStatus,
} from './support/gateway.js';

it.each([
  ['is killed', 'SIGKILL', 'was ended by SIGKILL'],
  ['exits by itself', 'die', 'code 0'],
])(
  'D-1 sparfenyuk/mcp-proxy#247: when the child %s, /readyz is 503 at once, it is started again and the next call succeeds',
  async (_how, way, reason) => {
    const server = programmed();
    const gateway = await openWatched([programmedUnit('far', server)]);
    const [near] = await bothEras(gateway.url);
    const first = Number(said(await call(near, 'whoami')));
    expect((await gateway.get('/readyz')).status).toBe(200);

    if (way === 'die') void call(near, 'die', { code: 0 });
    else process.kill(first, 'SIGKILL');
    await gateway.seen.nth('exit');
    const [ready, status] = await Promise.all([gateway.get('/readyz'), gateway.get('/status')]);
    expect([ready.status, JSON.parse(ready.text)]).toEqual([503, { ready: false, waitingFor: ['far'] }]);
    expect(status.status).toBe(503);
    const told = await unitStatus(gateway, 'far');
    expect([told.state, told.reason]).toEqual(['restarting', expect.stringContaining(reason)]);

    const second = Number(said(await call(near, 'whoami')));
    expect(second).not.toBe(first);
    await eventually(async () => expect((await gateway.get('/readyz')).status).toBe(200));
    expect(pidsOf(await gateway.status(), 'far')).toEqual([second]);
    expect((await unitStatus(gateway, 'far')).processes!.processes[0]!.receipt).toMatchObject({
      pid: second,
      complete: true,
    });
  },
);

it('D-1 sparfenyuk/mcp-proxy#247: a child that nobody is using is started again, too', async () => {
  const server = programmed();
  const gateway = await openWatched([programmedUnit('far', server)]);
  await gateway.seen.nth('receipt');
  const [first] = server.starts();
  process.kill(first!, 'SIGKILL');
  await gateway.seen.nth('exit');
  expect((await gateway.get('/readyz')).status).toBe(503);
  await gateway.seen.nth('receipt', 2);
  expect((await gateway.get('/readyz')).status).toBe(200);
  expect(server.starts()).toHaveLength(2);
});

it('D-2 sparfenyuk/mcp-proxy#198: beside a bad command the good server serves, and the bad one is reported with its reason', async () => {
  const bad = commandUnit('bad', [], { command: './no-such-program' });
  const gateway = await openWatched([bad, linesUnit('good')]);
  const [alone] = await bothEras(gateway.at('/mcp/good'));
  expect(said(await call(alone, 'echo', { text: 'hi' }))).toBe('hi');
  for (const near of await bothEras(gateway.url)) {
    const { result } = await near.request('list', 'tools/list');
    expect(result.tools.map(({ name }: { name: string }) => name)).toContain('good__echo');
    expect(said(await call(near, 'good__echo', { text: near.name }))).toBe(near.name);
  }
  const { state, reason } = await unitStatus(gateway, 'bad');
  expect([state, reason]).toEqual([
    'failed',
    expect.stringContaining('command not found: ./no-such-program (ENOENT)'),
  ]);
  expect((await unitStatus(gateway, 'good')).state).toBe('ready');
  expect(JSON.parse((await gateway.get('/readyz')).text)).toEqual({ ready: false, waitingFor: ['bad'] });
  expect((await gateway.get('/status')).status).toBe(200);
  const refused = await ask(gateway.at('/mcp/bad'), modernCall(1, 'echo'));
  expect(refused.json.error).toMatchObject({ code: -32603, data: { reason: 'CANNOT_START', sent: 'no' } });
});

it('D-3 sparfenyuk/mcp-proxy#75: a remote server that is started again in the middle of a session answers the next call', async () => {
  const far = await startHttpFar('legacy');
  const gateway = await openWatched([urlUnit('far', far.url)]);
  const clients = await bothEras(gateway.url);
  for (const near of clients) expect(said(await call(near, 'echo', { text: 'before' }))).toBe('before');
  await far.kill();
  const away = await Promise.all(clients.map((near) => call(near, 'echo', { text: 'away' })));
  for (const { error } of away) {
    expect(error).toMatchObject({ code: -32603, data: { reason: 'ADDRESS_UNAVAILABLE', sent: 'no' } });
  }
  await startHttpFar('legacy', undefined, far);
  for (const near of clients) expect(said(await call(near, 'echo', { text: 'after' }))).toBe('after');
});

it('D-3 sparfenyuk/mcp-proxy#75: a child that is restarted in the middle of a session answers the next call', async () => {
  const server = programmed();
  const gateway = await openWatched([programmedUnit('far', server)]);
  const clients = await bothEras(gateway.url);
  const before = await Promise.all(clients.map(async (near) => said(await call(near, 'whoami'))));
  await gateway.gateway.unit('far').restart();
  const after = await Promise.all(clients.map(async (near) => said(await call(near, 'whoami'))));
  expect(after).toEqual([after[0], after[0]]);
  expect(after[0]).not.toBe(before[0]);
});

// A shell is there within milliseconds, so all of the time is ours.
const dying = (script: string) => commandUnit('far', ['-c', script], { command: 'sh', start: 'lazy' });

it.each([
  ['before it reads a word', 'echo "fatal: missing API key" >&2; exit 1'],
  ['on the first word', 'read line; echo "fatal: missing API key" >&2; exit 1'],
])(
  'D-7 supercorp-ai/supergateway#139: a child that crashes %s is an error within 1 s, with the end of its stderr',
  async (_when, script) => {
    for (const request of [legacy(initialize(1)), modernCall(1, 'echo', { text: 'hi' })]) {
      const gateway = await openWatched([dying(script)]);
      const began = performance.now();
      const { json } = await ask(gateway.url, request);
      expect(performance.now() - began).toBeLessThan(1000);
      expect(json).toMatchObject({
        id: 1,
        error: {
          code: -32603,
          message: expect.stringContaining('fatal: missing API key'),
          data: { reason: 'CHILD_EXITED', stderrTail: 'fatal: missing API key' },
        },
      });
      // Over the network nobody is shown stderr (S11); the operator is, at the control socket.
      expect((await gateway.gateway.status()).servers['far']!.reason).toContain('fatal: missing API key');
    }
  },
);

it('D-7 supercorp-ai/supergateway#139: nobody waits for the next attempt of a child that never came up', async () => {
  const far = commandUnit('far', ['-c', 'echo "fatal: missing API key" >&2; exit 1'], {
    command: 'sh',
    restart: { firstDelayMs: 60_000, jitter: 0 },
  });
  const gateway = await openWatched([far]);
  await gateway.seen.nth('restart');
  for (const request of [legacy(initialize(1)), modernCall(1, 'echo', { text: 'hi' })]) {
    const { json } = await within(20_000, 'the error', ask(gateway.url, request));
    expect(json.error).toMatchObject({
      code: -32603,
      message: expect.stringContaining('fatal: missing API key'),
    });
  }
});

it('D-15 PrefectHQ/fastmcp#1908: the call during which the backend dies fails typed and is not repeated; the second always succeeds', async () => {
  const server = programmed();
  const gateway = await openWatched([programmedUnit('far', server)]);
  for (const [at, near] of (await bothEras(gateway.url)).entries()) {
    const token = `${near.name}'s`;
    const { error } = await call(near, 'die', { token });
    expect(error).toMatchObject({ code: -32603, data: { reason: 'CHILD_EXITED', sent: 'maybe' } });
    expect(said(await call(near, 'note', { token: `after ${at}` }))).toBe(`noted after ${at}`);
  }
  expect(server.ran()).toEqual(["legacy's", 'after 0', "modern's", 'after 1']);
});

it('D-15 PrefectHQ/fastmcp#1908: after a crash between two calls the first one succeeds', async () => {
  const server = programmed();
  const gateway = await openWatched([programmedUnit('far', server)]);
  for (const [at, near] of (await bothEras(gateway.url)).entries()) {
    const pid = Number(said(await call(near, 'whoami')));
    process.kill(pid, 'SIGKILL');
    await gateway.seen.nth('exit', at + 1);
    expect(said(await call(near, 'echo', { text: 'here' }))).toBe('here');
  }
});
