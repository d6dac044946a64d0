/** A server asks only questions that the client declares capabilities for. */

import type { JsonObject } from '@isthmus/sdk/internal/wire/json-rpc.js';
import type { CheckConversation, Reply } from '../../../conversation/conversation.js';
import { EVERY_CAPABILITY } from '../../../conversation/envelope.js';
import type { Check } from '../../../model.js';
import type { CheckContext } from '../../../run/check-context.js';
import type { WalkthroughStop } from '../../../survey/facts.js';
import { membersOf } from '../../../wire/transcript.js';
import {
  askingStops,
  describe,
  isForm,
  nameOf,
  type Question,
  questionsAt,
  roundIn,
  variety,
} from './asking.js';
import { isVisit } from './content.js';

export const questionsDeclaredChecks: readonly Check[] = [
  {
    id: 'questions/none-to-a-client-without-capabilities',
    suite: 'protocol',
    title: 'Asks a client without capabilities no questions',
    level: 'MUST',
    rules: ['MRTR-007', 'META-006', 'META-007', 'INIT-018', 'ROOT-005'],
    lane: 'abuse',
    hint: 'Check the capabilities of this request (legacy: of initialize) before you ask.',
    async run(context) {
      const stops = variety(askingStops(context), MOST_STOPS);
      await expectNone(context, stops, {}, 'no capabilities');
      return `${stops.map(nameOf).join(', ')}: no questions to a client without capabilities`;
    },
  },
  {
    id: 'questions/only-declared-kinds',
    suite: 'protocol',
    title: 'Asks only questions that the client declares a capability for',
    level: 'MUST',
    rules: ['MRTR-007', 'META-006', 'INIT-018'],
    lane: 'abuse',
    hint: 'Check elicitation, sampling and roots separately, before each question.',
    async run(context) {
      const stops = askingStops(context);
      const tried: string[] = [];
      for (const [kind, method] of KINDS) {
        const asking = variety(
          stops.filter((stop) => questionsAt(stop).some((each) => each.method === method)),
          2,
        );
        if (asking.length === 0) continue;
        const { [kind]: _left, ...rest } = EVERY_CAPABILITY;
        await expectNone(context, asking, rest, `everything but ${kind}`, (each) => each.method === method);
        tried.push(kind);
      }
      return `no questions without ${tried.join(', ')}`;
    },
  },
  {
    id: 'questions/only-declared-modes',
    suite: 'protocol',
    title: 'Uses only the modes of elicitation that the client declares',
    level: 'MUST',
    rules: ['ELIC-003', 'MRTR-007'],
    lane: 'abuse',
    hint: '{"elicitation": {}} means forms only. Do not use mode url without elicitation.url.',
    async run(context) {
      if (context.revision < '2025-11-25') context.skip(`${context.revision} has no modes`);
      const stops = askingStops(context);
      const tried: string[] = [];
      for (const [about, elicitation] of MODES) {
        const asking = variety(
          stops.filter((stop) => questionsAt(stop).some(about)),
          2,
        );
        if (asking.length === 0) continue;
        const words = JSON.stringify({ elicitation });
        await expectNone(context, asking, { ...EVERY_CAPABILITY, elicitation }, words, about);
        tried.push(words);
      }
      if (tried.length === 0) context.skip('nothing that may be called asks the user a question');
      return `${tried.join(' and ')} were respected`;
    },
  },
  {
    id: 'questions/sampling-tools-only-if-declared',
    suite: 'protocol',
    title: 'Uses tools in sampling requests only if the client declares sampling.tools',
    level: 'MUST',
    rules: ['SAMP-003'],
    lane: 'abuse',
    hint: 'Leave tools and toolChoice out of sampling/createMessage unless the client declared sampling.tools.',
    async run(context) {
      if (context.revision < '2025-11-25') context.skip(`${context.revision} has no tools in sampling`);
      const stops = askingStops(context).filter((stop) =>
        questionsAt(stop).some(({ method }) => method === 'sampling/createMessage'),
      );
      if (stops.length === 0) context.skip('nothing that may be called asks the model a question');
      const capabilities = { ...EVERY_CAPABILITY, sampling: {} };
      await expectNone(context, variety(stops, 2), capabilities, '{"sampling":{}}', hasTools);
      return `${stops.map(nameOf).join(', ')}: no tools without sampling.tools`;
    },
  },
  {
    id: 'questions/none-undeclared-in-old-revisions',
    suite: 'protocol',
    title: 'Asks a client of 2025-03-26 without capabilities no questions',
    level: 'SHOULD',
    rules: ['INIT-013'],
    era: 'legacy',
    lane: 'own',
    hint: 'Respect the capabilities of initialize in every revision.',
    async run(context) {
      const stops = variety(askingStops(context), MOST_STOPS);
      const conversation = await context.openConversation({ revision: '2025-03-26', capabilities: {} });
      if (conversation.revision > '2025-03-26')
        context.skip(`the server offers ${conversation.revision} instead of 2025-03-26`);
      await expectNoneIn(context, conversation, stops, {}, 'no capabilities');
      return `${stops.map(nameOf).join(', ')}: no questions`;
    },
  },
  {
    id: 'rounds/names-the-missing-capability',
    suite: 'protocol',
    title: 'Answers -32021 and names the capability if a request needs one that the client lacks',
    level: 'MUST',
    rules: ['META-008'],
    era: 'modern',
    hint: 'Answer with -32021 and data.requiredCapabilities, for example {"elicitation":{}}, if the client lacks a capability.',
    async run(context) {
      const stops = variety(askingStops(context), MOST_STOPS);
      const conversation = await context.conversation();
      const refused: string[] = [];
      for (const stop of stops) {
        const reply = await conversation.request(stop.method, stop.params, { capabilities: {} });
        if (reply.kind !== 'error') continue;
        judgeRefusal(context, stop, reply);
        refused.push(nameOf(stop));
      }
      if (refused.length === 0) context.skip('no request was refused for a missing capability');
      return `${refused.join(', ')}: refused with -32021`;
    },
  },
];

