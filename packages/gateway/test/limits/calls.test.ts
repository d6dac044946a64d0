import { describe, expect, it } from 'vitest';
import { FakeClock } from '../../../../test/support/fake-clock.js';
import {
  ask,
  legacyCall,
  legacyRequest,
  modernCall,
  openSession,
  send,
  until,
} from '../../../sdk/test/support/http-server.js';
import { as, createWorker, serveLimited, work } from '../support/limits.js';

const FULL = {
  status: 503,
  retryAfter: '1',
  message: 'weather is busy: 1 running (maxConcurrent); try again in 1 s',
  data: {
    reason: 'BUSY',
    sent: 'no',
    status: 503,
    server: 'weather',
    limit: 'maxConcurrent',
    retryAfterMs: 1000,
  },
};

const OWN = {
  status: 429,
  retryAfter: '1',
  message:
    'You have as many calls under way at weather as it takes from one caller (maxConcurrentPerCaller: 1): wait until one has ended; try again in 1 s',
  data: {
    reason: 'BUSY',
    sent: 'no',
    status: 429,
    server: 'weather',
    limit: 'maxConcurrentPerCaller',
    retryAfterMs: 1000,
  },
};

describe('past the limit of a server', () => {
  it('a call is refused with 503 and Retry-After where nobody may wait', async () => {
    const { server, end } = createWorker();
    const { url, refusals, load } = await serveLimited(server, { limits: { maxConcurrent: 1, maxQueue: 0 } });
    const first = work(url, 'ada', 'a1');
    await until('first call', () => load().running === 1);
    expect(await work(url, 'bob', 'b1')).toEqual(FULL);
    await end('a1');
    expect(await first).toBe('a1 done');
    const second = work(url, 'bob', 'b2');
    await end('b2');
    expect(await second).toBe('b2 done');
    expect(refusals).toEqual([
      {
        server: 'weather',
        limit: 'maxConcurrent',
        status: 503,
        method: 'tools/call',
        principal: 'bob',
        retryAfterMs: 1000,
      },
    ]);
    expect(load()).toEqual({ running: 0, waiting: 0, asking: 0, listens: 0 });
  });

  it('a call waits for its turn where it may', async () => {
    const { server, begun, end } = createWorker();
    const { url, load } = await serveLimited(server, { limits: { maxConcurrent: 1, maxQueue: 1 } });
    const first = work(url, 'ada', 'a1');
    await until('first call', () => load().running === 1);
    const second = work(url, 'bob', 'b1');
    await until('second call', () => load().waiting === 1);
    expect(await work(url, 'eve', 'e1')).toMatchObject({
      status: 503,
      retryAfter: '1',
      message: 'weather is busy: 1 running (maxConcurrent), 1 waiting (maxQueue); try again in 1 s',
    });
    expect(begun).toEqual(['a1']);
    await end('a1');
    await end('b1');
    expect([await first, await second]).toEqual(['a1 done', 'b1 done']);
  });

  it('a call does not wait for ever', async () => {
    const clock = new FakeClock();
    const { server, begun, end } = createWorker();
    const limits = { maxConcurrent: 1, maxQueueMs: 5000 };
    const { url, load } = await serveLimited(server, { limits, clock });
    const first = work(url, 'ada', 'a1');
    await until('first call', () => load().running === 1);
    const second = work(url, 'bob', 'b1');
    await until('second call', () => load().waiting === 1);
    clock.advance(5000);
    expect(await second).toMatchObject({
      status: 503,
      retryAfter: '1',
      message: 'weather is busy: this call has waited 5 s for a place (maxQueueMs); try again in 1 s',
    });
    await end('a1');
    await first;
    expect(begun).toEqual(['a1']);
    expect(clock.waiting).toBe(0);
  });

  it('a call whose client hangs up leaves the queue at once, and never begins', async () => {
    const { server, begun, end } = createWorker();
    const { url, load } = await serveLimited(server, { limits: { maxConcurrent: 1, maxQueue: 1 } });
    const first = work(url, 'ada', 'a1');
    await until('first call', () => load().running === 1);
    const gone = send(url, modernCall(1, 'work', { label: 'gone' }, { headers: as('bob') }));
    await until('second call', () => load().waiting === 1);
    gone.destroy();
    await until('empty queue', () => load().waiting === 0);
    const third = work(url, 'eve', 'e1');
    await until('third call', () => load().waiting === 1);
    await end('a1');
    await end('e1');
    expect([await first, await third]).toEqual(['a1 done', 'e1 done']);
    expect(begun).toEqual(['a1', 'e1']);
  });
});

