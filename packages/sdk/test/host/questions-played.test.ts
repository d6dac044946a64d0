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

/** A legacy server is one session for all conversations, and its questions name no call. The test plays it. */

const ROOTS = [{ uri: 'file:///work' }];

function saidBy(who: string, id: number | string): Wire {
  return { id, result: { action: 'accept', content: { answer: who } }, jsonrpc: '2.0' } as Wire;
}

describe('the handshake', () => {
  it('is one, and declares the union of what the conversations can answer', async () => {
    const { definition, stage } = await puppet('legacy');
    const host = hostOf(definition);
    const elicit = () => ({ action: 'decline' }) as const;
    const sample = () => ({ role: 'assistant', content: { type: 'text', text: '' }, model: 'm' }) as const;
    host.conversation('it', { answers: { elicit } });
    host.conversation('it', { answers: { elicit, urls: true } });
    host.conversation('it', { answers: { sample, tools: true } });
    host.conversation('it', { answers: { roots: ROOTS } });
    const plain = host.conversation('it');
    const call = plain.callTool('echo');
    const server = await stage;
    expect(server.opening?.params.capabilities).toEqual({
      elicitation: { form: {}, url: {} },
      sampling: { tools: {} },
      roots: {},
    });
    server.say(await server.expect('tools/call'), 'hello');
    expect(await tool(call)).toBe('hello');
  });

  it('declares what the definition answers itself: a sound server asks for nothing else', async () => {
    const { definition, stage } = await puppet('legacy', { answers: { roots: ROOTS } });
    const host = hostOf(definition);
    await host.start('it');
    expect((await stage).opening?.params.capabilities).toEqual({ roots: {} });
  });

  it('declares what the definition says besides', async () => {
    const { definition, stage } = await puppet('legacy', { capabilities: { sampling: {} } });
    const host = hostOf(definition);
    host.conversation('it', { answers: { roots: ROOTS } });
    await host.start('it');
    expect((await stage).opening?.params.capabilities).toEqual({ roots: {}, sampling: {} });
  });
});

describe('a question that belongs to no call', () => {
  it('waits for the first conversation when it comes right after the handshake', async () => {
    const clock = new FakeClock();
    const { definition, stage } = await puppet('legacy');
    const host = hostOf(definition, clock);
    const a = host.conversation('it', { answers: { roots: ROOTS } });
    await host.start('it');
    const server = await stage;
    server.send({ id: 'early', method: 'roots/list' });
    const call = a.callTool('echo');
    const messages = [await server.next(), await server.next()];
    const asked = messages.find(({ method }) => method === 'tools/call')!;
    expect(messages.find(({ id }) => id === 'early')?.result).toEqual({ roots: ROOTS });
    server.say(asked, 'hello');
    expect(await tool(call)).toBe('hello');
  });

  it('is refused when nobody comes (ROOT-008)', async () => {
    const clock = new FakeClock();
    const { definition, stage } = await puppet('legacy');
    const host = hostOf(definition, clock);
    await host.start('it');
    const server = await stage;
    const timers = clock.waiting;
    server.send({ id: 1, method: 'roots/list' });
    while (clock.waiting === timers) await settle(1);
    clock.advance(1000);
    expect((await server.next()).error?.code).toBe(-32601);
  });

  it('goes to the only conversation that there is', async () => {
    const { definition, stage } = await puppet('legacy');
    const host = hostOf(definition);
    const a = host.conversation('it', { answers: { roots: ROOTS } });
    const call = a.callTool('echo');
    const server = await stage;
    server.say(await server.next(), 'hello');
    await call;
    server.send({ id: 1, method: 'roots/list' });
    expect((await server.next()).result).toEqual({ roots: ROOTS });
  });

  it('is refused, with the reason, when there are two', async () => {
    const { definition, stage } = await puppet('legacy');
    const host = hostOf(definition);
    const answers = [answersOf('a'), answersOf('b')];
    const [a, b] = answers.map((each) => host.conversation('it', { answers: each }));
    const calls = [a!.callTool('echo'), b!.callTool('echo')];
    const server = await stage;
    for (const _ of calls) server.say(await server.next(), 'hello');
    await Promise.all(calls);
    server.elicit(9, 'Anybody?');
    expect(await server.next()).toEqual({
      jsonrpc: '2.0',
      id: 9,
      error: {
        code: -32603,
        message: '2 conversations share this connection, and the question belongs to none of their calls',
      },
    });
    expect(answers.map(({ asked }) => asked)).toEqual([[], []]);
  });

  it('is answered by the definition where that can, and bothers no conversation', async () => {
    const { definition, stage } = await puppet('legacy', { answers: { roots: ROOTS } });
    const host = hostOf(definition);
    let bothered = 0;
    const roots = () => {
      bothered += 1;
      return [{ uri: 'file:///private' }];
    };
    const a = host.conversation('it', { answers: { roots } });
    const b = host.conversation('it', { answers: { roots } });
    const calls = [a.callTool('echo'), b.callTool('echo')];
    const server = await stage;
    for (const _ of calls) server.say(await server.next(), 'hello');
    await Promise.all(calls);
    server.send({ id: 'roots', method: 'roots/list' });
    expect((await server.next()).result).toEqual({ roots: [{ uri: 'file:///work' }] });
    expect(bothered).toBe(0);
  });
});