const MOST_STOPS = 6;

const KINDS = [
  ['elicitation', 'elicitation/create'],
  ['sampling', 'sampling/createMessage'],
  ['roots', 'roots/list'],
] as const;

const MODES: readonly (readonly [(question: Question) => boolean, JsonObject])[] = [
  [isVisit, {}],
  [isVisit, { form: {} }],
  [isForm, { url: {} }],
];

function hasTools({ params }: Question): boolean {
  return params['tools'] !== undefined || params['toolChoice'] !== undefined;
}

/** Sends the requests with these capabilities, and fails if the server asks a forbidden question. */
async function expectNone(
  context: CheckContext,
  stops: readonly WalkthroughStop[],
  capabilities: JsonObject,
  words: string,
  about: (question: Question) => boolean = () => true,
): Promise<void> {
  if (context.era === 'legacy' && context.revision < '2025-06-18')
    context.skip(`${context.revision} only recommends respecting the capabilities (INIT-013)`);
  // A modern client declares its capabilities with each request, and they may differ (META-007).
  const conversation = await (context.era === 'modern'
    ? context.abuseConversation()
    : context.openConversation({ capabilities }));
  await expectNoneIn(context, conversation, stops, capabilities, words, about);
}

async function expectNoneIn(
  context: CheckContext,
  conversation: CheckConversation,
  stops: readonly WalkthroughStop[],
  capabilities: JsonObject,
  words: string,
  about: (question: Question) => boolean = () => true,
): Promise<void> {
  for (const stop of stops) {
    const from = conversation.transcript.frames.length;
    const reply = await conversation.request(stop.method, stop.params, {
      ...(context.era === 'modern' && { capabilities }),
    });
    const asked =
      context.era === 'modern'
        ? [...(roundIn(reply)?.questions.values() ?? [])]
        : conversation.transcript.frames.slice(from).flatMap((frame) => {
            const { method, params } = membersOf(frame);
            const isQuestion = frame.from === 'server' && frame.kind === 'request' && method !== 'ping';
            return isQuestion ? [{ method: String(method), params: (params ?? {}) as JsonObject }] : [];
          });
    const wrong = asked.find(about);
    if (wrong)
      context.fail(
        `${nameOf(stop)} asked ${wrong.method}${hasTools(wrong) ? ' with tools' : ''}${modeOf(wrong)} of a client with ${words}`,
        `no such question${context.era === 'modern' ? '; error -32021 if the request needs it' : ''}`,
      );
  }
}

function modeOf({ params }: Question): string {
  return params['mode'] === undefined ? '' : ` in mode ${String(params['mode'])}`;
}

function judgeRefusal(context: CheckContext, stop: WalkthroughStop, reply: Reply): void {
  if (reply.kind !== 'error') return;
  const { code, data } = reply.error;
  const required = (data as JsonObject | undefined)?.['requiredCapabilities'];
  const isNamed = typeof required === 'object' && required !== null && Object.keys(required).length > 0;
  if (code !== -32021 || !isNamed)
    context.fail(
      `${nameOf(stop)} of a client without capabilities had ${describe(reply)}${code === -32021 ? ', without data.requiredCapabilities' : ''}`,
      'error -32021 whose data.requiredCapabilities names what is missing',
    );
}
