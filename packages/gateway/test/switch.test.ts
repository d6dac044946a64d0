import { describe, expect, it } from 'vitest';
import { gate } from '../../../test/support/sessions.js';
import { eventually } from '../../../test/support/until.js';
import { client, ERAS } from './support/clients.js';
import { type Opened, openGateway } from './support/open-gateway.js';
import { demoUnit } from './support/server-definitions.js';
import { openFar, withTools } from './support/upstream.js';

const pidOf = async ({ status }: Opened) => (await status()).servers['demo']!.processes!.processes[0]?.pid;

describe.each(ERAS)('a server that is stopped by hand, to a %s client', (era) => {
  it('finishes its calls, refuses the next, does not come back by itself, and starts again', async () => {
    const opened = await openGateway([demoUnit('demo'), (await openFar(withTools('one'))).unit('other')]);
    const { gateway, get, status, at } = opened;
    const caller = await client(at('/mcp/demo'), era);
    const slow = caller.callTool('sleep', { ms: 400 });
    await eventually(async () => expect((await status()).servers['demo']!.processes!.inFlight).toBe(1));
    const pid = (await pidOf(opened))!;
    const stopping = gateway.unit('demo').switch(false);
    expect(await slow).toMatchObject({ content: [{ text: 'slept 400 ms' }] });
    await stopping;
    expect(() => process.kill(pid, 0)).toThrow('ESRCH');
    await expect(caller.callTool('echo', { text: 'x' })).rejects.toThrow('switched off');
    expect(await status()).toMatchObject({ ready: true, servers: { demo: { state: 'off' } } });
    expect((await get('/readyz')).status).toBe(200);
    expect(await pidOf(opened)).toBeUndefined();
    await gateway.unit('demo').switch(true);
    expect(await status()).toMatchObject({ servers: { demo: { state: 'ready' } } });
    expect(await caller.callTool('echo', { text: 'x' })).toMatchObject({ content: [{ text: 'x' }] });
    expect(await pidOf(opened)).not.toBe(pid);
  });

  it('stays stopped when the configuration is read again and says the same', async () => {
    const opened = await openGateway([demoUnit('demo'), (await openFar()).unit('other')]);
    const { gateway, status } = opened;
    await gateway.unit('demo').switch(false);
    expect(gateway.apply(gateway.definitions).unchanged).toEqual(['demo', 'other']);
    expect(await status()).toMatchObject({ servers: { demo: { state: 'off' } } });
  });

  it('that runs elsewhere is only cut off', async () => {
    const open = gate();
    let running = 0;
    const far = await openFar((server) => {
      server.tool('wait', {}, () => {
        running += 1;
        return open.passed.then(() => 'waited');
      });
    });
    const { gateway, at, status } = await openGateway([far.unit('far'), (await openFar()).unit('other')]);
    const caller = await client(at('/mcp/far'), era);
    const slow = caller.callTool('wait');
    await eventually(() => expect(running).toBe(1));
    await gateway.unit('far').switch(false);
    await expect(caller.callTool('wait')).rejects.toMatchObject({
      code: -32603,
      message: 'far is switched off; start it to use it',
      data: { reason: 'DISABLED', sent: 'no' },
    });
    expect(await status()).toMatchObject({ servers: { far: { state: 'off' } } });
    open.open();
    expect(await slow).toMatchObject({ content: [{ text: 'waited' }] });
    await gateway.unit('far').switch(true);
    expect(await caller.callTool('wait')).toMatchObject({ content: [{ text: 'waited' }] });
  });
});

it('a server that is restarted by hand finishes its calls in the old process, and sessions go on in the new one', async () => {
  const opened = await openGateway([demoUnit('demo')]);
  const { gateway, url, status } = opened;
  const caller = await client(url, 'legacy');
  const slow = caller.callTool('sleep', { ms: 400 });
  await eventually(async () => expect((await status()).servers['demo']!.processes!.inFlight).toBe(1));
  const pid = await pidOf(opened);
  const restarting = gateway.unit('demo').restart();
  expect(await slow).toMatchObject({ content: [{ text: 'slept 400 ms' }] });
  await restarting;
  expect(await caller.callTool('echo', { text: 'x' })).toMatchObject({ content: [{ text: 'x' }] });
  expect(await pidOf(opened)).not.toBe(pid);
});

it('a name that is not there is an error that lists those that are', async () => {
  const { gateway } = await openGateway([(await openFar()).unit('a'), (await openFar()).unit('b')]);
  expect(() => gateway.unit('c')).toThrow('There is no server "c"; there are a, b');
});