describe('a question while one conversation has a call in flight', () => {
  it('is answered by that conversation, one after the other', async () => {
    const { definition, stage } = await puppet('legacy');
    const host = hostOf(definition);
    const answers = [answersOf('a'), answersOf('b')];
    for (const [at, each] of answers.entries()) {
      const call = host.conversation('it', { answers: each }).callTool('ask');
      const server = await stage;
      const request = await server.expect('tools/call');
      server.elicit(at, `question ${at}`);
      expect(await server.next()).toEqual(saidBy(at === 0 ? 'a' : 'b', at));
      server.say(request, 'done');
      expect(await tool(call)).toBe('done');
    }
    expect(answers.map(({ asked }) => asked)).toEqual([['question 0'], ['question 1']]);
  });

  it('is refused when that one has no answers, and goes to nobody else', async () => {
    const { definition, stage } = await puppet('legacy');
    const host = hostOf(definition);
    const able = answersOf('able');
    const other = host.conversation('it', { answers: able });
    const mute = host.conversation('it');
    const first = other.callTool('echo');
    const server = await stage;
    server.say(await server.next(), 'hello');
    await first;
    const call = mute.callTool('ask');
    const request = await server.next();
    server.elicit(5, 'Who are you?');
    expect((await server.next()).error?.code).toBe(-32601);
    server.say(request, 'refused');
    await call;
    expect(able.asked).toEqual([]);
  });

  it('is that conversation’s, whichever of its calls it belongs to', async () => {
    const { definition, stage } = await puppet('legacy');
    const host = hostOf(definition);
    const answers = answersOf('a');
    const a = host.conversation('it', { answers });
    const calls = [a.callTool('ask'), a.callTool('ask')];
    const server = await stage;
    const requests = [await server.next(), await server.next()];
    server.send(elicitation(1, 'one'), elicitation(2, 'two'));
    expect([await server.next(), await server.next()]).toEqual([saidBy('a', 1), saidBy('a', 2)]);
    for (const request of requests) server.say(request, 'done');
    await Promise.all(calls);
  });

  it('can be taken back; the other question stays', async () => {
    const { definition, stage } = await puppet('legacy');
    const host = hostOf(definition);
    const gates = new Map([
      ['one', gate<ElicitResult>()],
      ['two', gate<ElicitResult>()],
    ]);
    const aborted: string[] = [];
    const both = gate();
    let asked = 0;
    const elicit: Answers['elicit'] = ({ message }, { signal }) => {
      signal.addEventListener('abort', () => aborted.push(message));
      asked += 1;
      if (asked === 2) both.open();
      return gates.get(message)!.promise;
    };
    const a = host.conversation('it', { answers: { elicit } });
    const call = a.callTool('ask');
    const server = await stage;
    const request = await server.next();
    server.send(elicitation(1, 'one'), elicitation(2, 'two'));
    await both.promise;
    server.send({ method: 'notifications/cancelled', params: { requestId: 1 } });
    await server.roundTrip(a);
    expect(aborted).toEqual(['one']);
    gates.get('one')!.open({ action: 'decline' });
    gates.get('two')!.open({ action: 'cancel' });
    expect(await server.next()).toEqual({ jsonrpc: '2.0', id: 2, result: { action: 'cancel' } });
    server.say(request, 'done');
    await call;
  });

  it('does not deadlock when the answer makes a call of its own, and another conversation waits', async () => {
    const { definition, stage } = await puppet('legacy', { questions: 'queue' });
    const host = hostOf(definition);
    const a = host.conversation('it', {
      answers: {
        async elicit() {
          const answer = await tool(a.callTool('nested'));
          return { action: 'accept', content: { answer } };
        },
      },
    });
    const b = host.conversation('it', { answers: answersOf('b') });
    const first = a.callTool('ask');
    const server = await stage;
    const request = await server.next();
    const second = b.callTool('ask');
    server.elicit(1, 'Well?');
    const nested = await server.expect('tools/call');
    expect(nested.params.name).toBe('nested');
    server.say(nested, 'looked up');
    expect((await server.next()).result.content).toEqual({ answer: 'looked up' });
    server.say(request, 'first');
    expect(await tool(first)).toBe('first');
    server.say(await server.next(), 'second');
    expect(await tool(second)).toBe('second');
  });

  it('does not deadlock when those who wait for their turn fill the process', async () => {
    const { definition, stage } = await puppet('legacy', { questions: 'queue', maxInFlight: 2 });
    const host = hostOf(definition);
    const a = host.conversation('it', {
      answers: {
        elicit: async () => ({ action: 'accept', content: { answer: await tool(a.callTool('nested')) } }),
      },
    });
    const b = host.conversation('it');
    await b.listTools();
    const first = a.callTool('ask');
    const server = await stage;
    const request = await server.next();
    const second = b.callTool('ask');
    server.elicit(1, 'Well?');
    const nested = await server.next();
    expect(nested.params.name).toBe('nested');
    server.say(nested, 'looked up');
    expect((await server.next()).result.content).toEqual({ answer: 'looked up' });
    server.say(request, 'first');
    expect(await tool(first)).toBe('first');
    server.say(await server.next(), 'second');
    expect(await tool(second)).toBe('second');
  });

  it('R2: lets others run while a call that is known to ask again runs: its next question is held until they end', async () => {
    const { definition, stage } = await puppet('legacy');
    const host = hostOf(definition);
    const a = host.conversation('it', { answers: answersOf('a') });
    const b = host.conversation('it', { answers: answersOf('b') });
    for (const run of ['learn', 'know']) {
      const first = a.callTool('ask');
      const server = await stage;
      const request = await server.next();
      server.elicit(`${run} 1`, 'one');
      expect(await server.next()).toEqual(saidBy('a', `${run} 1`));
      const second = run === 'know' ? b.callTool('echo') : undefined;
      const echo = second && (await server.expect('tools/call'));
      server.elicit(`${run} 2`, 'two');
      if (echo) {
        expect(await server.roundTrip(b)).toEqual([]);
        server.say(echo, 'echo');
        await second;
      }
      expect(await server.next()).toEqual(saidBy('a', `${run} 2`));
      server.say(request, 'done');
      await first;
    }
  });

  it('lets others in once a call that was never seen to ask again has its answer', async () => {
    const { definition, stage } = await puppet('legacy');
    const host = hostOf(definition);
    const a = host.conversation('it', { answers: answersOf('a') });
    const b = host.conversation('it', { answers: answersOf('b') });
    const first = a.callTool('ask');
    const server = await stage;
    const request = await server.next();
    server.elicit(1, 'one');
    expect(await server.next()).toEqual(saidBy('a', 1));
    const second = b.callTool('echo');
    server.say(await server.next(), 'echo');
    expect(await tool(second)).toBe('echo');
    server.say(request, 'done');
    expect(await tool(first)).toBe('done');
  });

  it('does not deadlock when an answer calls what runs alone, a call of another runs, and a third waits', async () => {
    const clock = new FakeClock();
    const { definition, stage } = await puppet('legacy');
    const host = hostOf(definition, clock);
    const go = gate();
    const a = host.conversation('it', {
      answers: {
        async elicit() {
          await go.promise;
          return { action: 'accept', content: { answer: await tool(a.callTool('ask', { nested: true })) } };
        },
      },
    });
    const b = host.conversation('it');
    const c = host.conversation('it');
    const first = a.callTool('ask');
    const server = await stage;
    const request = await server.next();
    await isProven(host);
    server.elicit(1, 'Well?');
    await server.roundTrip(a);
    clock.advance(50);
    const running = b.callTool('ask');
    const echo = await server.expect('tools/call');
    const third = c.callTool('ask');
    expect(await server.roundTrip(c)).toEqual([]);
    go.open();
    expect(await server.roundTrip(a)).toEqual([]);
    server.say(echo, 'echo');
    expect(await tool(running)).toBe('echo');
    // What the answer needs comes before what waits longer, but for others.
    const nested = await server.next();
    expect(nested).toMatchObject({ method: 'tools/call', params: { arguments: { nested: true } } });
    server.say(nested, 'nested');
    // Then it waits for nobody's answer, until there is one that could be confused with what comes next.
    const late = await server.expect('tools/call');
    expect(late.params.arguments).not.toEqual({ nested: true });
    expect(await server.roundTrip(a)).toEqual([]);
    server.say(late, 'third');
    expect(await tool(third)).toBe('third');
    expect((await server.next()).result.content).toEqual({ answer: 'nested' });
    server.say(request, 'first');
    expect(await tool(first)).toBe('first');
  });
});

