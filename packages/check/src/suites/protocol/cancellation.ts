/** Requests that are called off. */

import { aliveMethod, askAlive } from '../../conversation/alive.js';
import type { CheckConversation } from '../../conversation/conversation.js';
import type { Check } from '../../model.js';
import type { CheckContext } from '../../run/check-context.js';
import { membersOf } from '../../wire/transcript.js';
import { describe } from './asking.js';
import { cancelled, needSlowTool, SHORT_MS, SLOW_MS, startSlow, TRIES_MS } from './cancelling.js';
import { evidence } from './exchanges.js';

export const cancellationChecks: readonly Check[] = [
  {
    id: 'cancellation/no-answer-after',
    suite: 'protocol',
    title: 'Does not answer a request that was cancelled',
    level: 'SHOULD',
    rules: ['CANC-007', 'STDIO-015'],
    lane: 'own',
    hint: 'Hand a signal to the work, stop when it fires, and drop what it returns.',
    async run(table) {
      const talk = await openForCancelling(table);
      for (const ms of TRIES_MS) {
        const { answer, watched } = await cancelled(table, talk, ms);
        // What crossed the cancellation on its way is no fault: then a longer call is cancelled.
        if (answer?.when === 'before' || (answer?.when === 'crossing' && ms !== TRIES_MS.at(-1))) continue;
        if (answer)
          table.fail(
            `the cancelled request was answered all the same, ${Math.round(answer.frame.atMs - answer.cancelledAtMs)} ms after it was cancelled`,
            'no answer',
            evidence(answer.frame),
          );
        return `within ${Math.round(watched)} ms the cancelled request was not answered`;
      }
      return table.undecided(
        `a call of ${needSlowTool(table).name} was always answered before it could be cancelled`,
      );
    },
  },
  {
    id: 'cancellation/no-progress-after',
    suite: 'protocol',
    title: 'Reports no progress of a request that was cancelled',
    level: 'SHOULD',
    rules: ['CANC-007', 'STDIO-014', 'PROG-007'],
    reason:
      'The page on stdio forbids any further message; the page on cancellation recommends it (so does CANC-007), and so does this check.',
    lane: 'own',
    hint: 'Send nothing for a request once its cancellation has been read, whatever the work still does.',
    async run(table) {
      const talk = await openForCancelling(table);
      let prompted = 0;
      let lastWatched: number | undefined;
      let tooShort = 0;
      for (let tries = 0; tries < TRIES_MS.length; tries += 1) {
        const { answer, late, prompt, watched } = await cancelled(table, talk, TRIES_MS[tooShort]!);
        if (answer?.when === 'before') tooShort += 1;
        if (late[0])
          table.fail(
            `progress of the cancelled request came ${late.length} times`,
            'silence',
            evidence(late[0]),
          );
        if (answer?.when !== 'before') lastWatched = watched;
        if (lastWatched !== undefined && !prompt) break;
        if (!prompt) continue;
        prompted += 1;
        // Once, it may have crossed the cancellation; not every time.
        if (prompted === TRIES_MS.length)
          table.fail(
            'each time a request was cancelled, more progress of it came at once',
            'silence',
            evidence(prompt),
          );
      }
      if (lastWatched !== undefined)
        return `within ${Math.round(lastWatched)} ms no progress of the cancelled request came`;
      return table.undecided(
        `a call of ${needSlowTool(table).name} was always answered before it could be cancelled`,
      );
    },
  },
  {
    id: 'cancellation/others-go-on',
    suite: 'protocol',
    title: 'Goes on with other requests when one is cancelled',
    level: 'MUST',
    rules: ['CANC-010'],
    lane: 'own',
    hint: 'Cancel the request that is named by requestId, and no other.',
    async run(table) {
      needSlowTool(table);
      const talk = await table.openTalk();
      const first = startSlow(table, talk, SLOW_MS, { progressToken: 9101 });
      const second = startSlow(table, talk, SHORT_MS, { progressToken: 9102 });
      await first.cancel('isthmus-check has changed its mind');
      const reply = await second.reply;
      if (reply.kind !== 'result')
        table.fail(`one of two requests was cancelled, and the other had ${describe(reply)}`, 'its result');
      return 'one of two requests was cancelled, and the other had its result';
    },
  },
  {
    id: 'cancellation/keeps-types-apart',
    suite: 'protocol',
    title: 'Does not take the string "8801" for the id 8801',
    level: 'SHOULD',
    rules: ['CANC-008', 'CANC-011'],
    reason: 'Ids are equal only with their type (JRPC-006): another id is that of another request.',
    lane: 'own',
    hint: 'Compare requestId with the ids of requests as JSON values.',
    async run(table) {
      const talk = await openForCancelling(table);
      const pending = startSlow(table, talk, SHORT_MS, { id: 8801, progressToken: 9201 });
      await talk.notify('notifications/cancelled', { requestId: '8801' });
      const reply = await pending.reply;
      if (reply.kind !== 'result')
        table.fail(
          `request 8801 was running, "8801" was cancelled, and 8801 had ${describe(reply)}`,
          'its result',
        );
      return 'cancelling "8801" did not touch 8801';
    },
  },
  ignored(
    'unknown',
    'a cancellation of a request that never was',
    'SHOULD',
    ['CANC-008', 'CANC-011'],
    [{ requestId: 987_654_321 }, { requestId: 'isthmus-check: nobody', reason: 'for no reason' }],
  ),
  ignored(
    'malformed',
    'a cancellation that names no request',
    'SHOULD',
    ['CANC-011'],
    [
      {},
      { requestId: null },
      { requestId: { id: 1 } },
      { requestId: [1] },
      { requestId: 1.5 },
      { requestId: true },
      { requestId: 'x', reason: 7 },
    ],
  ),
  {
    id: 'cancellation/finished-ignored',
    suite: 'protocol',
    title: 'Ignores the cancellation of a request that was answered already',
    level: 'MUST',
    rules: ['CANC-010'],
    lane: 'rough',
    hint: 'Forget a request when it is answered, and ignore cancellations of what is not there.',
    async run(table) {
      needNotification(table);
      const talk = await talkInUse(table);
      const reply = await askAlive(talk);
      await expectIgnored(table, talk, { requestId: reply.id }, 'the cancellation of an answered request');
      return `${aliveMethod(talk)} was cancelled after its answer, and nothing happened`;
    },
  },
  {
    id: 'cancellation/race-survived',
    suite: 'protocol',
    title: 'Survives cancellations that cross the answer',
    level: 'MUST',
    rules: ['CANC-010'],
    lane: 'rough',
    hint: 'Settle each request once: with the answer, or with the cancellation, whichever is first.',
    async run(table) {
      const talk = await talkInUse(table);
      for (let count = 0; count < RACES; count++) {
        const pending = talk.start(aliveMethod(talk));
        await pending.cancel('a race');
      }
      const reply = await askAlive(talk);
      if (reply.kind !== 'result')
        table.fail(`after ${RACES} races there was ${describe(reply)}`, 'an answer to the next request');
      const twice = answeredTwice(talk);
      if (twice !== undefined)
        table.fail(`${JSON.stringify(twice)} was answered twice`, 'one answer at most');
      return `${RACES} requests were cancelled in the same moment, and the next was answered`;
    },
  },
  {
    id: 'cancellation/disconnect-survived',
    suite: 'protocol',
    title: 'Takes it well when clients go away in the middle of a request',
    level: 'MUST',
    rules: ['CANC-004', 'CANC-010', 'HTTP-024'],
    era: 'modern',
    over: ['http'],
    lane: 'own',
    hint: 'When the response stream is closed, cancel its request; other requests go on.',
    async run(table) {
      needSlowTool(table);
      const talk = await table.openTalk();
      const kept = startSlow(table, talk, SHORT_MS);
      for (let count = 0; count < 5; count++) {
        const pending = startSlow(table, talk, SLOW_MS, { progressToken: 9300 + count });
        await pending.waitFor(() => true, SHORT_MS);
        await pending.cancel();
      }
      const reply = await kept.reply;
      const after = await askAlive(talk);
      if (reply.kind !== 'result' || after.kind !== 'result')
        table.fail(
          `five clients went away; another request had ${describe(reply)}, and the next ${describe(after)}`,
          'results for both',
        );
      return 'five clients went away, and the others were answered';
    },
  },
];

