/** Requests of a legacy server to its client. */
import { refuseAll } from '../../../conversation/conversation.js';
import type { Check } from '../../../model.js';
import { complaintText, judgeServerRequest, type Revision } from '../../../shapes/index.js';
import { membersOf } from '../../../wire/transcript.js';
import { evidence, saidByServer } from '../answers.js';
import { answeringConversation, askAndAnswer, askingStops, describe, nameOf, variety } from './asking.js';

const common = { suite: 'protocol', era: 'legacy' } as const;

export const questionsLegacyChecks: readonly Check[] = [
  {
    ...common,
    id: 'questions/ids-are-never-reused',
    title: 'Never reuses the id of one of its own requests',
    level: 'MUST',
    rules: ['JRPC-005', 'JRPC-002', 'JRPC-003'],
    lane: 'after',
    hint: 'Use a counter for each session, and never reset it.',
    run(context) {
      let count = 0;
      for (const transcript of context.transcripts) {
        const seen = new Map<unknown, string>();
        for (const frame of transcript.frames) {
          if (frame.from !== 'server' || frame.kind !== 'request') continue;
          count++;
          const id = membersOf(frame)['id'];
          if (typeof id !== 'string' && !Number.isInteger(id))
            context.fail(
              `${frame.method} of the server has the id ${JSON.stringify(id)}`,
              'a string or an integer',
              evidence(frame),
            );
          const before = seen.get(id);
          if (before !== undefined)
            context.fail(
              `${frame.method} of the server has the id ${JSON.stringify(id)}, which ${before} already had`,
              'a new id in this session',
              evidence(frame),
            );
          seen.set(id, frame.method!);
        }
      }
      if (count === 0) context.skip('the server sent no request');
      return `all of ${count} requests of the server have unique ids`;
    },
  },
  {
    ...common,
    id: 'questions/of-its-revision',
    title: 'Sends only requests that the negotiated revision defines',
    level: 'MUST',
    rules: ['INIT-012'],
    lane: 'after',
    hint: 'Use only features of the negotiated revision: elicitation since 2025-06-18, its modes since 2025-11-25.',
    run(context) {
      const requests = saidByServer(context, ({ kind }) => kind === 'request');
      if (requests.length === 0) context.skip('the server sent no request');
      if (context.revision < '2025-06-18')
        context.skip(`${context.revision} only recommends respecting the revision (INIT-013)`);
      for (const frame of requests) {
        const complaint = judgeServerRequest(
          frame.method!,
          membersOf(frame)['params'],
          context.revision as Revision,
        ).find(({ path }) => path === 'method');
        if (complaint)
          context.fail(`the server sent ${frame.method}`, complaintText(complaint), evidence(frame));
      }
      return `all of ${requests.length} requests of the server are defined in ${context.revision}`;
    },
  },
  {
    ...common,
    id: 'questions/answers-lead-to-a-result',
    title: 'Completes a request when its questions were answered',
    level: 'SHOULD',
    rules: [],
    reason: 'A server that asks a question should use the answer.',
    lane: 'abuse',
    hint: 'Match the answer to the question by its id, and continue the request.',
    async run(context) {
      const stops = variety(askingStops(context), 6);
      const conversation = await answeringConversation(context);
      for (const stop of stops) {
        const reply = await askAndAnswer(conversation, stop);
        if (reply.kind !== 'result')
          context.fail(`${nameOf(stop)} with all answers had ${describe(reply)}`, 'a result');
      }
      return `${stops.map(nameOf).join(', ')}: completed with the answers`;
    },
  },
  {
    ...common,
    id: 'questions/bears-refusal',
    title: 'Ends the request when the client answers its question with an error',
    level: 'SHOULD',
    rules: [],
    reason: 'A request must not hang when the client cannot answer a question.',
    lane: 'abuse',
    hint: 'Treat an error as an answer: end the request with isError, or with an error.',
    async run(context) {
      const stops = variety(askingStops(context), 3);
      const conversation = await answeringConversation(context);
      conversation.answerWith(refuseAll);
      for (const stop of stops) {
        const reply = await conversation.request(stop.method, stop.params);
        if (reply.kind === 'silence')
          context.fail(
            `${nameOf(stop)} asked, was refused, and had ${describe(reply)}`,
            'a result or an error',
          );
      }
      return `${stops.map(nameOf).join(', ')}: ended after the question was refused`;
    },
  },
];
