import { describe, expect, it } from 'vitest';
import { begin, declined, Person, session, settle, toolCall } from '../../support/legacy-session.js';

describe('a question about a call that is made on behalf of somebody', () => {
  it('is put to whom it is made for, and not to whoever makes it', async () => {
    const it = session();
    const voice = new Person();
    const ada = new Person();
    const call = begin(it.join(voice.answers), toolCall('ask', { behalf: ada.behalf }));
    const id = it.request();
    it.elicit(['q']);
    expect(ada.asked).toEqual(['question q']);
    ada.decline();
    await settle();
    expect(it.said()).toEqual([declined('q')]);
    it.done(id);
    await call.settled;
    expect(call.outcome).toBe('done');
    expect(voice.asked).toEqual([]);
  });

  it('is not put to another for whom the same voice speaks: it is held, and refused after two seconds', async () => {
    const it = session();
    const caller = it.join();
    const [ada, bob] = [new Person(), new Person()];
    for (const person of [ada, bob])
      begin(caller, toolCall('ask', { behalf: person.behalf, timeoutMs: 9000 }));
    it.said();
    it.elicit(['q']);
    it.clock.advance(1999);
    await settle();
    expect(it.said()).toEqual([]);
    it.clock.advance(1);
    await settle();
    expect(it.said()).toMatchObject([{ id: 'q', error: { code: -32603 } }]);
    expect([ada.asked, bob.asked]).toEqual([[], []]);
  });

  it('is put to the one whose call goes on when that of the other ends meanwhile', async () => {
    const it = session();
    const caller = it.join();
    const [ada, bob] = [new Person(), new Person()];
    begin(caller, toolCall('ask', { behalf: ada.behalf }));
    begin(caller, toolCall('ask', { behalf: bob.behalf }));
    const [, second] = it.said();
    it.elicit(['q']);
    it.done(second!['id'] as number);
    await settle();
    expect([ada.asked, bob.asked]).toEqual([['question q'], []]);
  });

  /** Ada’s call of what is known to ask is cancelled before or after it has asked; then Bob’s runs. */
  async function cancelled(when: 'before it asked' | 'while she thinks') {
    const it = session();
    const caller = it.join();
    const [ada, bob] = [new Person(), new Person()];
    const known = begin(caller, toolCall('ask', { behalf: ada.behalf }));
    const first = it.request();
    it.elicit([1]);
    ada.decline();
    await settle();
    it.done(first);
    await known.settled;
    const over = new AbortController();
    begin(caller, toolCall('ask', { behalf: ada.behalf, signal: over.signal }));
    if (when === 'while she thinks') it.elicit([2]);
    over.abort();
    begin(caller, toolCall('echo', { behalf: bob.behalf, timeoutMs: 9000 }));
    it.said();
    return { ...it, ada, bob };
  }

  it('reaches nobody when it crosses the cancellation of the call', async () => {
    const it = await cancelled('before it asked');
    it.elicit(['crossing']);
    it.clock.advance(2000);
    await settle();
    expect(it.said()).toMatchObject([{ id: 'crossing', error: { code: -32603 } }]);
    expect([it.ada.asked, it.bob.asked]).toEqual([['question 1'], []]);
  });

  it('is not refused because somebody else gave up thinking; it waits for a second', async () => {
    const it = await cancelled('while she thinks');
    it.elicit(['bob’s']);
    it.clock.advance(999);
    await settle();
    expect(it.bob.asked).toEqual([]);
    it.clock.advance(1);
    await settle();
    expect([it.ada.asked, it.bob.asked]).toEqual([['question 1', 'question 2'], ['question bob’s']]);
  });
});

