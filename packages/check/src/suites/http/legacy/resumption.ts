import { fetchRest } from '../../../conversation/http-legacy-conversation.js';
import type { Check } from '../../../model.js';
import type { CheckContext } from '../../../run/check-context.js';
import type { PeerHttpAnswer } from '../../../wire/http-peer.js';
import { type Frame, paramsOf } from '../../../wire/transcript.js';
import { isResponse } from '../client/answer.js';
import { describeStop, reportingCall, streamsOf } from '../client/requests.js';
import { openSession, type RawSession } from '../client/session.js';

const about = { suite: 'http', era: 'legacy', over: ['http'], lane: 'own', level: 'MUST' } as const;

/** Resumption of streams with Last-Event-ID, if a server offers it. */
export const resumptionChecks: readonly Check[] = [
  {
    ...about,
    id: 'http-resume/unique-ids',
    title: 'Gives each event of a session a unique id',
    lane: 'shared',
    rules: ['LHTTP-020'],
    hint: 'Make event ids unique among all streams of a session, for example with the stream in the id.',
    run(context) {
      const seen = new Map<string, string>();
      for (const { stop, http } of streamsOf(context)) {
        for (const { id } of http.events) {
          if (id === undefined) continue;
          const before = seen.get(id);
          if (before !== undefined)
            context.fail(
              `the event id ${id} is used for ${before} and for ${describeStop(stop)}`,
              'unique ids',
            );
          seen.set(id, describeStop(stop));
        }
      }
      if (seen.size === 0) return context.skip('no event has an id; streams cannot be resumed here');
      return `${seen.size} event ids, all different`;
    },
  },
  {
    ...about,
    id: 'http-resume/primed',
    title: 'Begins a stream with an event that has an id and no data',
    level: 'SHOULD',
    lane: 'shared',
    rules: ['LHTTP-011'],
    hint: 'Send an event with an id and empty data first, so that the client can resume a stream that breaks at once.',
    run(context) {
      if (context.revision < '2025-11-25') return context.skip(`${context.revision} does not ask for it`);
      const streams = streamsOf(context);
      if (!streams.some(({ http }) => http.events.some(({ id }) => id !== undefined)))
        return context.skip('no event has an id; streams cannot be resumed here');
      for (const { stop, http } of streams) {
        const [first] = http.events;
        if (first?.id === undefined || first.data !== '')
          context.fail(
            `the first event of ${describeStop(stop)} has ${first?.id === undefined ? 'no id' : `the data ${first.data.slice(0, 80)}`}`,
            'an id, and empty data',
          );
      }
      return `${streams.length} streams begin with an id and no data`;
    },
  },
  {
    ...about,
    id: 'http-resume/retry-before-early-end',
    title: 'Sends retry before it ends a stream without its response',
    level: 'SHOULD',
    lane: 'shared',
    rules: ['LHTTP-013', 'LHTTP-008'],
    hint: 'Send a retry field before you close a stream without its response. Before 2025-11-25, do not close it.',
    async run(context) {
      const streams = context.facts.walkthrough.flatMap((stop) => {
        const { http } = stop.reply;
        return http?.isStream ? [{ stop, http }] : [];
      });
      if (streams.length === 0) return context.skip('no answer was an event stream');
      let early = 0;
      for (const { stop, http } of streams) {
        if (http.frames.some(isResponse)) continue;
        if (!(await http.whole(1))) continue;
        early++;
        if (context.revision < '2025-11-25')
          context.fail(
            `the stream of ${describeStop(stop)} ended without its response`,
            'the response first',
          );
        if (http.retries.length === 0)
          context.fail(
            `the stream of ${describeStop(stop)} ended without its response, and without retry`,
            'a retry field before the end',
          );
      }
      if (early === 0) return context.skip('no stream ended before its response');
      return `${early} streams ended early, with retry`;
    },
  },
  {
    ...about,
    id: 'http-resume/own-stream-only',
    title: 'Replays only messages of the stream that is resumed',
    rules: ['LHTTP-023', 'LHTTP-021'],
    hint: 'Find the stream by the event id, and replay only later events of that stream.',
    async run(context) {
      const { session, first, call } = await twoStreams(context);
      const resumed = await resume(context, session, call[0], first);
      const strange = resumed.find(
        (frame) => frame.id === 'other' || paramsOf(frame)['progressToken'] === 'other',
      );
      if (strange)
        context.fail(
          `a stream that is resumed after ${first} has ${strange.text.slice(0, 160)}`,
          'its own messages',
        );
      return `${resumed.length} messages were replayed, all of the stream that was resumed`;
    },
  },
  {
    ...about,
    id: 'http-resume/answer-survives',
    title: 'Continues a call whose stream was lost, and sends the response on the resumed stream',
    level: 'SHOULD',
    rules: ['LHTTP-009'],
    hint: 'In the legacy era a lost connection is not a cancellation. Continue the call, keep its messages, and replay them for Last-Event-ID.',
    async run(context) {
      const stop = reportingCall(context);
      const session = await openSession(context);
      const http = await start(context, session, stop, 'lost');
      const id = await firstId(context, http);
      if (id === undefined) return context.skip('no event has an id; streams cannot be resumed here');
      http.close();
      let status = 0;
      const answer = await fetchRest(http, (frame) => frame.id === 'lost', {
        ...session,
        clock: context.clock,
        until: context.clock.now() + context.patience.answerMs,
        onStream: (resumed) => {
          status = resumed.status;
        },
      });
      if (status === 405) return context.skip('the server offers no GET');
      if (!answer)
        context.fail(
          `after the stream of ${describeStop(stop)} was lost, GET with Last-Event-ID: ${id} was answered with HTTP ${status}, and there was no response`,
          'the response of the call',
        );
      return 'the response came on the resumed stream';
    },
  },
  {
    ...about,
    id: 'http-resume/unknown-event',
    title: 'Survives an unknown Last-Event-ID',
    level: 'SHOULD',
    rules: [],
    reason:
      'After a restart or a long pause, clients send ids of events that no longer exist. That must not cause a server error (5xx).',
    hint: 'Answer an unknown Last-Event-ID with HTTP 400 or 404, or with a stream without a replay.',
    async run(context) {
      const session = await openSession(context);
      const http = await session.get({ 'last-event-id': 'isthmus-check-none' }).catch(() => undefined);
      http?.close();
      if (!http) return context.fail('GET had no answer', 'an answer');
      if (http.status >= 500)
        context.fail(`GET was answered with HTTP ${http.status}`, 'HTTP 4xx, or a stream');
      const answer = await session.post({ jsonrpc: '2.0', id: 2, method: 'ping' });
      if (!answer.result) context.fail(`afterwards, ping was answered with ${answer.said}`, 'HTTP 200');
      return `was answered with HTTP ${http.status}, and the session continues`;
    },
  },
];

