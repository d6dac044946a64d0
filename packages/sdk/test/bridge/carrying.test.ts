import { describe, expect, it } from 'vitest';
import { type Between, bridgeTo } from '../support/bridge/between.js';
import { bridgeToHost } from '../support/bridge/between-host.js';
import { CAPABILITIES, type Era, SUBSCRIPTION_ID } from '../support/bridge/frames.js';
import type { NearClient } from '../support/bridge/near.js';

const UI = { 'io.modelcontextprotocol/ui': { mimeTypes: ['text/html;profile=mcp-app'] } };
const X = { 'com.example/x': { a: 1 } };
const FOREIGN = /com\.example|skills\/list|weather/;
const DONE = { resultType: 'complete', content: [] };
const CELLS: [near: Era, far: Era][] = [
  ['legacy', 'legacy'],
  ['legacy', 'modern'],
  ['modern', 'legacy'],
  ['modern', 'modern'],
];

function clientOf(era: Era, { near }: Pick<Between, 'near'>, capabilities: object = {}): Promise<NearClient> {
  return era === 'legacy' ? near.legacy({ capabilities }) : Promise.resolve(near.modern({ capabilities }));
}

describe.each(CELLS)(
  'a %s client and a %s server: what neither the bridge nor the core knows',
  (era, farEra) => {
    it('row 2: extensions, experiments and unknown capabilities of the server reach the client', async () => {
      const announced = {
        tools: {},
        extensions: { ...UI, ...X },
        experimental: { 'x/y': { z: 1 } },
        weather: { far: 1 },
      };
      const between = await bridgeTo(farEra, { foreign: FOREIGN, capabilities: announced });
      const client = between.near.raw();
      client.revision = '2026-07-28';
      if (era === 'modern') client.request(1, 'server/discover');
      const answer = era === 'modern' ? await client.next() : await client.handshake('2025-06-18');
      expect(answer.result.capabilities).toEqual(announced);
    });

    it('row 2: those of the client reach the server', async () => {
      const between = await bridgeTo(farEra, { foreign: FOREIGN });
      const declared = {
        extensions: { ...UI, ...X },
        experimental: { 'x/y': { z: 1 } },
        weather: { near: 1 },
      };
      const client = await clientOf(era, between, declared);
      client.call(1, 'a');
      const call = await between.far.next();
      const told =
        farEra === 'modern' ? call.params._meta[CAPABILITIES] : call.on.opening!.params.capabilities;
      expect(told).toEqual(declared);
      call.on.answer(call, DONE);
      await client.next();
    });

    it('row 2: also on a process that clients share, if they are there when it starts', async () => {
      const between = await bridgeToHost(farEra);
      const client = await clientOf(era, between, { extensions: X, experimental: { 'x/y': { z: 1 } } });
      client.call(1, 'a');
      const call = await between.far.next();
      const told =
        farEra === 'modern' ? call.params._meta[CAPABILITIES] : call.on.opening!.params.capabilities;
      expect(told).toMatchObject({
        extensions: farEra === 'modern' ? X : { ...UI, ...X },
        experimental: { 'x/y': { z: 1 } },
      });
      call.on.answer(call, DONE);
      await client.next();
    });

    it('unknown requests of the client get the answer of the server', async () => {
      const between = await bridgeTo(farEra, { foreign: FOREIGN });
      const client = await clientOf(era, between);
      client.request(1, 'skills/list', { cursor: 'c' });
      const list = await between.far.next();
      expect([list.method, list.params.cursor]).toEqual(['skills/list', 'c']);
      list.on.answer(list, { resultType: 'complete', skills: [{ uri: 'skill://a' }], _meta: { 'a.b/c': 1 } });
      expect((await client.next()).result).toMatchObject({
        skills: [{ uri: 'skill://a' }],
        _meta: { 'a.b/c': 1 },
      });
    });

    it('unknown notifications of the client reach the server', async () => {
      const between = await bridgeTo(farEra, { foreign: FOREIGN });
      const client = await clientOf(era, between);
      // A modern connection has an era once it has made a request.
      client.call(1, 'a');
      const call = await between.far.next();
      client.notify('notifications/com.example/seen', { uri: 'u', _meta: { 'a.b/c': 1 } });
      expect(await between.far.next()).toMatchObject({
        method: 'notifications/com.example/seen',
        params: { uri: 'u', _meta: { 'a.b/c': 1 } },
      });
      call.on.answer(call, DONE);
      await client.next();
    });

    it('unknown notifications of the server reach the client whose call they belong to', async () => {
      const between = await bridgeTo(farEra, { foreign: FOREIGN });
      const client = await clientOf(era, between);
      client.call(1, 'a');
      const call = await between.far.next();
      call.on.notify('notifications/com.example/heat', { degrees: 40, _meta: { 'a.b/c': 1 } });
      expect(await client.next()).toMatchObject({
        method: 'notifications/com.example/heat',
        params: { degrees: 40, _meta: { 'a.b/c': 1 } },
      });
      call.on.answer(call, DONE);
      await client.next();
    });

    it('also while it is subscribed to changes', async () => {
      const between = await bridgeTo(farEra, {
        foreign: FOREIGN,
        capabilities: { tools: { listChanged: true } },
      });
      const client = await clientOf(era, between);
      if (era === 'modern')
        client.request('l', 'subscriptions/listen', { notifications: { toolsListChanged: true } });
      if (farEra === 'modern') {
        const listen = await between.far.next();
        listen.on.acknowledge(listen);
      }
      if (era === 'modern') expect((await client.next()).method).toMatch(/acknowledged$/);
      client.call(1, 'a');
      const call = await between.far.next();
      call.on.notify('notifications/com.example/heat', { degrees: 40 });
      expect(await client.next()).toMatchObject({
        method: 'notifications/com.example/heat',
        params: { degrees: 40 },
      });
      call.on.answer(call, DONE);
      await client.next();
    });

    it('row 15: `_meta` of progress and of logs stays', async () => {
      const between = await bridgeTo(farEra, { foreign: FOREIGN, capabilities: { tools: {}, logging: {} } });
      const client = await clientOf(era, between);
      client.call(1, 'a', {}, { progressToken: 'p', 'io.modelcontextprotocol/logLevel': 'info' });
      let call = await between.far.next();
      if (call.method === 'logging/setLevel') {
        call.on.answer(call, {});
        call = await between.far.next();
      }
      call.on.progress(call, 1, { _meta: { 'a.b/c': 1 } });
      expect((await client.next()).params).toEqual({
        progressToken: 'p',
        progress: 1,
        _meta: { 'a.b/c': 1 },
      });
      call.on.notify('notifications/message', { level: 'error', data: 'd', _meta: { 'a.b/c': 2 } });
      expect((await client.next()).params).toEqual({ level: 'error', data: 'd', _meta: { 'a.b/c': 2 } });
      call.on.answer(call, DONE);
      await client.next();
    });

    it('row 11: `_meta` of changes stays', async () => {
      const between = await bridgeTo(farEra, {
        foreign: FOREIGN,
        capabilities: { tools: { listChanged: true } },
      });
      const client = await clientOf(era, between);
      if (era === 'modern')
        client.request('l', 'subscriptions/listen', { notifications: { toolsListChanged: true } });
      const meta: Record<string, unknown> = { 'a.b/c': 1 };
      if (farEra === 'modern') {
        const listen = await between.far.next();
        listen.on.acknowledge(listen);
        meta[SUBSCRIPTION_ID] = listen.id;
      }
      if (era === 'modern') expect((await client.next()).method).toMatch(/acknowledged$/);
      else if (farEra === 'legacy') await between.far.rest();
      const [server] = between.far.stillOpen;
      server!.notify('notifications/tools/list_changed', { _meta: meta });
      expect((await client.next()).params._meta).toEqual(
        era === 'modern' ? { 'a.b/c': 1, [SUBSCRIPTION_ID]: 'l' } : { 'a.b/c': 1 },
      );
    });
  },
);