describe('questions while two conversations have calls in flight', () => {
  it('adaptive: the first is refused with the reason, and from then on what asked runs alone', async () => {
    const clock = new FakeClock();
    const { definition, stage } = await puppet('legacy');
    const host = hostOf(definition, clock);
    const answers = [answersOf('a'), answersOf('b')];
    const [a, b] = answers.map((each) => host.conversation('it', { answers: each }));
    const tries = [a!.callTool('book'), b!.callTool('pay')];
    const server = await stage;
    const requests = [await server.next(), await server.next()];
    await isProven(host);
    server.elicit(1, 'Sure?');
    expect(await afterTwoSeconds(clock, server, a!)).toEqual({
      jsonrpc: '2.0',
      id: 1,
      error: {
        code: -32603,
        message:
          '2 conversations share this connection and have calls in flight, and the question does not say which of them it belongs to; give each client its own process',
      },
    });
    for (const request of requests) server.say(request, 'could not ask');
    await Promise.all(tries);
    expect(answers.map(({ asked }) => asked)).toEqual([[], []]);

    const again = [a!.callTool('book'), b!.callTool('pay')];
    const book = await server.expect('tools/call');
    expect(await server.roundTrip(a!)).toEqual([]);
    server.elicit(2, 'Book?');
    // It has asked: the other one may begin, and its answer is there.
    const said = [await server.next(), await server.next()];
    expect(said).toContainEqual(saidBy('a', 2));
    const pay = said.find(({ method }) => method === 'tools/call')!;
    server.say(book, 'booked');
    server.elicit(3, 'Pay?');
    expect(await server.next()).toEqual(saidBy('b', 3));
    server.say(pay, 'paid');
    expect(await Promise.all(again.map(tool))).toEqual(['booked', 'paid']);
    expect(answers.map(({ asked }) => asked)).toEqual([['Book?'], ['Pay?']]);
  });

  it('adaptive: what has never asked stays concurrent', async () => {
    const { definition, stage } = await puppet('legacy');
    const host = hostOf(definition);
    const conversations = ['a', 'b', 'c'].map((who) => host.conversation('it', { answers: answersOf(who) }));
    const calls = conversations.map((each) => each.callTool('echo'));
    const server = await stage;
    const requests = [await server.next(), await server.next(), await server.next()];
    for (const request of requests) server.say(request, 'hello');
    expect(await Promise.all(calls.map(tool))).toEqual(['hello', 'hello', 'hello']);
  });

  it('R2: adaptive: a call of what asks keeps only calls waiting that are known to ask, too', async () => {
    const { definition, stage } = await puppet('legacy');
    const host = hostOf(definition);
    const a = host.conversation('it', { answers: answersOf('a') });
    const b = host.conversation('it');
    const server = await ask(a, stage);
    const alone = a.callTool('ask');
    const request = await server.next();
    const waiting = b.callTool('ask');
    expect(await b.listTools()).toEqual([]);
    expect(await server.roundTrip(b)).toEqual([]);
    const plain = b.callTool('echo');
    server.say(await server.expect('tools/call'), 'hello');
    expect(await tool(plain)).toBe('hello');
    server.say(request, 'done');
    await alone;
    server.say(await server.next(), 'asked');
    expect(await tool(waiting)).toBe('asked');
  });

  it('queue: both are answered at the first try, one after the other', async () => {
    const { definition, stage } = await puppet('legacy', { questions: 'queue' });
    const host = hostOf(definition);
    const answers = [answersOf('a'), answersOf('b')];
    const calls = answers.map((each) => host.conversation('it', { answers: each }).callTool('ask'));
    const server = await stage;
    for (const who of ['a', 'b']) {
      const request = await server.expect('tools/call');
      server.elicit(who, `for ${who}`);
      expect(await server.next()).toEqual(saidBy(who, who));
      server.say(request, who);
    }
    expect(await Promise.all(calls.map(tool))).toEqual(['a', 'b']);
    expect(answers.map(({ asked }) => asked)).toEqual([['for a'], ['for b']]);
  });

  it('refuse: nothing ever waits', async () => {
    const clock = new FakeClock();
    const { definition, stage } = await puppet('legacy', { questions: 'refuse' });
    const host = hostOf(definition, clock);
    const answers = [answersOf('a'), answersOf('b')];
    const conversations = answers.map((each) => host.conversation('it', { answers: each }));
    for (const id of [1, 2, 3]) {
      const calls = conversations.map((each) => each.callTool('ask'));
      const server = await stage;
      const requests = [await server.expect('tools/call'), await server.expect('tools/call')];
      await isProven(host);
      server.elicit(id, 'Sure?');
      expect((await afterTwoSeconds(clock, server, conversations[0]!)).error?.code).toBe(-32603);
      for (const request of requests) server.say(request, 'refused');
      await Promise.all(calls);
    }
    expect(answers.map(({ asked }) => asked)).toEqual([[], []]);
  });
});

