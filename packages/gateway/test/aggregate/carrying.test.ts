/** Among several servers, what neither the gateway nor the core protocol knows reaches the other side, too. */
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { createBridge, createServer, memory, serve } from '@isthmus/sdk';
import { describe, expect, it, onTestFinished } from 'vitest';
import { FarServer } from '../../../sdk/test/support/bridge/far.js';
import type { Era } from '../../../sdk/test/support/bridge/frames.js';
import { NearLink } from '../../../sdk/test/support/bridge/near.js';
import { Aggregate } from '../../src/aggregate/aggregate.js';

const HEAT = 'notifications/com.example/heat';
const DONE = { resultType: 'complete', content: [] };
const LOGGED = { 'io.modelcontextprotocol/logLevel': 'info' };

/** The scripted server `far` and a neighbour, as one. */
async function between(client: Era, upstream: Era) {
  const far = new FarServer({ era: upstream, capabilities: { tools: { listChanged: true }, logging: {} } });
  far.lists = true;
  const neighbour = memory();
  const servedNeighbour = await serve(createServer({ name: 'neighbour', version: '1' }), neighbour);
  const bridges = [createBridge(far, { cache: false }), createBridge(neighbour, { cache: false })];
  const aggregate = new Aggregate({ info: { name: 'all', version: '1' } });
  const [service, other] = bridges as [(typeof bridges)[0], (typeof bridges)[0]];
  aggregate.setMembers([
    { name: 'far', service, absence: () => undefined },
    { name: 'neighbour', service: other, absence: () => undefined },
  ]);
  const near = new NearLink();
  const served = await serve(aggregate, near);
  const dropped: unknown[] = [];
  const note = (event: unknown) => void dropped.push((event as { why: string }).why);
  subscribe('isthmus:dropped', note);
  onTestFinished(async () => {
    unsubscribe('isthmus:dropped', note);
    await served.close({ graceMs: 0 });
    for (const bridge of bridges) await bridge.close();
    await servedNeighbour.close({ graceMs: 0 });
  });
  const peer = client === 'legacy' ? await near.legacy() : near.modern();
  peer.request('list', 'tools/list');
  while ((await peer.next()).id !== 'list');
  /** The next message that is not about a list that has changed: servers may come at any time. */
  const next = async () => {
    for (;;) {
      const message = await peer.next();
      if (!message.method?.endsWith('list_changed')) return message;
    }
  };
  /** The tool of the server is called. */
  const called = async () => {
    peer.call('call', 'far__a', {}, { progressToken: 'p', ...LOGGED });
    for (;;) {
      const heard = await far.next();
      if (heard.method === 'tools/call') return heard;
      if (heard.method === 'logging/setLevel') heard.on.answer(heard, {});
    }
  };
  return { far, peer, next, called, dropped };
}

describe.each<[Era, Era]>([
  ['legacy', 'legacy'],
  ['legacy', 'modern'],
  ['modern', 'legacy'],
  ['modern', 'modern'],
])('among several servers, a %s client and a %s server', (client, upstream) => {
  it('unknown notifications and `_meta` of progress and logs reach the client of the call', async () => {
    const { called, next } = await between(client, upstream);
    const call = await called();
    expect(call.params.name).toBe('a');
    call.on.notify(HEAT, { degrees: 40, _meta: { 'a.b/c': 1 } });
    expect(await next()).toMatchObject({ method: HEAT, params: { degrees: 40, _meta: { 'a.b/c': 1 } } });
    call.on.progress(call, 1, { _meta: { 'a.b/c': 2 } });
    expect((await next()).params).toEqual({ progressToken: 'p', progress: 1, _meta: { 'a.b/c': 2 } });
    call.on.notify('notifications/message', { level: 'error', data: 'd', _meta: { 'a.b/c': 3 } });
    expect((await next()).params).toMatchObject({ level: 'error', data: 'd', _meta: { 'a.b/c': 3 } });
    call.on.answer(call, DONE);
    expect(await next()).toMatchObject({ id: 'call' });
  });

  it('unknown notifications of the client reach the server', async () => {
    const { called, next, peer, far } = await between(client, upstream);
    const call = await called();
    peer.notify('notifications/com.example/seen', { uri: 'u', _meta: { 'a.b/c': 1 } });
    expect(await far.next()).toMatchObject({
      method: 'notifications/com.example/seen',
      params: { uri: 'u', _meta: { 'a.b/c': 1 } },
    });
    call.on.answer(call, DONE);
    expect(await next()).toMatchObject({ id: 'call' });
  });
});

describe('among several servers, an unknown notification of a legacy server outside of calls', () => {
  async function told(client: Era) {
    const all = await between(client, 'legacy');
    const call = await all.called();
    call.on.answer(call, DONE);
    expect(await all.next()).toMatchObject({ id: 'call' });
    call.on.notify(HEAT, { degrees: 41 });
    return all;
  }

  it('reaches a legacy session', async () => {
    const { next, dropped } = await told('legacy');
    expect(await next()).toMatchObject({ method: HEAT, params: { degrees: 41 } });
    expect(dropped).toEqual([]);
  });

  it('has no way to a modern client, and is counted', async () => {
    const { peer, dropped } = await told('modern');
    expect(await peer.rest()).toEqual([]);
    expect(dropped).toEqual(['a notification that matches nothing']);
  });
});
