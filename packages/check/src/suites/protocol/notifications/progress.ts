/** Progress notifications. */

import type { JsonObject, RequestId } from '@isthmus/sdk/internal/wire/json-rpc.js';
import type { CheckConversation } from '../../../conversation/conversation.js';
import type { Check } from '../../../model.js';
import type { CheckContext } from '../../../run/check-context.js';
import type { WalkthroughStop } from '../../../survey/facts.js';
import { type Frame, membersOf, paramsOf, type WireTranscript } from '../../../wire/transcript.js';
import { evidence } from '../answers.js';
import { describe, nameOf } from '../questions/asking.js';

export const progressChecks: readonly Check[] = [
  {
    id: 'progress/increases',
    suite: 'protocol',
    title: 'Progress increases with every notification',
    level: 'MUST',
    rules: ['PROG-004'],
    lane: 'after',
    hint: 'Send a notification only when progress is greater than what was sent last for this token.',
    run(context) {
      const all = heardProgress(context);
      const last = new Map<string, number>();
      for (const { frame, key } of all) {
        const { progress } = paramsOf(frame);
        const before = last.get(key);
        if (typeof progress !== 'number')
          context.fail(`progress is ${JSON.stringify(progress) ?? 'missing'}`, 'a number', evidence(frame));
        else if (before !== undefined && progress <= before)
          context.fail(
            `progress went from ${before} to ${progress}`,
            'a greater value than before',
            evidence(frame),
          );
        else last.set(key, progress);
      }
      return `all of ${all.length} progress notifications increased`;
    },
  },
  {
    id: 'progress/of-running-requests',
    suite: 'protocol',
    title: 'Reports progress only with tokens of running requests',
    level: 'MUST',
    rules: ['PROG-007', 'PROG-008'],
    lane: 'after',
    hint: 'Stop reporting before you send the answer, and use the token of the request unchanged.',
    run(context) {
      const all = heardProgress(context);
      for (const { frame, request, isAnswered } of all) {
        const token = JSON.stringify(paramsOf(frame)['progressToken']) ?? 'no token';
        if (!request)
          context.fail(
            `progress came with ${token}, which no request had`,
            'a token of a request',
            evidence(frame),
          );
        if (isAnswered)
          context.fail(
            `progress came with ${token} after the answer`,
            'no progress after the answer',
            evidence(frame),
          );
      }
      return `all of ${all.length} progress notifications were of running requests`;
    },
  },
  {
    id: 'progress/keeps-the-token',
    suite: 'protocol',
    title: 'Reports progress with the token of the request, with the same type',
    level: 'MUST',
    rules: ['PROG-007'],
    hint: 'Return _meta.progressToken unchanged. A string stays a string, and 0 is a valid token.',
    async run(context) {
      const stop = reportingStops(context)[0]!;
      const conversation = await context.conversation();
      for (const token of ['7001', 0, 'isthmus/token ✓'] satisfies RequestId[]) {
        const { progress, reply } = await report(conversation, stop, { progressToken: token });
        if (reply.kind === 'silence') context.fail(`${nameOf(stop)} had ${describe(reply)}`, 'an answer');
        const wrong = progress.find((frame) => paramsOf(frame)['progressToken'] !== token);
        if (wrong)
          context.fail(
            `the token ${JSON.stringify(token)} came back as ${JSON.stringify(paramsOf(wrong)['progressToken'])}`,
            JSON.stringify(token),
            evidence(wrong),
          );
      }
      return `${nameOf(stop)} kept strings, numbers and 0`;
    },
  },
  {
    id: 'progress/none-without-token',
    suite: 'protocol',
    title: 'Reports no progress for requests without a token',
    level: 'MUST',
    rules: ['PROG-007'],
    hint: 'Send notifications/progress only when the request has _meta.progressToken.',
    async run(context) {
      const stops = reportingStops(context).slice(0, 3);
      const conversation = await context.conversation();
      for (const stop of stops) {
        const { progress } = await report(conversation, stop, {});
        if (progress[0])
          context.fail(`${nameOf(stop)} without a token reported progress`, 'none', evidence(progress[0]));
      }
      return `${stops.map(nameOf).join(', ')}: no progress without a token`;
    },
  },
  {
    id: 'progress/two-at-once',
    suite: 'protocol',
    title: 'Reports the progress of concurrent requests separately',
    level: 'MUST',
    rules: ['PROG-004', 'PROG-007', 'HTTP-015'],
    lane: 'own',
    hint: 'Keep the token with its request, and send progress on the same stream as the answer.',
    async run(context) {
      const stop = reportingStops(context)[0]!;
      const conversation = await context.openConversation();
      const tokens = [7101, 7102, 7103];
      const replies = await Promise.all(
        tokens.map((progressToken) => conversation.request(stop.method, stop.params, { progressToken })),
      );
      for (const [at, progressToken] of tokens.entries()) {
        const values = conversation.transcript.frames
          .filter((frame) => isProgress(frame) && paramsOf(frame)['progressToken'] === progressToken)
          .map((frame) => paramsOf(frame)['progress'] as number);
        const falls = values.findIndex((value, index) => index > 0 && value <= values[index - 1]!);
        if (falls > 0)
          context.fail(
            `with three requests at once, progress with ${progressToken} went from ${values[falls - 1]} to ${values[falls]}`,
            'progress that increases for each',
          );
        const alien = replies[at]!.http?.frames.find(
          (frame) => isProgress(frame) && paramsOf(frame)['progressToken'] !== progressToken,
        );
        if (alien && context.era === 'modern')
          context.fail(
            `progress with ${JSON.stringify(paramsOf(alien)['progressToken'])} came on the stream of ${progressToken}`,
            'progress on the stream of its own request',
            evidence(alien),
          );
      }
      return `${nameOf(stop)} three times at once: each reported its own progress`;
    },
  },
  {
    id: 'progress/within-its-total',
    suite: 'protocol',
    title: 'Progress does not exceed its total',
    level: 'SHOULD',
    rules: [],
    reason: 'Clients show a progress bar.',
    lane: 'after',
    hint: 'Leave out total if it is unknown, and correct it if it grows.',
    run(context) {
      const all = heardProgress(context);
      for (const { frame } of all) {
        const { progress, total } = paramsOf(frame);
        if (typeof progress === 'number' && typeof total === 'number' && progress > total)
          context.fail(`progress is ${progress} of ${total}`, 'at most the total', evidence(frame));
      }
      return `all of ${all.length} progress notifications are within their total`;
    },
  },
  {
    id: 'progress/says-something',
    suite: 'protocol',
    title: 'The message of a progress notification is readable text',
    level: 'SHOULD',
    rules: ['PROG-006'],
    lane: 'after',
    hint: 'State in message what the server does, or leave it out.',
    run(context) {
      if (context.revision < '2025-03-26') context.skip(`${context.revision} has no messages in progress`);
      const said = heardProgress(context).filter(({ frame }) => paramsOf(frame)['message'] !== undefined);
      if (said.length === 0) context.skip('no progress notification has a message');
      for (const { frame } of said) {
        const { message } = paramsOf(frame);
        if (typeof message !== 'string' || message.trim() === '')
          context.fail(
            `the message of a progress notification is ${JSON.stringify(message)}`,
            'a few words',
            evidence(frame),
          );
      }
      return `all of ${said.length} progress messages are readable`;
    },
  },
  {
    id: 'progress/not-a-flood',
    suite: 'protocol',
    title: 'Does not flood the client with progress',
    level: 'SHOULD',
    rules: ['PROG-009'],
    lane: 'after',
    hint: 'Send progress at most a few times per second.',
    run(context) {
      const times = new Map<string, number[]>();
      for (const { frame, key } of heardProgress(context))
        times.set(key, [...(times.get(key) ?? []), frame.atMs]);
      for (const at of times.values()) {
        const flood = at.find((time, index) => (at[index + FLOOD] ?? Number.POSITIVE_INFINITY) - time < 1000);
        if (flood !== undefined)
          context.fail(`more than ${FLOOD} progress notifications came within a second`, 'a few a second');
      }
      return `at most ${FLOOD} progress notifications came within a second`;
    },
  },
];