describe('a question on the stream of a request', () => {
  it('is that of whoever made the request, at once and however many others there are', () => {
    const it = session();
    const caller = it.join();
    const people = [new Person(), new Person(), new Person()];
    for (const person of people) begin(caller, toolCall('ask', { behalf: person.behalf }));
    for (const [at, { id }] of it.said().entries()) it.elicit([at], id as number);
    expect(people.map(({ asked }) => asked)).toEqual([['question 0'], ['question 1'], ['question 2']]);
  });

  it('is that of the voice which made the request for itself', () => {
    const it = session();
    const people = [new Person(), new Person()];
    for (const person of people) begin(it.join(person.answers), toolCall('ask'));
    const [, second] = it.said();
    it.elicit(['q'], second!['id'] as number);
    expect(people.map(({ asked }) => asked)).toEqual([[], ['question q']]);
  });

  it('teaches nothing about what has to run alone: it is always clear', async () => {
    const it = session();
    const [ada, bob] = [new Person(), new Person()];
    const caller = it.join(ada.answers);
    begin(caller, toolCall('ask'));
    const id = it.request();
    it.elicit(['q'], id);
    ada.decline();
    await settle();
    it.said();
    begin(it.join(bob.answers), toolCall('ask'));
    expect(it.said()).toHaveLength(1);
  });

  it('is nobody’s when that request has its answer, and does not reach somebody whose call is in flight', async () => {
    const it = session();
    const [ada, bob] = [new Person(), new Person()];
    begin(it.join(ada.answers), toolCall('x'));
    const answered = it.request();
    it.done(answered);
    begin(it.join(bob.answers), toolCall('x'));
    it.said();
    it.elicit(['q'], answered);
    await settle();
    expect(it.said()).toEqual([
      {
        jsonrpc: '2.0',
        id: 'q',
        error: {
          code: -32603,
          message: '2 conversations share this connection, and the question belongs to none of their calls',
        },
      },
    ]);
    expect([ada.asked, bob.asked]).toEqual([[], []]);
  });
});

describe('a question that is held', () => {
  function two() {
    const it = session();
    const [ada, bob] = [new Person(), new Person()];
    const callers = [it.join(ada.answers), it.join(bob.answers)];
    for (const caller of callers) begin(caller, toolCall('ask', { timeoutMs: 9000 }));
    const timers = it.clock.waiting;
    const ids = it.said().map(({ id }) => id as number);
    it.elicit(['q']);
    return { ...it, ada, bob, callers, ids, timers };
  }

  it('can be taken back: it is not answered, nobody is asked, and no timer is left', async () => {
    const it = two();
    it.takeBack('q');
    await settle();
    expect(it.clock.waiting).toBe(it.timers);
    it.done(it.ids[0]!);
    await settle();
    expect(it.said()).toEqual([]);
    expect([it.ada.asked, it.bob.asked]).toEqual([[], []]);
  });

  it('ends with the connection, and no timer is left', async () => {
    const it = two();
    it.end();
    await settle();
    expect(it.said()).toEqual([]);
    expect(it.clock.waiting).toBe(0);
    expect([it.ada.asked, it.bob.asked]).toEqual([[], []]);
  });

  it('is not put to the one who stays when the other leaves: a call that was given up may have asked', async () => {
    const it = two();
    it.callers[0]!.leave('it left');
    await settle();
    it.said();
    it.clock.advance(2000);
    await settle();
    expect(it.said()).toMatchObject([{ id: 'q', error: { code: -32603 } }]);
    expect([it.ada.asked, it.bob.asked]).toEqual([[], []]);
  });

  it('is put to the one who stays when the late answer to what was given up has come', async () => {
    const it = two();
    it.callers[0]!.leave('it left');
    await settle();
    it.done(it.ids[0]!);
    await settle();
    expect([it.ada.asked, it.bob.asked]).toEqual([[], ['question q']]);
  });
});

describe('several questions in one breath', () => {
  it('of several calls of one owner are one of each, and not all of one call', async () => {
    const it = session();
    const ada = new Person();
    const caller = it.join(ada.answers);
    begin(caller, toolCall('ask'));
    begin(caller, toolCall('ask'));
    const ids = it.said().map(({ id }) => id as number);
    it.elicit([1, 2]);
    ada.decline();
    ada.decline();
    await settle();
    for (const id of ids) it.done(id);
    it.said();
    // A call that were known to ask several at once would keep others off for as long as the person thinks.
    begin(caller, toolCall('ask'));
    it.elicit([3]);
    it.said();
    it.clock.advance(50);
    begin(it.join(), toolCall('echo'));
    expect(it.said()).toHaveLength(1);
  });
});
