import { createDeferred } from '@isthmus/sdk/internal/async/deferred.js';
import type { Call, Change, Service } from '@isthmus/sdk/internal/exchange/call.js';
import type { JsonObject } from '@isthmus/sdk/internal/wire/json-rpc.js';
import { describe, expect, it } from 'vitest';
import { FakeClock } from '../../../../test/support/fake-clock.js';
import { Aggregate } from '../../src/aggregate/aggregate.js';
import { callOf } from '../support/call-of.js';

/** Servers that answer a list when the test says so, and time that moves by hand. */
function stage(...names: readonly string[]) {
  const clock = new FakeClock();
  const asked = new Map<string, { readonly call: Call; answer(): void }[]>(names.map((name) => [name, []]));
  const aggregate = new Aggregate({ info: { name: 'all', version: '1' }, clock });
  aggregate.setMembers(
    names.map((name) => ({
      name,
      absence: () => undefined,
      service: {
        info: { name, version: '1' },
        instructions: undefined,
        discoveryCache: undefined,
        capabilities: () => ({ tools: {} }),
        watch: () => () => {},
        handle: (call: Call) => {
          const { promise, resolve } = createDeferred<JsonObject>();
          asked.get(name)!.push({ call, answer: () => resolve({ tools: [{ name: 'one' }] }) });
          return promise;
        },
      } as Service,
    })),
  );
  /** Everything that does not wait for time or for a server happens. */
  const settle = () => new Promise((resolve) => setImmediate(resolve));
  const list = async (principal = 'alice') => {
    const { call, cancel } = callOf(principal);
    const listing = { page: undefined as readonly string[] | undefined, cancel };
    void aggregate.handle({ ...call, method: 'tools/list', params: {} }).then((result) => {
      listing.page = (result['tools'] as { name: string }[]).map(({ name }) => name);
    });
    await settle();
    return listing;
  };
  return {
    clock,
    list,
    async answer(name: string) {
      asked.get(name)!.pop()!.answer();
      await settle();
    },
    async pass(ms: number) {
      clock.advance(ms);
      await settle();
    },
    countAsked: (name: string) => asked.get(name)!.length,
    lastAsked: (name: string) => asked.get(name)!.at(-1)!.call,
    async listen(principal: string) {
      const heard: string[] = [];
      await aggregate.listen(
        callOf(principal).call.peer,
        { toolsListChanged: true },
        ({ kind }: Change) => void heard.push(kind),
      );
      return heard;
    },
  };
}

describe('a list over several servers', () => {
  it('is answered when no server has answered for two seconds', async () => {
    const { list, answer, pass } = stage('a', 'b', 'c');
    const listing = await list();
    await pass(500);
    await answer('a');
    await pass(1900);
    await answer('b');
    await pass(1999);
    expect(listing.page).toBeUndefined();
    await pass(1);
    expect(listing.page).toEqual(['a__one', 'b__one']);
  });

  it('is answered after five seconds at the latest, and not before the first answer', async () => {
    const { list, answer, pass } = stage('a', 'b');
    const silent = await list('alice');
    await pass(4999);
    expect(silent.page).toBeUndefined();
    await pass(1);
    expect(silent.page).toEqual([]);

    const slow = await list('bob');
    await pass(4000);
    await answer('a');
    await pass(1000);
    expect(slow.page).toEqual(['a__one']);
  });

  it('does not wait again for a server that was late, and tells its principal when that answers', async () => {
    const { list, answer, pass, listen } = stage('good', 'late');
    await list();
    await answer('good');
    await pass(2000);
    const heard = { alice: await listen('alice'), bob: await listen('bob') };
    const second = await list();
    await answer('good');
    expect(second.page).toEqual(['good__one']);
    expect(heard.alice).toEqual([]);
    await answer('late');
    expect(heard).toEqual({ alice: ['tools'], bob: [] });
  });

  it('asks a server that was late once in five seconds', async () => {
    const { list, answer, pass, countAsked, lastAsked } = stage('good', 'late');
    await list();
    await answer('good');
    await pass(2000);
    for (let turn = 0; turn < 3; turn += 1) {
      await list();
      await answer('good');
    }
    expect(countAsked('late')).toBe(1);
    expect(lastAsked('late').cancellation.aborted).toBe(false);
    await pass(5000);
    expect(lastAsked('late').cancellation.aborted).toBe(true);
    await list();
    expect(countAsked('late')).toBe(2);
  });

  it('waits for a slow server once it has answered too late, so that it is not missed each time', async () => {
    const { list, answer, pass } = stage('good', 'slow');
    await list();
    await answer('good');
    await pass(2000);
    await answer('slow');
    const next = await list();
    await answer('good');
    await pass(4000);
    expect(next.page).toBeUndefined();
    await answer('slow');
    expect(next.page).toEqual(['good__one', 'slow__one']);
  });

  it('treats a server that was late as before when it answers with the others', async () => {
    const { list, answer, pass } = stage('good', 'late');
    await list();
    await answer('good');
    await pass(2000);
    await pass(5000);
    const back = await list();
    await answer('late');
    await answer('good');
    expect(back.page).toEqual(['good__one', 'late__one']);
    const next = await list();
    await answer('good');
    await pass(1999);
    expect(next.page).toBeUndefined();
    await pass(1);
    expect(next.page).toEqual(['good__one']);
  });

  it('that is cancelled is cancelled at the servers', async () => {
    const { list, lastAsked } = stage('a', 'b');
    const listing = await list();
    listing.cancel();
    expect(lastAsked('a').cancellation.aborted).toBe(true);
    expect(lastAsked('b').cancellation.aborted).toBe(true);
  });

  it('leaves no timer behind when all have answered', async () => {
    const { list, answer, clock } = stage('a', 'b');
    await list();
    await answer('b');
    await answer('a');
    expect(clock.waiting).toBe(0);
  });
});
