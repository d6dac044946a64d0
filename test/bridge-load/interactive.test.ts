/** Many clients at once call a tool that asks back, and each is asked its own question, and only that. */

import { CONVERSATION } from '@isthmus/sdk/bridge';
import { http } from '@isthmus/sdk/http';
import { describe, expect, it } from 'vitest';
import { call, type Era, type Near, outcome } from './near/near.js';
import { keepFar, program, startHttpFar } from './support/far.js';
import { type Stage, stage } from './support/stage.js';

/** 10 modern and 5 legacy clients, half of them on HTTP and half on the socket. */
function enterAll({ enter }: Stage): Promise<Near[]> {
  const ofEra = (era: Era, count: number) =>
    Array.from({ length: count }, (_, at) =>
      enter(at % 2 === 0 ? `${era} HTTP` : `${era} socket`, `${era} ${at}`),
    );
  return Promise.all([...ofEra('modern', 10), ...ofEra('legacy', 5)]);
}

/** All ask at the same time, with the same id. */
function elicitAll(clients: readonly Near[], of?: number, meta?: (near: Near) => object): Promise<unknown[]> {
  return Promise.all(
    clients.map(async (near) => {
      const args = { text: `how is ${near.name}?`, ...(of && { of }) };
      return outcome(await call(near, 1, 'elicit', args, { ...meta?.(near) }));
    }),
  );
}

const ownAnswers = (clients: readonly Near[]) => clients.map(({ name }) => [1, `how is ${name}?: ${name}`]);

const ownQuestions = (clients: readonly Near[]) => clients.map(({ name }) => [`how is ${name}?`]);

const asked = (clients: readonly Near[]) => clients.map((near) => near.asked);

const strays = (clients: readonly Near[]) => clients.flatMap((near) => near.strays);

describe('10 modern and 5 legacy clients, elicited at the same time by', () => {
  it('a modern stdio server, are asked their own questions and get their own answers', async () => {
    const { host } = keepFar('modern');
    const clients = await enterAll(await stage(host.upstream('far')));
    expect(await elicitAll(clients, 15)).toEqual(ownAnswers(clients));
    expect(asked(clients)).toEqual(ownQuestions(clients));
    expect(strays(clients)).toEqual([]);
  });

  it('a legacy HTTP server, whose questions come on the streams of their calls, likewise', async () => {
    const far = await startHttpFar('legacy');
    const clients = await enterAll(await stage(http(far.url)));
    expect(await elicitAll(clients, 15)).toEqual(ownAnswers(clients));
    expect(asked(clients)).toEqual(ownQuestions(clients));
    expect(strays(clients)).toEqual([]);
  });

  it('a modern HTTP server, likewise', async () => {
    const far = await startHttpFar('modern');
    const clients = await enterAll(await stage(http(far.url)));
    expect(await elicitAll(clients, 15)).toEqual(ownAnswers(clients));
    expect(asked(clients)).toEqual(ownQuestions(clients));
    expect(strays(clients)).toEqual([]);
  });

  it('one legacy stdio process for all, are never asked for another; once it is known to ask, all succeed', async () => {
    const { host, diary } = keepFar('legacy');
    const clients = await enterAll(await stage(host.upstream('far')));
    const first = await elicitAll(clients, 15);
    // Which of the 15 that run together asks what cannot be known. Except for the last ones they are refused.
    expect(first).toEqual(clients.map(({ name }) => [1, expect.stringMatching(answerOrRefusal(name))]));
    for (const near of clients)
      expect(near.asked.filter((each) => each !== `how is ${near.name}?`)).toEqual([]);
    for (const near of clients) near.asked.length = 0;
    expect(await elicitAll(clients)).toEqual(ownAnswers(clients));
    expect(asked(clients)).toEqual(ownQuestions(clients));
    expect(strays(clients)).toEqual([]);
    expect(diary.lines().filter((each) => each.startsWith('asking'))).toHaveLength(30);
  });

  it('legacy stdio processes, one for each client, are asked their own questions at once', async () => {
    const { host, seen } = keepFar('legacy', {
      processes: 'per-conversation',
      args: [program('legacy-lines.mjs')],
    });
    const clients = await enterAll(await stage(host.upstream('far')));
    // Modern clients of nobody in particular are one, unless they say which conversation it is.
    const named = (near: Near) => (near.era === 'modern' ? { [CONVERSATION]: near.name } : {});
    expect(await elicitAll(clients, undefined, named)).toEqual(ownAnswers(clients));
    expect(asked(clients)).toEqual(ownQuestions(clients));
    expect(strays(clients)).toEqual([]);
    expect(seen.all('start')).toHaveLength(15);
  });
});

function answerOrRefusal(name: string): RegExp {
  return new RegExp(`^how is ${name}\\?(: ${name}$| was refused: )`);
}
