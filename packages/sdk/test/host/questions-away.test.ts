import { describe, expect, it } from 'vitest';
import { FakeClock } from '../../../../test/support/fake-clock.js';
import type { Answers, Client, ElicitResult } from '../../src/index.js';
import {
  answersOf,
  elicitation,
  failure,
  gate,
  hostOf,
  isProven,
  puppet,
  type Stage,
  settle,
  tool,
  type Wire,
} from '../support/host-sharing.js';

/** While a person thinks about a question of a shared legacy server, others run; every answer finds its call. */

/** Somebody who answers when the test says so. */
function person(who: string): { readonly answers: Answers; readonly asked: string[]; answer(): void } {
  const asked: string[] = [];
  const open: ((result: ElicitResult) => void)[] = [];
  return {
    asked,
    answers: {
      elicit: ({ message }) => {
        asked.push(message);
        return new Promise((resolve) => open.push(resolve));
      },
    },
    answer: () => open.shift()!({ action: 'accept', content: { answer: who } }),
  };
}

function saidBy(who: string, id: number | string): Wire {
  return { id, result: { action: 'accept', content: { answer: who } }, jsonrpc: '2.0' } as Wire;
}

/** Ada and Bob share a process whose tools `ask` and `wizard` are known to ask, the latter again and again. */
async function company() {
  const clock = new FakeClock();
  const { definition, stage } = await puppet('legacy');
  const host = hostOf(definition, clock);
  const teacher = host.conversation('it', { answers: answersOf('teacher') });
  const [ada, bob, cyd] = [person('ada'), person('bob'), person('cyd')];
  const [a, b, c] = [ada, bob, cyd].map(({ answers }) => host.conversation('it', { answers })) as [
    Client,
    Client,
    Client,
  ];
  await teach(teacher, stage, 'ask', 1);
  const server = await teach(teacher, stage, 'wizard', 2);
  await isProven(host);
  return { clock, host, server, ada, bob, cyd, a, b, c };
}

/** Lets a tool ask so many times, one question after the other. */
async function teach(client: Client, stage: Promise<Stage>, name: string, times: number): Promise<Stage> {
  const call = client.callTool(name);
  const server = await stage;
  const request = await server.next();
  for (let each = 0; each < times; each += 1) {
    server.elicit(`${name} ${each}`, 'Well?');
    await server.next();
  }
  server.say(request, 'asked');
  await call;
  return server;
}

/** A call that has asked; others may run. */
async function askedBy(server: Stage, clock: FakeClock, client: Client, name: string, id: string) {
  const call = client.callTool(name, {}, { timeoutMs: 1000 });
  const request = await server.expect('tools/call');
  server.elicit(id, `question ${id}`);
  expect(await server.roundTrip(client)).toEqual([]);
  clock.advance(50);
  return { call, request };
}

