import { createServer, jsonSchema, serve } from '@isthmus/sdk';
import { CONVERSATION, createBridge } from '@isthmus/sdk/bridge';
import { http } from '@isthmus/sdk/http';
import { memory } from '@isthmus/sdk/internal/transport/memory.js';
import { expect, it, onTestFinished } from 'vitest';
import {
  ask,
  initialize,
  legacy,
  modernCall,
  openSession,
} from '../../packages/sdk/test/support/http-server.js';
import { FakeClock } from '../support/fake-clock.js';

const TEXT = jsonSchema<{ text: string }>({
  type: 'object',
  properties: { text: { type: 'string' } },
  required: ['text'],
});
const MALLORY = '127.0.0.66';
const BOB = '127.0.0.2';

/** A bridge to a server of our own, served over HTTP. */
async function bridged(
  options: { maxSessions?: number; maxUpstreamSessions?: number; clock?: FakeClock } = {},
) {
  const { maxSessions, ...more } = options;
  const server = createServer({ name: 'far', version: '1' });
  server.tool('echo', { input: TEXT }, ({ text }) => text);
  const bridge = createBridge(memory(server), more);
  const served = await serve(bridge, http({ port: 0, ...(maxSessions !== undefined && { maxSessions }) }));
  onTestFinished(async () => {
    await served.close({ graceMs: 0 });
    await bridge.close();
  });
  return { url: served.addresses[0]!, bridge };
}

const echo = (from: string, conversation?: string) => ({
  ...modernCall(
    1,
    'echo',
    { text: 'a' },
    conversation === undefined ? {} : { meta: { [CONVERSATION]: conversation } },
  ),
  from,
});

it('R4: more than 1,000 abandoned sessions leave room for clients of both eras', async () => {
  const { url, bridge } = await bridged({ maxSessions: 1050 });
  for (let at = 0; at < 1050; at += 30) {
    const some = Array.from({ length: 30 }, () => ask(url, { ...legacy(initialize(at)), from: MALLORY }));
    for (const { status } of await Promise.all(some)) expect(status).toBe(200);
  }
  expect(bridge.upstreamSessions).toBe(1050);
  expect((await ask(url, echo(BOB))).json.result?.content[0].text).toBe('a');
  const session = await openSession(url, { from: BOB });
  const called = {
    jsonrpc: '2.0',
    id: 1,
    method: 'tools/call',
    params: { name: 'echo', arguments: { text: 'b' } },
  };
  expect((await session.post(called)).json.result?.content[0].text).toBe('b');
  expect(bridge.upstreamSessions).toBe(1051);
});

it('R4: conversations that a client invents make room for another client, and then for its own later ones', async () => {
  const clock = new FakeClock();
  const { url, bridge } = await bridged({ maxUpstreamSessions: 4, clock });
  for (const name of ['m1', 'm2', 'm3', 'm4']) {
    expect((await ask(url, echo(MALLORY, name))).status).toBe(200);
    clock.advance(10);
  }
  const refused = await ask(url, echo(MALLORY, 'm5'));
  expect(refused.json.error?.message).toBe(
    'memory is busy: 4 sessions are open, which is the limit; try again later',
  );
  expect((await ask(url, echo(BOB, 'b1'))).status).toBe(200);
  expect((await ask(url, echo(BOB, 'b2'))).status).toBe(200);
  clock.advance(1000);
  expect((await ask(url, echo(MALLORY, 'm5'))).status).toBe(200);
  expect(bridge.upstreamSessions).toBe(4);
});