describe('a question of a call that was given up', () => {
  it.each(['cancelled', 'timed out', 'left behind by its conversation'])(
    'does not reach another conversation when the call was %s',
    async (how) => {
      const clock = new FakeClock();
      const { definition, stage } = await puppet('legacy');
      const host = hostOf(definition, clock);
      const answers = [answersOf('a'), answersOf('b')];
      const [a, b] = answers.map((each) => host.conversation('it', { answers: each }));
      const over = new AbortController();
      const given = failure(a!.callTool('ask', {}, { signal: over.signal, timeoutMs: 1000 }));
      const server = await stage;
      const request = await server.next();
      await isProven(host);
      if (how === 'cancelled') over.abort();
      else if (how === 'timed out') clock.advance(1000);
      else await a!.close();
      await given;
      expect(await server.next()).toMatchObject({
        method: 'notifications/cancelled',
        params: { requestId: request.id },
      });
      const call = b!.callTool('other');
      const other = await server.next();
      server.elicit(1, 'Sure, a?');
      expect(await afterTwoSeconds(clock, server, b!)).toMatchObject({ id: 1, error: { code: -32603 } });
      server.say(other, 'done');
      await call;
      // Nor when the other one is at rest.
      server.elicit(2, 'Sure, a?');
      if (how === 'left behind by its conversation') {
        expect(await server.next()).toMatchObject({ id: 2, error: { code: -32603 } });
      } else await server.next();
      expect(answers[1]!.asked).toEqual([]);
    },
  );

  it('is no longer feared when the late answer has come (CANC-009)', async () => {
    const clock = new FakeClock();
    const { definition, stage } = await puppet('legacy', { questions: 'refuse' });
    const host = hostOf(definition, clock);
    const answers = [answersOf('a'), answersOf('b')];
    const [a, b] = answers.map((each) => host.conversation('it', { answers: each }));
    const over = new AbortController();
    const given = failure(a!.callTool('ask', {}, { signal: over.signal }));
    const server = await stage;
    const request = await server.next();
    over.abort();
    expect((await given).code).toBe('CANCELLED');
    await server.expect('notifications/cancelled');
    const call = b!.callTool('ask');
    const mine = await server.next();
    await isProven(host);
    server.elicit(1, 'Whose?');
    expect((await afterTwoSeconds(clock, server, b!)).error?.code).toBe(-32603);
    server.say(request, 'too late');
    server.elicit(2, 'b?');
    expect(await server.next()).toEqual(saidBy('b', 2));
    server.say(mine, 'done');
    expect(await tool(call)).toBe('done');
    expect(answers.map(({ asked }) => asked)).toEqual([[], ['b?']]);
  });

  it('is feared for a minute when no answer comes', async () => {
    const clock = new FakeClock();
    const { definition, stage } = await puppet('legacy', { questions: 'refuse' });
    const host = hostOf(definition, clock);
    const a = host.conversation('it', { answers: answersOf('a') });
    const b = host.conversation('it', { answers: answersOf('b') });
    const over = new AbortController();
    const given = failure(a.callTool('ask', {}, { signal: over.signal }));
    const server = await stage;
    await server.next();
    over.abort();
    await given;
    await server.expect('notifications/cancelled');
    const call = b.callTool('ask', {}, { timeoutMs: 1_000_000 });
    const mine = await server.next();
    await isProven(host);
    clock.advance(57_999);
    server.elicit(1, 'Whose?');
    expect((await afterTwoSeconds(clock, server, b)).error?.code).toBe(-32603);
    clock.advance(1);
    server.elicit(2, 'Whose?');
    expect(await server.next()).toEqual(saidBy('b', 2));
    server.say(mine, 'done');
    await call;
  });
});

