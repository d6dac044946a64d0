import { describe, expect, it } from 'vitest';
import { bridgeTo } from '../support/bridge/between.js';
import type { Heard } from '../support/bridge/far.js';
import { type Era, type Message, settle } from '../support/bridge/frames.js';
import type { NearClient } from '../support/bridge/near.js';

/** The same sequence for the same seed, so that a failure can be repeated. */
function createDice(seed: number): (sides: number) => number {
  let state = seed;
  return (sides) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * sides);
  };
}

/** A client that makes calls, answers whatever it is asked, and knows which answer belongs to which call. */
class Caller {
  readonly client: NearClient;
  readonly name: string;
  /** What each call should bring, by its id; a retry has a new one. */
  readonly expected = new Map<string | number, string>();
  /** How often progress was reported; that it rises is judged with all other frames. */
  reports = 0;
  #next = 0;

  constructor(client: NearClient, name: string) {
    this.client = client;
    this.name = name;
  }

  call(more: object = {}, text = `${this.name}.${this.#next}`): void {
    const id = this.#next % 2 === 0 ? this.#next : String(this.#next);
    this.#next += 1;
    this.expected.set(id, text);
    this.client.call(id, text, more, { progressToken: `${text} of ${this.name}` });
  }

  /** Deals with all that has come. */
  async deal(): Promise<void> {
    for (const message of await this.client.rest()) {
      if (message.method === 'notifications/progress') this.#report(message);
      else if (message.method) this.#answer(message);
      else if (message.result?.resultType === 'input_required') this.#retry(message);
      else this.#done(message);
    }
  }

  #report({ params }: Message): void {
    const [text] = String(params.progressToken).split(' of ') as [string];
    expect(params.message).toBe(text);
    this.reports += 1;
  }

  /** The question names the call that it is about. */
  #answer(question: Message): void {
    expect([...this.expected.values()]).toContain(question.params.message);
    this.client.answer(question, { action: 'accept', content: { call: question.params.message } });
  }

  #retry({ id, result }: Message): void {
    const text = this.expected.get(id!)!;
    this.expected.delete(id!);
    const entries = Object.entries(result.inputRequests) as [string, Message][];
    const inputResponses = Object.fromEntries(
      entries.map(([key, { params }]) => {
        expect(params.message).toBe(text);
        return [key, { action: 'accept', content: { call: text } }];
      }),
    );
    this.call({ inputResponses, requestState: result.requestState }, text);
  }

  #done({ id, result, error }: Message): void {
    expect(error).toBeUndefined();
    expect(result.content[0].text).toBe(this.expected.get(id!));
    this.expected.delete(id!);
  }
}

const form = (message: string) => ({ message, requestedSchema: { type: 'object', properties: {} } });

/** What the server does next for a call: progress, a question, or the end. */
function act(call: Heard, dice: (sides: number) => number, farEra: Era, rounds: number): boolean {
  const { name } = call.params;
  if (dice(3) === 0) {
    call.on.progress(call, dice(1000), { message: name });
    return false;
  }
  const question = { method: 'elicitation/create', params: form(name) };
  if (rounds < 2 && dice(2) === 0 && farEra === 'modern') {
    const requestState = `${name}/${rounds}`;
    call.on.answer(call, { resultType: 'input_required', inputRequests: { q: question }, requestState });
    return true;
  }
  call.on.answer(call, { resultType: 'complete', content: [{ type: 'text', text: name }] });
  return true;
}

describe.each<[Era, Era]>([
  ['legacy', 'modern'],
  ['modern', 'legacy'],
  ['legacy', 'legacy'],
  ['modern', 'modern'],
])('many calls of several %s clients before a %s server', (era, farEra) => {
  it.each([1, 2, 3])(
    'get their own answers, questions and progress, in any order (seed %i)',
    async (seed) => {
      const dice = createDice(seed);
      const { near, far } = await bridgeTo(farEra);
      const callers: Caller[] = [];
      for (const name of ['a', 'b', 'c']) {
        const options = { capabilities: { elicitation: {} }, info: { name, version: '1' } };
        const client = era === 'legacy' ? await near.legacy(options) : near.modern(options);
        callers.push(new Caller(client, name));
      }
      for (let count = 0; count < 60; count += 1) callers[count % 3]!.call();
      const open: Heard[] = [];
      for (let turn = 0; turn < 2000 && callers.some(({ expected }) => expected.size > 0); turn += 1) {
        open.push(...(await far.rest()));
        for (let acts = dice(8); acts >= 0 && open.length > 0; acts -= 1) {
          const index = dice(open.length);
          const call = open[index]!;
          const rounds = call.params.requestState
            ? Number(String(call.params.requestState).split('/')[1]) + 1
            : 0;
          if (call.params.inputResponses) {
            expect(call.params.inputResponses.q.content).toEqual({ call: call.params.name });
          }
          if (act(call, dice, farEra, rounds)) open.splice(index, 1);
        }
        await settle(2);
        for (const caller of callers) await caller.deal();
      }
      expect(callers.map(({ expected }) => [...expected])).toEqual([[], [], []]);
      for (const { reports } of callers) expect(reports).toBeGreaterThan(0);
    },
  );
});

describe('questions of a legacy server, of many calls at once', () => {
  it.each(['legacy', 'modern'] as const)('reach the %s client that called, and nobody else', async (era) => {
    const { near, far, clock } = await bridgeTo('legacy');
    const callers: Caller[] = [];
    for (const name of ['a', 'b', 'c']) {
      const options = { capabilities: { elicitation: {} }, info: { name, version: '1' } };
      callers.push(new Caller(era === 'legacy' ? await near.legacy(options) : near.modern(options), name));
    }
    for (const caller of callers) for (let count = 0; count < 4; count += 1) caller.call();
    const asked = new Map<string, Heard>();
    for (let turn = 0; turn < 400 && callers.some(({ expected }) => expected.size > 0); turn += 1) {
      for (const heard of await far.rest()) {
        if (heard.method === 'tools/call') {
          asked.set(`q ${heard.params.name}`, heard);
          heard.on.ask(`q ${heard.params.name}`, 'elicitation/create', form(heard.params.name));
        } else {
          const call = asked.get(String(heard.id))!;
          const { name } = call.params;
          // One that could not be told apart is refused; it is never answered by somebody else.
          if (heard.result) expect(heard.result.content).toEqual({ call: name });
          call.on.answer(call, { content: [{ type: 'text', text: name }] });
        }
      }
      clock.advance(100);
      for (const caller of callers) await caller.deal();
    }
    expect(callers.map(({ expected }) => [...expected])).toEqual([[], [], []]);
  });
});
