import { join } from 'node:path';
import { createServer, serve } from '@isthmus/sdk';
import { http } from '@isthmus/sdk/http';
import { type Clock, systemClock } from '@isthmus/sdk/internal/async/clock.js';
import { describe, expect, it, onTestFinished } from 'vitest';
import { eventually } from '../../../../test/support/until.js';
import { client } from '../support/clients.js';
import { freshFolder, openGateway } from '../support/open-gateway.js';
import { socketUnit, urlUnit } from '../support/server-definitions.js';
import { openFar, withTools } from '../support/upstream.js';

/** Time that passes as it does, and can be made to have passed. */
function movableClock(): Clock & { skip(ms: number): void } {
  let skipped = 0;
  return {
    now: () => systemClock.now() + skipped,
    after: (ms, action, options) => systemClock.after(ms, action, options),
    skip(ms) {
      skipped += ms;
    },
  };
}

async function serveAt(port: number): Promise<{ url: string; close(): Promise<void> }> {
  const server = createServer({ name: 'remote', version: '1' });
  withTools('one')(server);
  const served = await serve(server, http({ port }));
  const close = () => served.close({ graceMs: 0 });
  onTestFinished(close);
  return { url: served.addresses[0]!, close };
}

describe('a server that runs elsewhere', () => {
  it('is ready while it answers, not when it is gone, and again when it is back', async () => {
    const clock = movableClock();
    const remote = await serveAt(0);
    const { get, status } = await openGateway([urlUnit('remote', remote.url)], { clock });
    await eventually(async () => expect((await get('/readyz')).status).toBe(200));
    await remote.close();
    clock.skip(5000);
    const gone = await get('/readyz');
    expect([gone.status, JSON.parse(gone.text)]).toEqual([503, { ready: false, waitingFor: ['remote'] }]);
    expect((await get('/status')).status).toBe(503);
    expect((await status()).servers['remote']).toMatchObject({
      kind: 'url',
      state: 'failed',
      reason: expect.any(String),
    });
    await serveAt(Number(new URL(remote.url).port));
    clock.skip(5000);
    expect((await get('/readyz')).status).toBe(200);
    expect((await status()).servers['remote']).toMatchObject({
      state: 'ready',
      era: 'modern',
      server: { name: 'remote' },
    });
  });

  it('is known to be gone as soon as a call could not reach it, and back as soon as one did', async () => {
    const path = join(freshFolder(), 's');
    const far = await openFar(withTools('one'), { path });
    const { get, url } = await openGateway([socketUnit('there', `unix:${path}`)]);
    const caller = await client(url);
    await caller.callTool('one');
    expect((await get('/readyz')).status).toBe(200);
    await far.served.close({ graceMs: 0 });
    await expect(caller.callTool('one')).rejects.toMatchObject({ code: -32603 });
    await eventually(async () => expect((await get('/readyz')).status).toBe(503));
    await openFar(withTools('one'), { path });
    expect(await caller.callTool('one')).toMatchObject({ content: [{ text: 'one of far' }] });
    expect((await get('/readyz')).status).toBe(200);
  });

  it('that is not there when the gateway starts keeps nobody away, and is used when it comes', async () => {
    const path = join(freshFolder(), 's');
    const good = await openFar(withTools('two'));
    const { get, url, gateway } = await openGateway([socketUnit('late', `unix:${path}`), good.unit('good')]);
    await gateway
      .unit('late')
      .start()
      .catch(() => {});
    expect((await get('/readyz')).status).toBe(503);
    const caller = await client(url);
    expect(await caller.callTool('good__two')).toMatchObject({ content: [{ text: 'two of far' }] });
    await expect(caller.callTool('late__one')).rejects.toMatchObject({ code: -32603 });
    await openFar(withTools('one'), { path });
    expect(await caller.callTool('late__one')).toMatchObject({ content: [{ text: 'one of far' }] });
    await eventually(async () => expect((await get('/readyz')).status).toBe(200));
  });

  it('that answers nothing is not waited for longer than the health page may take', async () => {
    const far = await openFar(withTools('one'));
    const silent = await openFar();
    silent.server.use(() => new Promise(() => {}));
    const { get } = await openGateway([far.unit('a'), silent.unit('b', { needed: false })]);
    const started = performance.now();
    await eventually(async () => expect((await get('/readyz')).status).toBe(200));
    expect(performance.now() - started).toBeLessThan(15_000);
  });
});
