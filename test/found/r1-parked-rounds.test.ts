import { expect, it } from 'vitest';
import { ask, modernCall } from '../../packages/sdk/test/support/http-server.js';
import { accept, CAPABILITIES, call, outcome } from '../bridge-load/near/near.js';
import { keepFar, program } from '../bridge-load/support/far.js';
import { stage } from '../bridge-load/support/stage.js';
import type { Message } from '../support/messages.js';

/** Calls that wait for a person hold nothing that others need, and have a bound that is fair between clients. */

const lines = { args: [program('legacy-lines.mjs')] };

const elicit = (text: string, params: object = {}) =>
  modernCall(1, 'elicit', { text }, { params, capabilities: CAPABILITIES });

const answered = (text: string, { result }: Message) =>
  elicit(text, { requestState: result.requestState, inputResponses: { 'elicitation-1': accept('fine') } });

it('R1: more unanswered rounds than a process has places keep no other caller waiting', async () => {
  const { host } = keepFar('legacy', { ...lines, maxInFlight: 4 });
  const { url, enter } = await stage(host.upstream('far'));
  const rounds: Message[] = [];
  for (let at = 0; at < 10; at += 1) rounds.push((await ask(url, elicit(`q${at}`))).json);
  expect(rounds.map(({ result }) => result.resultType)).toEqual(Array(10).fill('input_required'));
  expect(host.snapshot('far')).toMatchObject({
    parked: 10,
    maxParked: 1000,
    inFlight: 10,
    queued: 0,
  });
  const other = await enter('modern socket', 'other');
  for (const method of ['tools/list', 'tools/call', 'tools/list']) {
    const params = method === 'tools/call' ? { name: 'pid', arguments: {} } : {};
    expect((await other.request(method, method, params)).error).toBeUndefined();
  }
  // Each of them goes on at once when it is answered, however many do so at the same time.
  const done = await Promise.all(rounds.map((round, at) => ask(url, answered(`q${at}`, round))));
  expect(done.map(({ json }) => json.result.content[0].text)).toEqual(rounds.map((_, at) => `q${at}: fine`));
  expect(host.snapshot('far')).toMatchObject({ parked: 0, inFlight: 0 });
});

it('R1: a client that leaves its rounds unanswered loses its own oldest, with a clear error, and never those of others', async () => {
  const { host, seen } = keepFar('legacy', { ...lines, maxParked: 3 });
  const { url, enter } = await stage(host.upstream('far'));
  const modest = await enter('modern socket', 'modest');
  let think = () => {};
  modest.answer = () =>
    new Promise((resolve) => {
      think = () => resolve(accept('modest'));
    });
  const mine = call(modest, 1, 'elicit', { text: 'mine' });
  await expect.poll(() => modest.asked).toEqual(['mine']);
  const rounds: Message[] = [];
  for (let at = 0; at < 5; at += 1) rounds.push((await ask(url, elicit(`q${at}`))).json);
  await expect.poll(() => host.snapshot('far')?.parked).toBe(3);
  const [lost, , , kept] = rounds;
  const { error } = (await ask(url, answered('q0', lost!))).json;
  expect(error!.message).toContain('3 calls wait for an answer to a question, which is the limit');
  expect(error!.data).toMatchObject({ reason: 'BUSY' });
  expect((await ask(url, answered('q3', kept!))).json.result.content[0].text).toBe('q3: fine');
  think();
  expect(outcome(await mine)).toEqual([1, 'mine: modest']);
  // It is told once, and not for every call that has to go.
  expect(seen.all('parked').map(({ parked }) => parked)).toEqual([3]);
});
