/** Calls that sleep while a modern client is being asked: how many there may be, and for how long. */

import { http } from '@isthmus/sdk/http';
import { expect, it, onTestFinished } from 'vitest';
import { until } from '../../packages/sdk/test/support/host-lifetime.js';
import { type Ask, ask, modernCall } from '../../packages/sdk/test/support/http-server.js';
import { FakeClock } from '../support/fake-clock.js';
import type { Message } from '../support/messages.js';
import { accept, CAPABILITIES, call, outcome } from './near/near.js';
import { diary, keepFar, program, startHttpFar } from './support/far.js';
import { stage } from './support/stage.js';

it('R1: a flood of calls that ask takes the places there are; the oldest of them make room, and hear why', async () => {
  const warnings: Error[] = [];
  const onWarning = (warning: Error) => void warnings.push(warning);
  process.on('warning', onWarning);
  onTestFinished(() => void process.off('warning', onWarning));
  const far = await startHttpFar('legacy');
  const { url } = await stage(http(far.url), { serve: { maxParked: 5 } });
  const all = await Promise.all(
    Array.from({ length: 20 }, async (_, at) => (await ask(url, elicit({ text: `call ${at}` }))).json),
  );
  // Some are ended before their round has left, and the others have lost it when they come back.
  const parked: Message[] = [];
  const gone: string[] = all.flatMap(({ error }) => error?.message ?? []);
  for (const one of all.filter(({ result }) => result?.resultType === 'input_required')) {
    const wrong = elicit(
      { text: questionOf(one) },
      { inputResponses: {}, requestState: one.result.requestState },
    );
    const { error, result } = (await ask(url, wrong)).json;
    // Without an answer it is asked again.
    if (error) gone.push(error.message);
    else parked.push({ result } as Message);
  }
  expect([parked.length, gone.length]).toEqual([5, 15]);
  for (const message of gone) expect(message).toMatch(/5 calls wait for input, which is the limit/);
  // Those that sleep are none the worse for it, and with each that is woken there is a place again.
  for (const one of parked) {
    expect((await ask(url, again(one))).json.result.content[0].text).toBe(`${questionOf(one)}: fine`);
    const next = (await ask(url, elicit({ text: 'next' }))).json;
    expect((await ask(url, again(next))).json.result.content[0].text).toBe('next: fine');
  }
  // Of leaks, say, that are none.
  expect(warnings).toEqual([]);
});

it('a call whose client does not come back is called off: its question is refused and it is cancelled', async () => {
  const clock = new FakeClock();
  const far = keepFar('legacy', { args: [program('legacy-lines.mjs')] });
  const { url, enter } = await stage(far.host.upstream('far'), { serve: { clock, roundTtlMs: 60_000 } });
  const asked = (await ask(url, elicit({ text: 'well?' }))).json;
  clock.advance(59_999);
  expect(far.diary.lines()).toEqual(['asking well?']);
  clock.advance(1);
  await until('the server knows', () => far.diary.lines().length === 3);
  expect(far.diary.lines().sort()).toEqual(['asking well?', 'cancelled well?', 'refused well?']);
  const late = (await ask(url, again(asked))).json;
  expect([late.error?.code, late.error?.message]).toEqual([
    -32602,
    'requestState was altered, has expired or belongs to another request',
  ]);
  // Nothing is left of it that would be in the way of others.
  const near = await enter('modern socket', 'next');
  expect(outcome(await call(near, 0, 'elicit', { text: 'and you?' }))).toEqual([0, 'and you?: next']);
});

it('a call over HTTP whose client does not come back is called off, too', async () => {
  const clock = new FakeClock();
  const written = diary();
  const far = await startHttpFar('legacy', written);
  const { url } = await stage(http(far.url), { serve: { clock, roundTtlMs: 60_000 } });
  await ask(url, elicit({ text: 'well?' }));
  clock.advance(60_000);
  await until('the server knows', () => written.lines().includes('refused well?'));
  expect(written.lines().slice(0, 2)).toEqual(['asking well?', 'refused well?']);
});

it('a legacy client that does not answer in time costs its question, and not its call', async () => {
  const clock = new FakeClock();
  const far = keepFar('legacy', { args: [program('legacy-lines.mjs')] });
  const { enter } = await stage(far.host.upstream('far'), { serve: { clock, askTimeoutMs: 60_000 } });
  const near = await enter('legacy socket', 'silent');
  near.answer = () => new Promise(() => {});
  const ended = call(near, 0, 'elicit', { text: 'well?' });
  await until('it is asked', () => near.asked.length === 1);
  clock.advance(60_000);
  const [id, text] = outcome(await ended);
  expect(id).toBe(0);
  expect(text).toMatch(/^well\?: .*60000 ms/);
  expect(far.diary.lines()).toEqual(['asking well?', 'refused well?']);
});

function elicit(args: object, params: object = {}): Ask {
  return modernCall(1, 'elicit', args, { params, capabilities: CAPABILITIES });
}

/** The retry of a call that was asked, with an answer. */
function again(asked: Message): Ask {
  const { inputRequests, requestState } = asked.result;
  const inputResponses = { [Object.keys(inputRequests)[0]!]: accept('fine') };
  return elicit({ text: questionOf(asked) }, { inputResponses, requestState });
}

function questionOf({ result }: Message): string {
  const [question] = Object.values(result.inputRequests) as [{ params: { message: string } }];
  return question.params.message;
}
