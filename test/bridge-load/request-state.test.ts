/** A `requestState` of the bridge is good for one principal, one request, one use and some time (MRTR-009 … MRTR-013). */

import type { ServeOptions } from '@isthmus/sdk';
import type { HttpRequestFacts } from '@isthmus/sdk/http';
import { expect, it } from 'vitest';
import { type Ask, ask, modernCall } from '../../packages/sdk/test/support/http-server.js';
import { FakeClock } from '../support/fake-clock.js';
import type { Message } from '../support/messages.js';
import { accept, CAPABILITIES, type Era } from './near/near.js';
import { type KeptFar, keepFar, program } from './support/far.js';
import { type Stage, stage } from './support/stage.js';

const ALTERED = 'requestState was altered, has expired or belongs to another request';
const SPENT = 'requestState was used already, or its call has ended';

it.each<Era>(['legacy', 'modern'])(
  'in front of a %s server a state is refused to another principal, and its owner goes on with it',
  async (era) => {
    const { far, url } = await open(era);
    const requestState = await askedFirst(url, 'alice');
    expect(await refused(url, again('bob', { requestState }))).toEqual([-32602, ALTERED]);
    expect(await ending(url, again('alice', { requestState }))).toBe('well?: fine');
    expect(far.diary.lines()).toEqual(['asking well?', 'answered well?']);
  },
);

it.each<Era>(['legacy', 'modern'])(
  'in front of a %s server a state that was altered, cut or made up is refused, and the true one still works',
  async (era) => {
    const { far, url } = await open(era);
    const requestState = await askedFirst(url, 'alice');
    const parts = requestState.split('.');
    const altered = [
      '',
      'x',
      ...parts.map((_, at) => parts.with(at, flipped(parts[at]!)).join('.')),
      ...parts.map((_, at) => parts.slice(0, at).join('.')),
      requestState.slice(0, -1),
      `${requestState}A`,
      await askedFirst((await open(era)).url, 'alice'),
    ];
    for (const each of altered) {
      expect(await refused(url, again('alice', { requestState: each }))).toEqual([-32602, ALTERED]);
    }
    expect(await refused(url, again('alice', { requestState: 7 }))).toEqual([
      -32602,
      'requestState must be a string',
    ]);
    expect(await ending(url, again('alice', { requestState }))).toBe('well?: fine');
    expect(far.diary.lines()).toEqual(['asking well?', 'answered well?']);
  },
);

it.each<Era>(['legacy', 'modern'])(
  'in front of a %s server a state is refused to a request that differs from the first (MRTR-023)',
  async (era) => {
    const { far, url } = await open(era);
    const requestState = await askedFirst(url, 'alice');
    for (const different of [
      again('alice', { requestState }, { text: 'or so?' }),
      again('alice', { requestState }, {}),
      again('alice', { requestState }, { text: 'well?', more: true }),
      again('alice', { requestState }, { text: 'well?' }, 'echo'),
    ]) {
      expect(await refused(url, different)).toEqual([-32602, ALTERED]);
    }
    expect(await ending(url, again('alice', { requestState }))).toBe('well?: fine');
    expect(far.diary.lines()).toEqual(['asking well?', 'answered well?']);
  },
);

it.each<Era>(['legacy', 'modern'])(
  'in front of a %s server a state that has expired is refused',
  async (era) => {
    const clock = new FakeClock();
    const { far, url } = await open(era, { clock, roundTtlMs: 60_000 });
    const requestState = await askedFirst(url, 'alice');
    clock.advance(60_000);
    expect(await refused(url, again('alice', { requestState }))).toEqual([-32602, ALTERED]);
    expect(far.diary.lines()).not.toContain('answered well?');
  },
);

it('a state wakes a sleeping call once, also when it is used ten times at the same moment', async () => {
  const { far, url } = await open('legacy');
  const requestState = await askedFirst(url, 'alice');
  const all = await Promise.all(
    Array.from({ length: 10 }, async () => (await ask(url, again('alice', { requestState }))).json),
  );
  const answers = all.filter(({ result }) => result);
  expect(answers.map(({ result }) => result.content[0].text)).toEqual(['well?: fine']);
  expect(all.flatMap(({ error }) => (error ? [[error.code, error.message]] : []))).toEqual(
    Array.from({ length: 9 }, () => [-32602, SPENT]),
  );
  expect(await refused(url, again('alice', { requestState }))).toEqual([-32602, SPENT]);
  expect(far.diary.lines()).toEqual(['asking well?', 'answered well?']);
});

/** A bridge in front of a server with a process for each principal. */
async function open(era: Era, serve: ServeOptions = {}): Promise<Stage & { far: KeptFar }> {
  const far = keepFar(era, {
    processes: 'per-principal',
    ...(era === 'legacy' && { args: [program('legacy-lines.mjs')] }),
  });
  const authenticate = (request: HttpRequestFacts) => request.header('authorization');
  return { ...(await stage(far.host.upstream('far'), { serve, http: { authenticate } })), far };
}

/** Makes the call that is asked back; gives the state to come back with. */
async function askedFirst(url: string, principal: string): Promise<string> {
  const { result } = (await ask(url, elicit(principal, { text: 'well?' }, 'elicit'))).json;
  expect(result.resultType).toBe('input_required');
  expect(Object.values(result.inputRequests)).toMatchObject([{ params: { message: 'well?' } }]);
  keys.set(result.requestState, Object.keys(result.inputRequests)[0]!);
  return result.requestState;
}

/** The key of the question that belongs to a state. */
const keys = new Map<unknown, string>();

/** The same call again, with an answer. */
function again(
  principal: string,
  params: { requestState: unknown },
  args: object = { text: 'well?' },
  tool = 'elicit',
): Ask {
  const key = keys.get(params.requestState) ?? 'it';
  return elicit(principal, args, tool, { ...params, inputResponses: { [key]: accept('fine') } });
}

function elicit(authorization: string, args: object, tool: string, params: object = {}): Ask {
  return modernCall(1, tool, args, { params, capabilities: CAPABILITIES, headers: { authorization } });
}

async function refused(url: string, options: Ask): Promise<[number, string]> {
  const { error } = (await ask(url, options)).json as Required<Message>;
  return [error.code, error.message];
}

async function ending(url: string, options: Ask): Promise<string> {
  return (await ask(url, options)).json.result.content[0].text;
}

function flipped(part: string): string {
  return part === '' ? 'AAAA' : `${part[0] === 'A' ? 'B' : 'A'}${part.slice(1)}`;
}