describe('time', () => {
  it('stands still for the calls of whoever is being asked, and for nobody else', async () => {
    const clock = new FakeClock();
    const { definition, stage } = await puppet('legacy');
    const host = hostOf(definition, clock);
    const thinking = gate<ElicitResult>();
    const asked = gate();
    const a = host.conversation('it', {
      answers: {
        elicit: () => {
          asked.open();
          return thinking.promise;
        },
      },
    });
    const b = host.conversation('it');
    const call = a.callTool('ask', {}, { timeoutMs: 1000 });
    let settled = false;
    const failed = failure(call).finally(() => {
      settled = true;
    });
    const server = await stage;
    await server.next();
    await isProven(host);
    clock.advance(400);
    const other = failure(b.request('completion/complete', {}, { timeoutMs: 1000 }));
    await server.expect('completion/complete');
    server.elicit(1, 'Take your time');
    await asked.promise;
    clock.advance(1000);
    expect(await other).toMatchObject({ code: 'TIMED_OUT', sent: 'maybe' });
    clock.advance(100_000);
    await settle();
    expect(settled).toBe(false);
    await server.expect('notifications/cancelled');
    thinking.open({ action: 'decline' });
    expect(await server.next()).toEqual({ jsonrpc: '2.0', id: 1, result: { action: 'decline' } });
    clock.advance(599);
    await settle();
    expect(settled).toBe(false);
    clock.advance(1);
    expect((await failed).code).toBe('TIMED_OUT');
  });

  it('runs while a call waits for its turn: the rest of it is for the answer', async () => {
    const clock = new FakeClock();
    const { definition, stage } = await puppet('legacy', { questions: 'queue' });
    const host = hostOf(definition, clock);
    const a = host.conversation('it');
    const b = host.conversation('it');
    const first = a.callTool('ask');
    const server = await stage;
    const request = await server.next();
    const second = failure(b.callTool('ask', {}, { timeoutMs: 1000 }));
    await server.roundTrip(b);
    clock.advance(600);
    server.say(request, 'first');
    await first;
    const late = await server.expect('tools/call');
    clock.advance(399);
    expect(await server.roundTrip(a)).toEqual([]);
    clock.advance(1);
    expect(await second).toMatchObject({ code: 'TIMED_OUT', sent: 'maybe' });
    expect(await server.next()).toMatchObject({
      method: 'notifications/cancelled',
      params: { requestId: late.id },
    });
  });

  it('ends a wait for the turn, and the call is never sent', async () => {
    const clock = new FakeClock();
    const { definition, stage } = await puppet('legacy', { questions: 'queue' });
    const host = hostOf(definition, clock);
    const a = host.conversation('it');
    const b = host.conversation('it');
    const first = a.callTool('ask');
    const server = await stage;
    const request = await server.next();
    const second = failure(b.callTool('ask', {}, { timeoutMs: 1000 }));
    await server.roundTrip(b);
    clock.advance(1000);
    expect(await second).toMatchObject({ code: 'TIMED_OUT', sent: 'no' });
    server.say(request, 'first');
    await first;
    expect(await server.roundTrip(a)).toEqual([]);
  });

  it('of a call that waits is also over when its signal says so', async () => {
    const { definition, stage } = await puppet('legacy', { questions: 'queue' });
    const host = hostOf(definition);
    const a = host.conversation('it');
    const b = host.conversation('it');
    const first = a.callTool('ask');
    const server = await stage;
    const request = await server.next();
    const over = new AbortController();
    const second = failure(b.callTool('ask', {}, { signal: over.signal }));
    await server.roundTrip(b);
    over.abort();
    expect(await second).toMatchObject({ code: 'CANCELLED', sent: 'no' });
    server.say(request, 'first');
    await first;
    expect(await server.roundTrip(a)).toEqual([]);
  });
});

