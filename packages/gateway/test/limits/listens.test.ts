import { type Change, createServer, type Service } from '@isthmus/sdk';
import type { OpenListen } from '@isthmus/sdk/internal/exchange/call.js';
import { expect, it } from 'vitest';
import { ask, modern, open, type Stream, until } from '../../../sdk/test/support/http-server.js';
import { as, serveLimited } from '../support/limits.js';

const listenTo = (name: string, notifications: object) =>
  modern('listen', 'subscriptions/listen', { notifications }, { headers: as(name) });
const TOOLS = { toolsListChanged: true };

async function listen(url: string, name: string, notifications: object = TOOLS): Promise<Stream> {
  const stream = await open(url, listenTo(name, notifications));
  expect((await stream.next()).method).toBe('notifications/subscriptions/acknowledged');
  return stream;
}

function changing() {
  const server = createServer({ name: 'changing', version: '1', announce: ['tools', 'resources'] });
  return server;
}

it('past the subscriptions of a caller the next is refused with 429, past those of a server with 503', async () => {
  const limits = { maxListens: 3, maxListensPerCaller: 2 };
  const { url, load, refusals } = await serveLimited(changing(), { limits });
  const streams = [await listen(url, 'ada'), await listen(url, 'ada')];
  const own = await ask(url, listenTo('ada', TOOLS));
  expect([own.status, own.headers['retry-after'], own.json.error]).toEqual([
    429,
    '1',
    {
      code: -32603,
      message:
        'You have as many subscriptions open at weather as it takes from one caller (maxListensPerCaller: 2): end one, or listen to several things with one; try again in 1 s',
      data: {
        reason: 'BUSY',
        sent: 'no',
        status: 429,
        server: 'weather',
        limit: 'maxListensPerCaller',
        retryAfterMs: 1000,
      },
    },
  ]);
  streams.push(await listen(url, 'bob'));
  const full = await ask(url, listenTo('bob', TOOLS));
  expect([full.status, full.headers['retry-after'], full.json.error?.message]).toEqual([
    503,
    '1',
    'weather is busy: all 3 subscriptions are taken (maxListens); try again in 1 s',
  ]);
  expect(refusals.map(({ method, principal }) => [method, principal])).toEqual([
    ['subscriptions/listen', 'ada'],
    ['subscriptions/listen', 'bob'],
  ]);
  for (const stream of streams) stream.hangUp();
  await until('no subscriptions', () => load().listens === 0);
  await listen(url, 'ada');
  expect(load().listens).toBe(1);
});

it('a server that is only watched tells each subscription what it asked for, and nothing else', async () => {
  const server = changing();
  const { url } = await serveLimited(server, { limits: { maxListens: 5 } });
  const one = await listen(url, 'ada', { resourceSubscriptions: ['note://1'] });
  const two = await listen(url, 'bob', { resourceSubscriptions: ['note://2'], toolsListChanged: true });
  server.resourceUpdated('note://1');
  server.resourceUpdated('note://2');
  server.tool('new', {}, () => 'new');
  expect((await one.next()).params).toMatchObject({ uri: 'note://1' });
  expect((await two.next()).params).toMatchObject({ uri: 'note://2' });
  expect((await two.next()).method).toBe('notifications/tools/list_changed');
  expect([one.messages.length, two.messages.length]).toEqual([2, 3]);
});

it('what a server ends, or cannot open, gives its place back', async () => {
  const ends: (() => void)[] = [];
  let opened = 0;
  const listening: Service = {
    ...changing(),
    async listen(_peer, honoured, _onChange: (change: Change) => void): Promise<OpenListen> {
      opened += 1;
      if (opened === 1) throw new Error('not now');
      const ended = new Promise<{ error: unknown }>((resolve) => {
        ends.push(() => resolve({ error: undefined }));
      });
      return { honoured, ended, stop() {} };
    },
  };
  const { url, load } = await serveLimited(listening, { limits: { maxListens: 1 } });
  expect((await ask(url, listenTo('ada', TOOLS))).json.error?.message).toBe('not now');
  expect(load().listens).toBe(0);
  const stream = await listen(url, 'ada');
  expect((await ask(url, listenTo('bob', TOOLS))).status).toBe(503);
  ends[0]!();
  await stream.end();
  expect(stream.messages.at(-1)?.result?.resultType).toBe('complete');
  expect(load().listens).toBe(0);
  await listen(url, 'bob');
});
