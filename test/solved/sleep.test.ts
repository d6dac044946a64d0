/** A laptop that sleeps: everything stands still for a while, and what is remote may be gone when it wakes up. */
import { expect, it, onTestFinished } from 'vitest';
import { urlUnit } from '../../packages/gateway/test/support/server-definitions.js';
import { faultServer } from '../../packages/sdk/test/support/fault-server.js';
import { childrenOf } from '../../packages/sdk/test/support/host-lifetime.js';
import { legacyHttp, modernHttp } from '../bridge-load/near/http.js';
import { program, startHttpFar } from '../bridge-load/support/far.js';
import { until } from '../support/until.js';
import { bothEras, call, linesUnit, openWatched, said } from './support/gateway.js';
import { openLegacyHttp } from './support/legacy-http.js';
import { serveFile } from './support/serve-file.js';

const LIMIT_MS = 4000;

/** Nobody waits for it any longer than that. */
const patient = { timeoutMs: LIMIT_MS };

function suspend(pid: number): () => void {
  process.kill(pid, 'SIGSTOP');
  const wake = () => process.kill(pid, 'SIGCONT');
  onTestFinished(() => {
    try {
      wake();
    } catch {
      // It has ended.
    }
  });
  return wake;
}

it('D-14 vishalsachdev/canvas-mcp#159: calls to a server that stands still fail within their time, and it answers again when it wakes up', async () => {
  const far = await startHttpFar('legacy');
  const gateway = await openWatched([urlUnit('remote', far.url, patient), linesUnit('child', patient)]);
  const remote = await bothEras(gateway.at('/mcp/remote'));
  const child = await bothEras(gateway.at('/mcp/child'));
  for (const near of remote) expect(said(await call(near, 'echo', { text: 'a' }))).toBe('a');
  const pid = Number(said(await call(child[0], 'pid')));
  const children = childrenOf(process.pid);

  const wake = [suspend(far.pid), suspend(pid)];
  const began = performance.now();
  const failed = await Promise.all([...remote, ...child].map((near) => call(near, 'echo', { text: 'b' })));
  expect(performance.now() - began).toBeLessThan(LIMIT_MS + 3000);
  for (const { error } of failed) {
    expect(error).toMatchObject({ code: -32603, data: { reason: 'TIMED_OUT', sent: 'maybe' } });
  }
  for (const each of wake) each();
  for (const near of [...remote, ...child]) expect(said(await call(near, 'echo', { text: 'c' }))).toBe('c');
  expect(Number(said(await call(child[1], 'pid')))).toBe(pid);
  expect(childrenOf(process.pid)).toEqual(children);
});

it('D-14 punkpeye/mcp-remote#149: after a sleep in which the remote server has forgotten everybody, each session is opened again once, however many calls wait', async () => {
  const far = await openLegacyHttp({ sessions: 'required' });
  const gateway = await openWatched([urlUnit('far', far.url, patient)]);
  const clients = await bothEras(gateway.url);
  for (const near of clients) await call(near, 'run', { token: 'before' });
  const openings = () => far.seen.filter(({ method }) => method === 'initialize').length;
  const before = openings();
  far.forget();
  const answers = await Promise.all(
    clients.flatMap((near) =>
      [1, 2, 3, 4, 5].map((at) => call(near, 'run', { token: `${near.name} ${at}` })),
    ),
  );
  expect(answers.map(said)).toEqual(
    ['legacy', 'modern'].flatMap((name) => [1, 2, 3, 4, 5].map((at) => `${name} ${at}`)),
  );
  expect(openings() - before).toBe(2);
});

it('D-14 punkpeye/mcp-remote#149: a remote server that wants another token is a clear error at once; nothing is started for it, no browser either', async () => {
  let asked = 0;
  const far = await faultServer(({ say }) => {
    asked += 1;
    say(401, '', { 'www-authenticate': 'Bearer error="invalid_token"' });
  });
  const gateway = await openWatched([urlUnit('far', far.url, patient)]);
  const near = modernHttp(gateway.url, 'near');
  const children = childrenOf(process.pid);
  const before = asked;
  const { error } = await call(near, 'echo', { text: 'a' });
  expect(error).toMatchObject({ code: -32603, data: { reason: 'UNAUTHORIZED', sent: 'no' } });
  expect(asked - before).toBeLessThanOrEqual(2);
  expect(childrenOf(process.pid)).toEqual(children);
  const { state, reason } = (await gateway.status()).servers['far']!;
  expect([state, reason]).toEqual(['failed', expect.stringContaining('401')]);
});

it('D-14 vishalsachdev/canvas-mcp#159: a gateway that was suspended goes on with its sessions, its children and the call that was under way', async () => {
  const lines = { command: process.execPath, args: [program('legacy-lines.mjs')] };
  const gateway = await serveFile({ far: lines });
  onTestFinished(() => gateway.reap());
  const near = await legacyHttp(gateway.url, 'legacy');
  const pid = Number(said(await call(near, 'pid')));
  const wakeGateway = suspend(gateway.pid);
  const wakeChild = suspend(pid);
  let hasAnswer = false;
  const waiting = call(near, 'echo', { text: 'while it sleeps' }).finally(() => {
    hasAnswer = true;
  });
  await until('it sleeps', () => childrenOf(gateway.pid).includes(pid));
  expect(hasAnswer).toBe(false);
  wakeGateway();
  wakeChild();
  expect(said(await waiting)).toBe('while it sleeps');
  expect(Number(said(await call(near, 'pid')))).toBe(pid);
  expect((await gateway.get('/readyz')).status).toBe(200);
});