describe('while a person thinks', () => {
  it('another conversation runs what asks, too, and both get their own answers', async () => {
    const { clock, server, ada, bob, a, b } = await company();
    const first = await askedBy(server, clock, a, 'ask', '1');
    const second = await askedBy(server, clock, b, 'ask', '2');
    expect([ada.asked, bob.asked]).toEqual([['question 1'], ['question 2']]);
    bob.answer();
    expect(await server.next()).toEqual(saidBy('bob', '2'));
    server.say(second.request, 'second');
    expect(await tool(second.call)).toBe('second');
    ada.answer();
    expect(await server.next()).toEqual(saidBy('ada', '1'));
    server.say(first.request, 'first');
    expect(await tool(first.call)).toBe('first');
  });

  it('two that are known to ask again take turns, and no question reaches the wrong one', async () => {
    const { clock, server, ada, bob, a, b } = await company();
    const first = await askedBy(server, clock, a, 'wizard', 'a1');
    const second = await askedBy(server, clock, b, 'wizard', 'b1');
    ada.answer();
    expect(await server.next()).toEqual(saidBy('ada', 'a1'));
    // The server could ask either of them now: Bob’s answer waits for Ada’s next question, or the end of her call.
    bob.answer();
    expect(await server.roundTrip(b)).toEqual([]);
    server.elicit('a2', 'question a2');
    expect(await server.roundTrip(a)).toEqual([]);
    clock.advance(50);
    expect(await server.next()).toEqual(saidBy('bob', 'b1'));
    server.elicit('b2', 'question b2');
    expect(await server.roundTrip(b)).toEqual([]);
    ada.answer();
    expect(await server.roundTrip(a)).toEqual([]);
    bob.answer();
    expect(await server.next()).toEqual(saidBy('bob', 'b2'));
    server.say(second.request, 'second');
    expect(await tool(second.call)).toBe('second');
    expect(await server.next()).toEqual(saidBy('ada', 'a2'));
    server.say(first.request, 'first');
    expect(await tool(first.call)).toBe('first');
    expect([ada.asked, bob.asked]).toEqual([
      ['question a1', 'question a2'],
      ['question b1', 'question b2'],
    ]);
  });

  it('a call that takes long keeps no answer waiting that leads to no other question', async () => {
    const { clock, server, ada, a, b } = await company();
    const first = await askedBy(server, clock, a, 'ask', '1');
    const long = b.callTool('long');
    const slow = await server.expect('tools/call');
    ada.answer();
    expect(await server.next()).toEqual(saidBy('ada', '1'));
    server.say(first.request, 'first');
    expect(await tool(first.call)).toBe('first');
    server.say(slow, 'long');
    expect(await tool(long)).toBe('long');
  });

  it('R2: a call that takes long keeps no answer waiting that may lead to another, nor the calls of others', async () => {
    const { clock, server, ada, cyd, a, b, c } = await company();
    const first = await askedBy(server, clock, a, 'wizard', '1');
    const long = b.callTool('long', {}, { timeoutMs: 60_000 });
    const slow = await server.expect('tools/call');
    ada.answer();
    expect(await server.next()).toEqual(saidBy('ada', '1'));
    const later = c.callTool('echo', {}, { timeoutMs: 60_000 });
    server.say(await server.expect('tools/call'), 'hello');
    expect(await tool(later)).toBe('hello');
    // The next question may be that of the long call: it is held, and then it is clear.
    server.elicit('2', 'question 2');
    expect(await server.roundTrip(a)).toEqual([]);
    clock.advance(900);
    server.say(slow, 'long');
    expect(await tool(long)).toBe('long');
    expect(await server.roundTrip(a)).toEqual([]);
    ada.answer();
    expect(await server.next()).toEqual(saidBy('ada', '2'));
    server.say(first.request, 'first');
    expect(await tool(first.call)).toBe('first');
    expect([ada.asked, cyd.asked]).toEqual([['question 1', 'question 2'], []]);
  });

  it('the answer may make calls of its own, while another conversation runs what asks', async () => {
    const { clock, server, b, host } = await company();
    const go = gate();
    const a: Client = host.conversation('it', {
      answers: {
        async elicit() {
          await go.promise;
          const said = await Promise.all([tool(a.callTool('one')), tool(a.callTool('two'))]);
          return { action: 'accept', content: { answer: said.join(' ') } };
        },
      },
    });
    const first = await askedBy(server, clock, a, 'wizard', '1');
    const alone = b.callTool('ask');
    const other = await server.expect('tools/call');
    go.open();
    await settle();
    for (const name of ['one', 'two']) {
      const nested = await server.expect('tools/call');
      expect(nested.params.name).toBe(name);
      server.say(nested, name);
    }
    // The answer itself waits for what may ask just now.
    expect(await server.roundTrip(b)).toEqual([]);
    server.say(other, 'other');
    expect(await tool(alone)).toBe('other');
    expect((await server.next()).result.content).toEqual({ answer: 'one two' });
    server.say(first.request, 'first');
    expect(await tool(first.call)).toBe('first');
  });

  it('R2: a call that asks several at once keeps nobody waiting, and its late question reaches nobody else', async () => {
    const { clock, server, ada, bob, a, b } = await company();
    for (const run of ['learn', 'know']) {
      const call = a.callTool('form', {}, { timeoutMs: 1000 });
      const request = await server.expect('tools/call');
      const [one, two] = [`${run} 1`, `${run} 2`];
      if (run === 'learn') server.send(elicitation(one, one), elicitation(two, two));
      else server.elicit(one, one);
      expect(await server.roundTrip(a)).toEqual([]);
      clock.advance(50);
      const other = b.callTool('echo');
      const echo = await server.expect('tools/call');
      if (run === 'know') {
        server.elicit(two, two);
        expect(await server.roundTrip(a)).toEqual([]);
        expect(ada.asked.includes(two)).toBe(false);
      }
      server.say(echo, 'echo');
      expect(await tool(other)).toBe('echo');
      expect(await server.roundTrip(a)).toEqual([]);
      ada.answer();
      expect(await server.next()).toEqual(saidBy('ada', one));
      ada.answer();
      expect(await server.next()).toEqual(saidBy('ada', two));
      server.say(request, 'filled');
      expect(await tool(call)).toBe('filled');
    }
    expect(ada.asked).toEqual(['learn 1', 'learn 2', 'know 1', 'know 2']);
    expect(bob.asked).toEqual([]);
  });
});

