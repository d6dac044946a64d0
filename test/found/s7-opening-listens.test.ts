import { LimitedListens } from '@isthmus/gateway/internal/limits/listens.js';
import { createServer } from '@isthmus/sdk';
import { createDeferred } from '@isthmus/sdk/internal/async/deferred.js';
import type { ListenEnd, OpenListen, Peer, Service } from '@isthmus/sdk/internal/exchange/call.js';
import { describe, expect, it } from 'vitest';

/** Subscriptions that open when the test says so, with so many places. */
function limited(maxListens: number) {
  const opened: { open(): void; fail(): void; end(): void; readonly stops: number }[] = [];
  const service: Service = {
    ...createServer({ name: 'far', version: '1' }),
    async listen(_peer, honoured): Promise<OpenListen> {
      const opening = createDeferred<void>();
      const ended = createDeferred<ListenEnd>();
      const far = {
        open: () => opening.resolve(),
        fail: () => opening.reject(new Error('not now')),
        end: () => ended.resolve({ error: undefined }),
        stops: 0,
      };
      opened.push(far);
      await opening.promise;
      const stop = () => {
        far.stops += 1;
      };
      return { honoured, ended: ended.promise, stop };
    },
  };
  const limits = { maxListens, maxListensPerCaller: Number.POSITIVE_INFINITY };
  const listens = new LimitedListens(service, 'far', limits, ({ message }) => new Error(message));
  const listen = (principal: string) => {
    const peer: Peer = { era: 'modern', principal } as unknown as Peer;
    const open = listens.listen(peer, { toolsListChanged: true }, () => {});
    open.catch(() => {});
    return open;
  };
  return { listens, listen, opened };
}

const BUSY = 'far is busy: all 2 subscriptions are taken (maxListens)';
const ENDED =
  'All subscriptions are taken, and this client has most of them: this one was ended for another client';

describe('S7: a subscription of a client that has less than others', () => {
  it('takes the place of one that is open before one that is still opening', async () => {
    const { listens, listen, opened } = limited(2);
    const opening = listen('mallory');
    const second = listen('mallory');
    opened[1]!.open();
    const open = await second;
    const bob = listen('bob');
    opened[2]!.open();
    await bob;
    expect(await open.ended).toMatchObject({ error: { message: ENDED } });
    expect(opened[1]!.stops).toBe(1);
    opened[0]!.open();
    await opening;
    expect([listens.open, opened[0]!.stops]).toEqual([2, 0]);
  });

  it('has one that is still opening refused where none is open, and stopped when it opens after all', async () => {
    const { listens, listen, opened } = limited(2);
    const [first, second] = [listen('mallory'), listen('mallory')];
    const bob = listen('bob');
    opened[2]!.open();
    await bob;
    await expect(first).rejects.toThrow(BUSY);
    opened[0]!.open();
    await expect.poll(() => opened[0]!.stops).toBe(1);
    opened[1]!.open();
    await second;
    expect(listens.open).toBe(2);
  });

  it('is promised a place that no other is promised: two that come at once end two', async () => {
    const { listens, listen, opened } = limited(4);
    const mallory = [1, 2, 3, 4].map(() => listen('mallory'));
    for (const far of opened) far.open();
    await Promise.all(mallory);
    const [bob, cyd] = [listen('bob'), listen('cyd')];
    expect(opened).toHaveLength(6);
    for (const far of opened.slice(4)) far.open();
    await Promise.all([bob, cyd]);
    expect(opened.map(({ stops }) => stops)).toEqual([1, 1, 0, 0, 0, 0]);
    expect(listens.open).toBe(4);
  });

  it('costs the other client nothing when it does not open', async () => {
    const { listens, listen, opened } = limited(2);
    const mallory = [listen('mallory'), listen('mallory')];
    for (const far of opened) far.open();
    await Promise.all(mallory);
    const bob = listen('bob');
    opened[2]!.fail();
    await expect(bob).rejects.toThrow('not now');
    expect([listens.open, opened[0]!.stops, opened[1]!.stops]).toEqual([2, 0, 0]);
    // The place is counted once: mallory is still at the bound.
    await expect(listen('mallory')).rejects.toThrow(BUSY);
  });

  it('does not give back a place whose subscription ended meanwhile', async () => {
    const { listens, listen, opened } = limited(2);
    const mallory = [listen('mallory'), listen('mallory')];
    for (const far of opened) far.open();
    await Promise.all(mallory);
    const bob = listen('bob');
    opened[0]!.end();
    await (await mallory[0]!).ended;
    opened[2]!.fail();
    await expect(bob).rejects.toThrow('not now');
    expect(listens.open).toBe(1);
  });
});