/** Two complete streams of one session, and the first event id of the first one. */
async function twoStreams(context: CheckContext) {
  const stop = reportingCall(context);
  const session = await openSession(context);
  const call = [
    await start(context, session, stop, 'one'),
    await start(context, session, stop, 'other'),
  ] as const;
  for (const http of call) await http.whole(context.patience.answerMs);
  const first = call[0].events.find(({ id }) => id !== undefined)?.id;
  if (first === undefined) return context.skip('no event has an id; streams cannot be resumed here');
  return { session, first, call };
}

async function resume(
  context: CheckContext,
  session: RawSession,
  before: PeerHttpAnswer,
  lastEventId: string,
): Promise<readonly Frame[]> {
  const http = await session.get({ 'last-event-id': lastEventId });
  if (http.status !== 200 || !http.isStream)
    return context.skip(`GET with Last-Event-ID is answered with HTTP ${http.status}`);
  const last = before.frames.at(-1)?.text;
  await http.waitFor(({ text }) => text === last, context.patience.answerMs);
  await context.pause(context.patience.quietMs);
  http.close();
  return http.frames;
}

function start(
  context: CheckContext,
  session: RawSession,
  { method, params }: ReturnType<typeof reportingCall>,
  id: string,
): Promise<PeerHttpAnswer> {
  return session.peer.request({
    body: { jsonrpc: '2.0', id, method, params: { ...params, _meta: { progressToken: id } } },
    headers: session.headers,
    ms: context.patience.answerMs,
  });
}

async function firstId(context: CheckContext, http: PeerHttpAnswer): Promise<string | undefined> {
  await http.waitFor(() => true, context.patience.answerMs);
  return http.events.find(({ id }) => id !== undefined)?.id;
}
