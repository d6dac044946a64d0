import { describe, expect, it } from 'vitest';
import { deaf, post } from '../../../test/bridge-load/support/deaf-client.js';
import { gate } from '../../../test/support/sessions.js';
import { eventually } from '../../../test/support/until.js';
import { childrenOf } from '../../sdk/test/support/host-lifetime.js';
import {
  ask,
  legacyCall,
  modern,
  modernCall,
  open,
  openSession,
  SUBSCRIPTION_ID,
  within,
} from '../../sdk/test/support/http-server.js';
import { client, ERAS } from './support/clients.js';
import { openGateway } from './support/open-gateway.js';
import { commandUnit, demoUnit } from './support/server-definitions.js';
import { openFar } from './support/upstream.js';

/** A server whose tool waits until the test lets it go on, or is cancelled. */
async function waiting() {
  const go = gate();
  const seen = { running: 0, cancelled: 0 };
  const far = await openFar((server) => {
    server.tool('wait', {}, async (_args, ctx) => {
      seen.running += 1;
      ctx.signal.addEventListener('abort', () => {
        seen.cancelled += 1;
      });
      await go.passed;
      return 'waited';
    });
  });
  return { far, seen, go };
}

describe.each(ERAS)('when it is to end, a %s client', (era) => {
  it.each([
    ['/mcp/a', 'wait'],
    ['/mcp', 'a__wait'],
  ])('gets the answers of the calls that run at %s', async (path, tool) => {
    const { far, seen, go } = await waiting();
    const { gateway, at, origin } = await openGateway([far.unit('a'), far.unit('b')]);
    const caller = await client(at(path), era);
    const call = caller.callTool(tool);
    await eventually(() => expect(seen.running).toBe(1));
    const closing = gateway.close();
    expect(gateway.closing.aborted).toBe(true);
    await expect(ask(`${origin}/healthz`, { method: 'GET' })).rejects.toThrow('ECONNREFUSED');
    go.open();
    expect(await call).toMatchObject({ content: [{ text: 'waited' }] });
    await within(6000, 'closing', closing);
    await gateway.closed;
    expect(seen).toEqual({ running: 1, cancelled: 0 });
  });
});

it('modern subscriptions end with their closing result, at every address', async () => {
  const { far } = await waiting();
  const { gateway, at } = await openGateway([far.unit('a'), far.unit('b')]);
  const streams = await Promise.all(
    ['/mcp', '/mcp/a', '/servers/b/mcp'].map((path) =>
      open(at(path), modern(7, 'subscriptions/listen', { notifications: { toolsListChanged: true } })),
    ),
  );
  for (const stream of streams) await stream.next();
  await within(6000, 'closing', gateway.close());
  for (const stream of streams) {
    await stream.end();
    const last = stream.messages.at(-1)!;
    expect([
      last.id,
      last.result?.resultType,
      last.result?._meta?.[SUBSCRIPTION_ID],
      stream.complete,
    ]).toEqual([7, 'complete', 7, true]);
  }
});

it('streams of legacy sessions end in good order', async () => {
  const { far } = await waiting();
  const { gateway, at } = await openGateway([far.unit('a'), far.unit('b')]);
  const streams = await Promise.all(
    ['/mcp', '/mcp/a'].map(async (path) => (await openSession(at(path))).get()),
  );
  const sse = await open(at('/sse'), { method: 'GET', headers: { accept: 'text/event-stream' } });
  await within(6000, 'closing', gateway.close());
  for (const stream of [...streams, sse]) {
    await stream.end();
    expect(stream.complete).toBe(true);
  }
});

it('the grace is a limit: what runs longer is cancelled, and its caller is told', async () => {
  const { far, seen } = await waiting();
  const { gateway, at } = await openGateway([far.unit('a')], { graceMs: 200 });
  const session = await openSession(at('/mcp/a'));
  const calls = [ask(at('/mcp'), modernCall(1, 'wait')), session.post(legacyCall(2, 'wait'))];
  await eventually(() => expect(seen.running).toBe(2));
  await within(6000, 'closing', gateway.close());
  for (const call of calls) expect((await call).messages.at(-1)).toMatchObject({ error: { code: -32603 } });
  await eventually(() => expect(seen.cancelled).toBe(2));
});

it('a second time does not wait', async () => {
  const { far, seen } = await waiting();
  const { gateway, url } = await openGateway([far.unit('a')], { graceMs: 60_000 });
  const call = ask(url, modernCall(1, 'wait'));
  await eventually(() => expect(seen.running).toBe(1));
  const first = gateway.close();
  await within(6000, 'the second', gateway.close({ graceMs: 0 }));
  await within(6000, 'the first', first);
  expect((await call).messages.at(-1)).toMatchObject({ error: { code: -32603 } });
  await gateway.close();
});

it('processes are gone, also those that will not go by themselves', async () => {
  const stubborn = commandUnit('stubborn', [
    '-e',
    'process.on("SIGTERM", () => {}); setInterval(() => {}, 1000)',
  ]);
  const before = new Set(childrenOf(process.pid));
  const { gateway, get } = await openGateway([demoUnit('demo'), stubborn]);
  await eventually(async () => expect((await gateway.status()).servers['demo']!.state).toBe('ready'));
  expect((await get('/readyz')).status).toBe(503);
  const ours = () => childrenOf(process.pid).filter((pid) => !before.has(pid));
  // Two servers, and the death watch.
  expect(ours()).toHaveLength(3);
  await within(8000, 'closing', gateway.close());
  expect(ours()).toEqual([]);
});

it('a client that does not read its answer does not hold it up', async () => {
  const { gateway, url } = await openGateway([demoUnit('demo')], { graceMs: 10_000 });
  const caller = await client(url);
  await caller.callTool('echo', { text: 'hi' });
  const socket = await deaf(url);
  post(socket, modernCall(1, 'big', { bytes: 30_000_000 }));
  await eventually(async () => expect((await gateway.status()).servers['demo']!.processes!.inFlight).toBe(0));
  await within(6000, 'closing', gateway.close());
});

it('a gateway that cannot listen leaves nothing behind', async () => {
  const { far } = await waiting();
  const { url } = await openGateway([far.unit('a')]);
  const { port } = new URL(url);
  await expect(
    openGateway([demoUnit('demo')], {
      addresses: ['http://127.0.0.1:0/mcp', `http://127.0.0.1:${port}/mcp`],
    }),
  ).rejects.toMatchObject({ code: 'ADDRESS_UNAVAILABLE' });
});
