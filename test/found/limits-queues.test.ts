import { ResponseCache } from '@isthmus/sdk/internal/client/response-cache.js';
import { SubscribedUris, WaitingChanges } from '@isthmus/sdk/internal/era/subscriptions.js';
import {
  InFlightRequest,
  RequestSlots,
} from '@isthmus/sdk/internal/transport/http-client/in-flight-requests.js';
import { Outbox } from '@isthmus/sdk/internal/transport/outbox.js';
import { requestMessage } from '@isthmus/sdk/internal/wire/json-rpc.js';
import { describe, expect, it } from 'vitest';
import { initialize, legacy, modern } from '../support/eras.js';
import { FakeClock } from '../support/fake-clock.js';
import { bare, createStarter } from '../support/sessions.js';

const start = createStarter();
const MIB = 1024 * 1024;

describe('R3: limits of what a peer can fill', () => {
  it('R3: the response cache holds 16 MiB of text, and the oldest go first', () => {
    const cache = new ResponseCache(new FakeClock(), 'me');
    const put = (uri: string, chars: number) =>
      cache.put('resources/read', { uri }, { ttlMs: 1000, text: 'x'.repeat(chars) }, 0);
    for (let at = 0; at < 8; at += 1) put(`r${at}`, 3 * MIB);
    const kept = Array.from(
      { length: 8 },
      (_, at) => cache.get('resources/read', { uri: `r${at}` }) !== undefined,
    );
    expect(kept).toEqual([false, false, false, true, true, true, true, true]);
    // One that is too large is not kept, and costs the others nothing.
    put('large', 5 * MIB);
    expect(cache.get('resources/read', { uri: 'large' })).toBeUndefined();
    expect(cache.get('resources/read', { uri: 'r7' })).toBeDefined();
  });

  it('R3: requests that wait for a slot at an HTTP server take at most 32 MiB; a cancelled one frees its own', () => {
    const slots = new RequestSlots(1);
    const flight = (id: number, chars: number) => {
      const request = requestMessage(id, 'tools/call', {});
      return new InFlightRequest(request as never, 'x'.repeat(chars));
    };
    const first = flight(0, 10 * MIB);
    expect(slots.admit(first, () => {})).toBe(true);
    const waiting = [1, 2, 3].map((id) => flight(id, 10 * MIB));
    expect(waiting.map((each) => slots.admit(each, () => {}))).toEqual([true, true, true]);
    expect(slots.admit(flight(4, 10 * MIB), () => {})).toBe(false);
    waiting[1]!.settle();
    const started: number[] = [];
    expect(slots.admit(flight(5, 10 * MIB), () => started.push(5))).toBe(true);
    first.settle();
    waiting[0]!.settle();
    waiting[2]!.settle();
    expect(started).toEqual([5]);
    expect(slots.waiting).toBe(0);
  });

  it('R3: one connection subscribes to at most 10,000 resources, with 1 MiB of names', () => {
    const uris = new SubscribedUris();
    for (let at = 0; at < 10_000; at += 1) uris.add(`r${at}`);
    uris.add('r0');
    expect(() => uris.add('one more')).toThrow(
      'a subscriber can name at most 10000 resources, with 1048576 characters in total',
    );
    uris.delete('r0');
    uris.add('one more');
    const long = new SubscribedUris();
    long.add('x'.repeat(MIB));
    expect(() => long.add('y')).toThrow(/at most/);
    long.delete('x'.repeat(MIB));
    long.add('y');
  });

  it('R3: a subscription past the bound is refused in both eras, and the connection lives on', async () => {
    const server = bare();
    server.resource('memo://1', { name: 'memo' }, () => 'memo');
    const client = (await start(server)).connect();
    const resourceSubscriptions = Array.from({ length: 10_001 }, (_, at) => `memo://${at}`);
    client.send(modern(1, 'subscriptions/listen', { notifications: { resourceSubscriptions } }));
    expect(await client.next()).toMatchObject({
      id: 1,
      error: { code: -32602, message: expect.stringContaining('at most 10000 resources') },
    });
    client.send(modern(2, 'server/discover'));
    expect(await client.next()).toMatchObject({ id: 2, result: {} });

    const old = (await start(server)).connect();
    await initialize(old);
    old.send(legacy(1, 'resources/subscribe', { uri: 'x'.repeat(MIB) }));
    expect(await old.next()).toMatchObject({ id: 1, result: {} });
    old.send(legacy(2, 'resources/subscribe', { uri: 'memo://1' }));
    expect(await old.next()).toMatchObject({ id: 2, error: { message: expect.stringContaining('at most') } });
    old.send(legacy(3, 'ping'));
    expect(await old.next()).toMatchObject({ id: 3, result: {} });
  });

  it('R3: news that wait for a reader are bounded; the oldest are dropped', () => {
    const waiting = new WaitingChanges();
    for (let at = 0; at < 20_000; at += 1) waiting.keep({ kind: 'resource', uri: `r${at}` });
    expect(waiting.take()).toEqual({ kind: 'resource', uri: 'r10000' });
    let left = 0;
    while (waiting.take()) left += 1;
    expect(left).toBe(9999);
  });

  it('R3: news of extensions that wait for a reader hold 1 MiB of text; the newest state of a task replaces the last', () => {
    const waiting = new WaitingChanges();
    const news = (taskId: string | undefined, text: string) =>
      waiting.keep({
        kind: 'foreign',
        method: 'notifications/x',
        params: { ...(taskId && { taskId }), text },
      });
    news(undefined, 'x'.repeat(2 * MIB));
    for (let at = 0; at < 5; at += 1) news(undefined, `${at}`.repeat(300 * 1024));
    news('t', 'working');
    news('t', 'completed');
    const kept: unknown[] = [];
    for (let change = waiting.take(); change; change = waiting.take())
      if (change.kind === 'foreign') kept.push(String(change.params['text']).slice(0, 9));
    expect(kept).toEqual(['222222222', '333333333', '444444444', 'completed']);
  });

  it('R3: the outbox gives messages in slices of 256 KiB, and never splits its count', () => {
    const outbox = new Outbox();
    for (let at = 0; at < 10; at += 1) outbox.add(`${at}`.repeat(100 * 1024));
    outbox.withdraw(1);
    outbox.withdraw(4);
    const sizes: number[] = [];
    for (let text = outbox.take(); text !== undefined; text = outbox.take()) sizes.push(text.length / 1024);
    expect(sizes).toEqual([200, 200, 200, 200]);
    expect(outbox.taken).toBe(10);
    expect(outbox.size).toBe(0);
    expect(outbox.overhead).toBe(0);
  });
});