describe('a question that may be that of several conversations', () => {
  it('goes to the one whose call is left when the others have ended, and not to one that came later', async () => {
    const { clock, server, ada, bob, cyd, a, b, c } = await company();
    const first = a.callTool('new');
    const asking = await server.expect('tools/call');
    const second = b.callTool('echo');
    const other = await server.expect('tools/call');
    server.elicit('q', 'Whose?');
    expect(await server.roundTrip(a)).toEqual([]);
    clock.advance(1000);
    const third = c.callTool('echo');
    const late = await server.expect('tools/call');
    clock.advance(999);
    server.say(other, 'second');
    expect(await tool(second)).toBe('second');
    expect(await server.roundTrip(a)).toEqual([]);
    ada.answer();
    expect(await server.next()).toEqual(saidBy('ada', 'q'));
    server.say(late, 'third');
    server.say(asking, 'first');
    expect([await tool(first), await tool(third)]).toEqual(['first', 'third']);
    expect([ada.asked, bob.asked, cyd.asked]).toEqual([['Whose?'], [], []]);
    // Only what asked runs alone from now on: Bob had nothing to do with it.
    const again = [b.callTool('echo'), c.callTool('echo')];
    for (const text of ['one', 'two']) server.say(await server.expect('tools/call'), text);
    expect(await Promise.all(again.map(tool))).toEqual(['one', 'two']);
  });

  it('can be taken back while it is held, and nobody is asked', async () => {
    const { clock, server, ada, bob, a, b } = await company();
    const calls = [a.callTool('new'), b.callTool('new')];
    const requests = [await server.expect('tools/call'), await server.expect('tools/call')];
    server.elicit('q', 'Whose?');
    server.send({ method: 'notifications/cancelled', params: { requestId: 'q' } });
    expect(await server.roundTrip(a)).toEqual([]);
    clock.advance(2000);
    expect(await server.roundTrip(a)).toEqual([]);
    for (const request of requests) server.say(request, 'done');
    expect(await Promise.all(calls.map(tool))).toEqual(['done', 'done']);
    expect([ada.asked, bob.asked]).toEqual([[], []]);
  });
});

describe('while an answer waits to be given', () => {
  /** Ada has answered, Bob’s call runs. */
  async function waiting() {
    const all = await company();
    const { clock, server, ada, a, b } = all;
    const over = new AbortController();
    const call = a.callTool('wizard', {}, { timeoutMs: 1000, signal: over.signal });
    const request = await server.expect('tools/call');
    server.elicit('q', 'Well?');
    expect(await server.roundTrip(a)).toEqual([]);
    clock.advance(50);
    // What may ask just now.
    const other = b.callTool('wizard');
    const echo = await server.expect('tools/call');
    ada.answer();
    expect(await server.roundTrip(a)).toEqual([]);
    return { ...all, over, call, request, other, echo };
  }

  it('its call can be cancelled, and nobody waits any longer', async () => {
    const { server, over, call, request, other, echo, c } = await waiting();
    const outcome = failure(call);
    over.abort();
    expect(await outcome).toMatchObject({ code: 'CANCELLED', sent: 'maybe' });
    expect(await server.next()).toMatchObject({
      method: 'notifications/cancelled',
      params: { requestId: request.id },
    });
    expect(await server.next()).toEqual(saidBy('ada', 'q'));
    const third = c.callTool('echo');
    server.say(await server.expect('tools/call'), 'third');
    expect(await tool(third)).toBe('third');
    server.say(echo, 'echo');
    expect(await tool(other)).toBe('echo');
  });

  it('its conversation can end: the question is refused, and the others go on', async () => {
    const { server, a, call, request, other, echo, c } = await waiting();
    const outcome = failure(call);
    await a.close();
    expect(await outcome).toMatchObject({ code: 'CANCELLED', sent: 'maybe' });
    expect(await server.next()).toMatchObject({ id: 'q', error: { code: -32603 } });
    expect(await server.next()).toMatchObject({
      method: 'notifications/cancelled',
      params: { requestId: request.id },
    });
    server.say(echo, 'echo');
    expect(await tool(other)).toBe('echo');
    const third = c.callTool('wizard');
    server.say(await server.expect('tools/call'), 'third');
    expect(await tool(third)).toBe('third');
  });

  it('the other conversation can end, and the answer is given', async () => {
    const { server, b, call, request, other, echo } = await waiting();
    const outcome = failure(other);
    await b.close();
    expect(await outcome).toMatchObject({ code: 'CANCELLED', sent: 'maybe' });
    expect(await server.next()).toEqual({
      jsonrpc: '2.0',
      method: 'notifications/cancelled',
      params: { requestId: echo.id, reason: 'The conversation has ended' },
    });
    expect(await server.next()).toEqual(saidBy('ada', 'q'));
    server.say(request, 'done');
    expect(await tool(call)).toBe('done');
  });

  it('the process can die: both calls say that they may have run, and the next process serves both', async () => {
    const { clock, host, call, other, a, b } = await waiting();
    const outcomes = [failure(call), failure(other)];
    const [ready] = host.seen.filter(({ kind }) => kind === 'ready') as { pid?: number }[];
    process.kill(ready!.pid!, 'SIGKILL');
    for (const outcome of outcomes)
      expect(await outcome).toMatchObject({ code: 'CHILD_EXITED', sent: 'maybe' });
    const served = Promise.all([a.listTools(), b.listTools()]);
    // The pause before the next start is a matter of time, the start itself is not.
    const starts = () => host.seen.filter(({ kind }) => kind === 'start').length;
    for (let waited = 0; waited < 5000 && starts() < 2; waited += 100) {
      clock.advance(100);
      await settle(1);
    }
    expect(await served).toEqual([[], []]);
    expect(starts()).toBe(2);
  });
});