describe('a conversation that ends', () => {
  it('refuses its open question, then cancels its call; the process lives on', async () => {
    const { definition, stage } = await puppet('legacy');
    const host = hostOf(definition);
    const asked = gate<AbortSignal>();
    const a = host.conversation('it', {
      answers: {
        elicit: (_question, { signal }) => {
          asked.open(signal);
          return new Promise(() => {});
        },
      },
    });
    const b = host.conversation('it');
    const call = failure(a.callTool('ask'));
    const server = await stage;
    const request = await server.next();
    server.elicit('open', 'Well?');
    const signal = await asked.promise;
    await a.close();
    expect(signal.aborted).toBe(true);
    expect(await call).toMatchObject({ code: 'CANCELLED', sent: 'maybe' });
    expect(await server.next()).toEqual({
      jsonrpc: '2.0',
      id: 'open',
      error: { code: -32603, message: 'The client that was asked has left: The conversation has ended' },
    });
    expect(await server.next()).toMatchObject({
      method: 'notifications/cancelled',
      params: { requestId: request.id },
    });
    const other = b.callTool('echo');
    server.say(await server.next(), 'still here');
    expect(await tool(other)).toBe('still here');
  });

  it('takes its calls out of the queue unsent, and the others keep their places', async () => {
    const { definition, stage } = await puppet('legacy', { questions: 'queue' });
    const host = hostOf(definition);
    const [a, b, c] = [host.conversation('it'), host.conversation('it'), host.conversation('it')];
    const first = a.callTool('one');
    const server = await stage;
    const request = await server.next();
    const gone = [failure(b.callTool('two')), failure(b.callTool('three'))];
    await server.roundTrip(b);
    const last = c.callTool('four');
    await server.roundTrip(c);
    await b.close();
    expect(await Promise.all(gone)).toMatchObject([
      { code: 'CANCELLED', sent: 'no' },
      { code: 'CANCELLED', sent: 'no' },
    ]);
    server.say(request, '1');
    expect(await tool(first)).toBe('1');
    const next = await server.next();
    expect(next.params.name).toBe('four');
    server.say(next, '4');
    expect(await tool(last)).toBe('4');
  });

  it('takes its calls out of the queue for room in the process, too', async () => {
    const { definition, stage } = await puppet('legacy', { maxInFlight: 1 });
    const host = hostOf(definition);
    const [a, b] = [host.conversation('it'), host.conversation('it')];
    const ready = b.callTool('zero');
    const server = await stage;
    server.say(await server.next(), '0');
    await ready;
    const first = a.callTool('one');
    const request = await server.next();
    let settled: string | undefined;
    void failure(b.callTool('two')).then(({ code }) => {
      settled = code as string;
    });
    await settle();
    await b.close();
    await settle();
    expect(settled).toMatch(/^(CANCELLED|CONNECTION_CLOSED)$/);
    server.say(request, '1');
    expect(await tool(first)).toBe('1');
    expect(await server.roundTrip(a)).toEqual([]);
  });
});

/** What comes when a question was held for as long as it may become clear whose it is, and no earlier. */
async function afterTwoSeconds(clock: FakeClock, server: Stage, client: Client): Promise<Wire> {
  expect(await server.roundTrip(client)).toEqual([]);
  clock.advance(1999);
  expect(await server.roundTrip(client)).toEqual([]);
  clock.advance(1);
  return server.next();
}

/** Lets a conversation be asked once by the tool `ask`, so that it is known to ask. */
async function ask(
  client: ReturnType<ReturnType<typeof hostOf>['conversation']>,
  stage: Awaited<ReturnType<typeof puppet>>['stage'],
) {
  const call = client.callTool('ask');
  const server = await stage;
  const request = await server.next();
  server.elicit('first', 'Well?');
  await server.next();
  server.say(request, 'asked');
  await call;
  return server;
}