describe('past the limit of a caller', () => {
  const limits = { maxConcurrentPerCaller: 1, maxQueue: 0 };

  it('a call is refused with 429 and Retry-After, and others are not affected', async () => {
    const { server, end } = createWorker();
    const { url, load } = await serveLimited(server, { limits });
    const ada = work(url, 'ada', 'a1');
    await until('first call', () => load().running === 1);
    expect(await work(url, 'ada', 'a2')).toEqual(OWN);
    const bob = work(url, 'bob', 'b1');
    await end('b1');
    expect(await bob).toBe('b1 done');
    await end('a1');
    expect(await ada).toBe('a1 done');
  });

  it('a call waits where it may, and holds up nobody else', async () => {
    const { server, begun, end } = createWorker();
    const waits = { maxConcurrent: 2, maxConcurrentPerCaller: 1, maxQueue: 1 };
    const { url, load } = await serveLimited(server, { limits: waits });
    const first = work(url, 'ada', 'a1');
    await until('first call', () => load().running === 1);
    const second = work(url, 'ada', 'a2');
    await until('second call', () => load().waiting === 1);
    // The queue is full, and it is her own doing.
    expect(await work(url, 'ada', 'a3')).toEqual(OWN);
    const bob = work(url, 'bob', 'b1');
    await end('b1');
    expect(await bob).toBe('b1 done');
    expect(begun).toEqual(['a1', 'b1']);
    await end('a1');
    await end('a2');
    expect([await first, await second]).toEqual(['a1 done', 'a2 done']);
  });

  it('a legacy session gets an error with data.retryAfterMs, and goes on', async () => {
    const { server, end } = createWorker();
    const { url, load } = await serveLimited(server, { limits });
    const session = await openSession(url, { headers: as('ada') });
    const first = session.post(legacyCall(1, 'work', { label: 'a1' }));
    await until('first call', () => load().running === 1);
    const second = await session.post(legacyCall(2, 'work', { label: 'a2' }));
    expect([second.status, second.json]).toEqual([
      200,
      { jsonrpc: '2.0', id: 2, error: { code: -32603, message: OWN.message, data: OWN.data } },
    ]);
    // Another session of the same principal is the same caller.
    const other = await openSession(url, { headers: as('ada') });
    expect((await other.post(legacyCall(1, 'work', { label: 'a3' }))).json.error?.data).toEqual(OWN.data);
    // What is no call is not counted.
    expect((await session.post(legacyRequest(3, 'ping'))).json.result).toEqual({});
    await end('a1');
    expect((await first).json.result?.content[0].text).toBe('a1 done');
  });

  it('nobody in particular: each legacy session is a caller, all modern clients are one together', async () => {
    const { server, end } = createWorker();
    const { url, load } = await serveLimited(server, { limits }, {});
    const sessions = [await openSession(url), await openSession(url)];
    const calls = sessions.map((session, n) => session.post(legacyCall(1, 'work', { label: `s${n}` })));
    await until('both calls', () => load().running === 2);
    expect((await sessions[0]!.post(legacyCall(2, 'work', { label: 's' }))).json.error?.data).toEqual(
      OWN.data,
    );
    const first = ask(url, modernCall(1, 'work', { label: 'm1' }));
    await until('third call', () => load().running === 3);
    expect((await ask(url, modernCall(1, 'work', { label: 'm2' }))).status).toBe(429);
    for (const label of ['s0', 's1', 'm1']) await end(label);
    await Promise.all([...calls, first]);
    expect(load().running).toBe(0);
  });
});

it('in a stream that has begun, the error says it all', async () => {
  const clock = new FakeClock();
  const { server, end } = createWorker();
  const limits = { maxConcurrent: 1, maxQueueMs: 20_000 };
  const { url, load } = await serveLimited(server, { limits, clock }, { keepAliveMs: 5000, clock });
  const first = ask(url, modernCall(1, 'work', { label: 'a1' }));
  await until('first call', () => load().running === 1);
  const second = ask(url, modernCall(2, 'work', { label: 'a2' }));
  await until('second call', () => load().waiting === 1);
  for (let step = 0; step < 8; step += 1) clock.advance(2500);
  const { status, headers, messages } = await second;
  expect([status, headers['retry-after'], messages[0]?.error?.data]).toEqual([
    200,
    undefined,
    { reason: 'BUSY', sent: 'no', status: 503, server: 'weather', limit: 'maxQueueMs', retryAfterMs: 1000 },
  ]);
  await end('a1');
  await first;
});

it('a call that fails gives its place back, whether at once or later', async () => {
  const { server, end } = createWorker();
  server.use(async (call, next) => {
    if (call.params['name'] === 'quick') throw new Error('no');
    return next();
  });
  const { url, load } = await serveLimited(server, { limits: { maxConcurrent: 1, maxQueue: 0 } });
  for (let n = 0; n < 3; n += 1) {
    expect((await ask(url, modernCall(n, 'quick'))).json.error?.message).toBe('no');
    expect((await ask(url, modernCall(n, 'no such tool'))).json.error?.code).toBe(-32602);
  }
  const ok = work(url, 'ada', 'a1');
  await end('a1');
  expect(await ok).toBe('a1 done');
  expect(load().running).toBe(0);
});
