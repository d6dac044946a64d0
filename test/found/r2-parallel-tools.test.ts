import { describe, expect, it } from 'vitest';
import {
  begin,
  declined,
  Person,
  session,
  settle,
  toolCall,
} from '../../packages/sdk/test/support/legacy-session.js';

/** A modern client before a legacy server on a shared process: each of its calls is an owner of its own. */
function parallel(clients: readonly [string, string] = ['address 127.0.0.1', 'address 127.0.0.1']) {
  const it = session();
  const voice = it.join();
  const people = [new Person(), new Person()] as const;
  const call = (which: 0 | 1, name: string, signal?: AbortSignal) => {
    const behalf = { ...people[which].behalf, client: clients[which] };
    return begin(voice, toolCall(name, { timeoutMs: 60_000, behalf, ...(signal && { signal }) }));
  };
  const pass = async (ms: number) => {
    for (let left = ms; left > 0; left -= 500) {
      it.clock.advance(Math.min(left, 500));
      await settle();
    }
  };
  return { ...it, people, call, pass };
}

const REFUSED = {
  code: -32603,
  message:
    '2 conversations share this connection and have calls in flight, and the question does not say which of them ' +
    'it belongs to; give each client its own process',
};

describe('R2: one client calls two tools in parallel, and one of them asks', () => {
  it('R2: the question is held until the long call has ended, and reaches the client through the right call', async () => {
    const it = parallel();
    const long = it.call(0, 'long');
    const longId = it.request();
    const asking = it.call(1, 'ask');
    const askingId = it.request();
    it.elicit(['q']);
    await it.pass(15_000);
    expect([it.said(), it.people[0].asked, it.people[1].asked]).toEqual([[], [], []]);
    it.done(longId);
    await settle();
    expect([long.outcome, it.people[0].asked, it.people[1].asked]).toEqual(['done', [], ['question q']]);
    it.people[1].decline();
    await settle();
    expect(it.said()).toEqual([declined('q')]);
    it.done(askingId);
    await asking.settled;
    expect(asking.outcome).toBe('done');
  });

  it('R2: it is refused after 20 s, before the time limits of the call and of the server, and not earlier', async () => {
    const it = parallel();
    it.call(0, 'long');
    it.call(1, 'ask');
    it.said();
    it.elicit(['q']);
    await it.pass(19_999);
    expect(it.said()).toEqual([]);
    await it.pass(1);
    expect(it.said()).toEqual([{ jsonrpc: '2.0', id: 'q', error: REFUSED }]);
  });

  it('R2: nothing of another client waits meanwhile', async () => {
    const it = parallel();
    it.call(0, 'long');
    it.call(1, 'ask');
    it.said();
    it.elicit(['q']);
    await it.pass(10_000);
    const other = begin(it.join(), toolCall('echo', { timeoutMs: 60_000 }));
    it.done(it.request());
    await other.settled;
    expect(other.outcome).toBe('done');
  });

  it('R2: where both ask, the first question is refused after 2 s, so that the second can become clear', async () => {
    const it = parallel();
    it.call(0, 'one');
    const first = it.request();
    it.call(1, 'two');
    it.said();
    it.elicit(['q1']);
    it.elicit(['q2']);
    await it.pass(2000);
    expect(it.said()).toEqual([{ jsonrpc: '2.0', id: 'q1', error: REFUSED }]);
    it.done(first);
    await settle();
    expect([it.people[0].asked, it.people[1].asked]).toEqual([[], ['question q2']]);
  });

  it('R2, S2: a question that may be that of another client is refused after 2 s, as before', async () => {
    const it = parallel(['address 127.0.0.1', 'address 127.0.0.2']);
    it.call(0, 'long');
    it.call(1, 'ask');
    it.said();
    it.elicit(['q']);
    await it.pass(1999);
    expect(it.said()).toEqual([]);
    await it.pass(1);
    expect(it.said()).toEqual([{ jsonrpc: '2.0', id: 'q', error: REFUSED }]);
  });

  it('R2: a question that may be that of a call which was given up meanwhile is held no longer', async () => {
    const it = parallel();
    const over = new AbortController();
    it.call(0, 'long');
    const longId = it.request();
    it.call(1, 'ask', over.signal);
    it.said();
    it.elicit(['q']);
    await it.pass(5000);
    over.abort();
    await settle();
    it.said();
    await it.pass(1000);
    expect(it.said()).toEqual([{ jsonrpc: '2.0', id: 'q', error: REFUSED }]);
    it.done(longId);
    await settle();
    expect(it.people[0].asked).toEqual([]);
  });
});
