import { createServer } from '@isthmus/sdk';
import { EventMemory, memoryEventStore } from '@isthmus/sdk/http';
import { PROCESS_EVENTS } from '@isthmus/sdk/internal/transport/http-server/sessions/event-store.js';
import { describe, expect, it } from 'vitest';
import {
  ask,
  gate,
  legacyCall,
  modernCall,
  openSession,
  serveHttp,
} from '../../packages/sdk/test/support/http-server.js';

const MB = 1024 * 1024;

/** A tool that makes its answer a stream and then gives a large result, when it may. */
function largeServer(bytes: number) {
  const server = createServer({ name: 'large', version: '1' });
  const may = gate();
  server.tool('large', {}, async (_args, ctx) => {
    ctx.progress(1);
    await may.promise;
    return 'x'.repeat(bytes);
  });
  return { server, may };
}

const largeCall = (id: number) => legacyCall(id, 'large', {}, { progressToken: id });

describe('S6: events that are too large to be kept', () => {
  it('S6: answers of 3 MB on streams take no memory after they were sent', async () => {
    const { server, may } = largeServer(3 * MB);
    may.open();
    const { url } = await serveHttp(server);
    const session = await openSession(url);
    for (let id = 1; id <= 10; id += 1) {
      const answer = await session.post(largeCall(id));
      expect(answer.text.length).toBeGreaterThan(3 * MB);
      expect(PROCESS_EVENTS.bytes).toBeLessThan(MB);
    }
  });

  it('S6: a client that comes back for one is told that its answer is lost, instead of waiting for it', async () => {
    const { server, may } = largeServer(3 * MB);
    const { url } = await serveHttp(server);
    const session = await openSession(url);
    const stream = await session.open(largeCall(7));
    await stream.next();
    const { id } = stream.events.findLast((event) => event.id !== undefined)!;
    stream.hangUp();
    await stream.end();
    // The server has noticed when it has answered something that came later.
    for (let turn = 0; turn < 3; turn += 1) await ask(url, modernCall(1, 'none'));
    may.open();
    const resumed = await session.get({ 'last-event-id': id! });
    expect(await resumed.next()).toEqual({
      jsonrpc: '2.0',
      id: 7,
      error: {
        code: -32603,
        message:
          'The answer was sent and lost, and it is too large to be sent again. The request was executed.',
        data: { reason: 'RESULT_TOO_LARGE', sent: 'maybe' },
      },
    });
    await resumed.end();
  });

  it('S6: a store keeps what came after a large event', () => {
    const store = memoryEventStore({ maxBytes: 12, memory: new EventMemory(1000) });
    const first = store.add('1', 'first');
    const large = store.add('1', 'x'.repeat(13), 'short');
    const third = store.add('1', '3');
    expect(store.after(first)?.events).toEqual([
      { id: large, json: 'short' },
      { id: third, json: '3' },
    ]);
    expect(store.after(large)?.events).toEqual([{ id: third, json: '3' }]);
  });

  it('S6: what the bound in bytes counts is UTF-8', () => {
    const store = memoryEventStore({ maxBytes: 12, memory: new EventMemory(1000) });
    const first = store.add('1', '');
    const wide = store.add('1', 'ééééé€');
    expect(store.after(first)?.events).toEqual([{ id: wide, json: '' }]);
  });
});

describe('S6: one bound for all sessions of a process', () => {
  it('S6: holds however many sessions there are, and a session that ends gives back what it kept', () => {
    const memory = new EventMemory(MB);
    const stores = Array.from({ length: 500 }, () => memoryEventStore({ who: 'a', memory }));
    for (const store of stores) store.add('1', 'x'.repeat(100_000));
    expect(memory.bytes).toBeLessThanOrEqual(MB);
    expect(memory.bytes).toBeGreaterThan(MB / 2);
    for (const store of stores) store.close?.();
    expect(memory.bytes).toBe(0);
  });

  it('S6: the client that keeps most loses its oldest events, and another one nothing', () => {
    const memory = new EventMemory(MB);
    const bob = memoryEventStore({ who: 'bob', memory });
    const first = bob.add('1', 'b'.repeat(50_000));
    bob.add('1', 'B'.repeat(50_000));
    const mallory = Array.from({ length: 100 }, () => memoryEventStore({ who: 'mallory', memory }));
    const ids = mallory.map((store) => [1, 2, 3, 4].map(() => store.add('1', 'm'.repeat(20_000))));
    expect(bob.after(first)?.events.map(({ json }) => json[0])).toEqual(['B']);
    const known = mallory.filter((store, at) => store.after(ids[at]![0]!) !== undefined);
    expect(known.length).toBeLessThan(15);
    expect(memory.bytes).toBeLessThanOrEqual(MB);
  });

  it('S6: of one client the largest session gives way', () => {
    const memory = new EventMemory(MB);
    const small = memoryEventStore({ who: 'a', memory });
    const first = small.add('1', '1');
    const large = memoryEventStore({ who: 'a', memory, maxBytes: 10 * MB });
    for (let at = 0; at < 100; at += 1) large.add('1', 'x'.repeat(100_000));
    expect(small.after(first)).toEqual({ stream: '1', events: [] });
  });
});