/** In one second, for one request. */
const FLOOD = 200;

export function isProgress(frame: Frame): boolean {
  return frame.from === 'server' && frame.method === 'notifications/progress';
}

function reportingStops(context: CheckContext): readonly WalkthroughStop[] {
  const stops = context.facts.walkthrough.filter(
    ({ reply }) => reply.kind !== 'silence' && reply.notifications.some(isProgress),
  );
  if (stops.length === 0) context.skip('nothing that may be called reports progress');
  return stops;
}

async function report(
  conversation: CheckConversation,
  stop: WalkthroughStop,
  options: { readonly progressToken?: RequestId },
) {
  const from = conversation.transcript.frames.length;
  const reply = await conversation.request(stop.method, stop.params, options);
  return { reply, progress: conversation.transcript.frames.slice(from).filter(isProgress) };
}

interface Heard {
  readonly frame: Frame;
  /** Identifies the request in the whole run. */
  readonly key: string;
  readonly request: Frame | undefined;
  readonly isAnswered: boolean;
}

/** All progress in well-behaved conversations, each with the request that had its token at that time. */
function heardProgress(context: CheckContext): readonly Heard[] {
  const all = context.transcripts.flatMap((transcript, index) => inTranscript(transcript, index));
  if (all.length === 0) context.skip('no progress was reported');
  return all;
}

function inTranscript({ frames }: WireTranscript, index: number): Heard[] {
  const requests = new Map<string, Frame>();
  const answered = new Map<unknown, Frame>();
  const heard: Heard[] = [];
  for (const frame of frames) {
    if (frame.from === 'check' && frame.kind === 'request') {
      const token = (paramsOf(frame)['_meta'] as JsonObject | undefined)?.['progressToken'];
      if (token !== undefined) requests.set(JSON.stringify(token), frame);
    } else if (isProgress(frame)) {
      const request = requests.get(JSON.stringify(paramsOf(frame)['progressToken']) ?? '');
      heard.push({
        frame,
        key: `${index} ${JSON.stringify(request?.id)}`,
        request,
        isAnswered: isAfter(frame, answered.get(request?.id)),
      });
    } else if (frame.from === 'server' && (frame.kind === 'result' || frame.kind === 'error')) {
      answered.set(membersOf(frame)['id'], frame);
    }
  }
  return heard;
}

/** The order is defined only within one HTTP stream. */
function isAfter(frame: Frame, answer: Frame | undefined): boolean {
  return answer !== undefined && answer.exchange === frame.exchange;
}