const RACES = 20;

/** Modern HTTP has no such notification: there the stream is closed, and nothing can come after it. */
function needNotification(table: CheckContext): void {
  if (table.era === 'modern' && table.target.transport === 'http')
    table.skip('over modern HTTP a request is cancelled by closing its stream');
}

/** Some servers take a notification for one of another era until a request has told them the era. */
async function talkInUse(table: CheckContext): Promise<CheckConversation> {
  const talk = await table.roughTalk();
  if (talk.era === 'modern') await talk.request('tools/list');
  return talk;
}

function openForCancelling(table: CheckContext): Promise<CheckConversation> {
  needNotification(table);
  needSlowTool(table);
  return table.openTalk();
}

function answeredTwice(talk: CheckConversation): unknown {
  const seen = new Set<string>();
  for (const { from, id, kind, exchange } of talk.transcript.frames) {
    if (from !== 'server' || id === undefined || (kind !== 'result' && kind !== 'error')) continue;
    const key = `${exchange} ${JSON.stringify(id)}`;
    if (seen.has(key)) return id;
    seen.add(key);
  }
  return undefined;
}

function ignored(
  name: string,
  what: string,
  level: Check['level'],
  rules: readonly string[],
  params: readonly Record<string, unknown>[],
): Check {
  return {
    id: `cancellation/${name}-ignored`,
    suite: 'protocol',
    title: `Ignores ${what}`,
    level,
    rules,
    lane: 'rough',
    hint: 'Do nothing and say nothing when requestId is not the id of a request that is running.',
    async run(table) {
      needNotification(table);
      const talk = await talkInUse(table);
      for (const each of params) await expectIgnored(table, talk, each, JSON.stringify(each));
      return `${params.length} of them were ignored`;
    },
  };
}

async function expectIgnored(
  table: CheckContext,
  talk: CheckConversation,
  params: Record<string, unknown>,
  what: string,
): Promise<void> {
  const from = talk.transcript.frames.length;
  await talk.notify('notifications/cancelled', params).catch(() => {});
  const reply = await askAlive(talk);
  if (reply.kind !== 'result')
    table.fail(`after ${what}, ${aliveMethod(talk)} had ${describe(reply)}`, 'an answer as before');
  const said = talk.transcript.frames.slice(from).find(
    (frame) =>
      frame.from === 'server' &&
      (frame.kind === 'error' || frame.kind === 'result') &&
      // Over HTTP, a refusal of the whole POST is fine, and names no request.
      (frame.id !== undefined || table.target.transport !== 'http') &&
      membersOf(frame)['id'] !== reply.id,
  );
  if (said) table.fail(`${what} was answered`, 'silence', evidence(said));
}