describe('what cannot be carried', () => {
  it('a request of a legacy server that no era defines reaches a legacy client', async () => {
    const { near, far } = await bridgeTo('legacy', { foreign: FOREIGN });
    const client = await near.legacy();
    client.call(1, 'a');
    const call = await far.next();
    call.on.ask('q', 'com.example/ask', { what: 'w' });
    const asked = await client.next();
    expect([asked.method, asked.params.what]).toEqual(['com.example/ask', 'w']);
    client.answer(asked, { yes: true });
    expect(await far.next()).toMatchObject({ id: 'q', result: { yes: true } });
    call.on.ask('q2', 'com.example/ask', {});
    client.refuse(await client.next(), -32601, 'Method not found');
    expect(await far.next()).toMatchObject({ id: 'q2', error: { code: -32601 } });
    call.on.answer(call, DONE);
    await client.next();
  });

  it('and is refused where the client is modern, since that cannot be sent requests (JRPC-013)', async () => {
    const { near, far } = await bridgeTo('legacy', { foreign: FOREIGN });
    const client = near.modern();
    client.call(1, 'a');
    const call = await far.next();
    call.on.ask('q', 'com.example/ask', {});
    expect(await far.next()).toMatchObject({ id: 'q', error: { code: -32601 } });
    call.on.answer(call, DONE);
    await client.next();
  });

  it('a legacy session gets notifications outside of calls; of a modern client they are counted', async () => {
    const { near, far, dropped } = await bridgeTo('legacy', { foreign: FOREIGN });
    const client = await near.legacy();
    client.request(1, 'tools/list');
    const list = await far.next();
    list.on.answer(list, { tools: [] });
    await client.next();
    list.on.notify('notifications/com.example/heat', { degrees: 40 });
    expect((await client.next()).params).toEqual({ degrees: 40 });
    const modern = near.modern();
    modern.request(1, 'tools/list');
    const other = await far.next();
    other.on.answer(other, { tools: [] });
    await modern.next();
    other.on.notify('notifications/com.example/heat', { degrees: 41 });
    expect(await modern.rest()).toEqual([]);
    expect(dropped.map(({ why }) => why)).toEqual(['a notification that matches nothing']);
  });

  it('members of a filter that extensions define pass between modern peers, and what comes for them', async () => {
    const { near, far } = await bridgeTo('modern', { foreign: FOREIGN });
    const client = near.modern();
    client.request('l', 'subscriptions/listen', { notifications: { 'com.example/heat': ['x'], rain: true } });
    const listen = await far.next();
    expect(listen.params.notifications).toEqual({ 'com.example/heat': ['x'], rain: true });
    listen.on.acknowledge(listen, { 'com.example/heat': ['x'] });
    expect((await client.next()).params.notifications).toEqual({ 'com.example/heat': ['x'] });
    const about = { [SUBSCRIPTION_ID]: listen.id };
    listen.on.notify('notifications/com.example/heat', { degrees: 40, _meta: { ...about, 'a.b/c': 1 } });
    expect((await client.next()).params).toEqual({
      degrees: 40,
      _meta: { 'a.b/c': 1, [SUBSCRIPTION_ID]: 'l' },
    });
  });
});
