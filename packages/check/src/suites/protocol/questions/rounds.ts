/** All `input_required` results of the run: their content, and the methods that may return them. */

import type { JsonObject } from '@isthmus/sdk/internal/wire/json-rpc.js';
import type { Check } from '../../../model.js';
import type { CheckContext } from '../../../run/check-context.js';
import { type Complaint, complaintText, judgeResult } from '../../../shapes/index.js';
import { answersIn, evidence, type HeardAnswer, resultsIn, saidByServer } from '../answers.js';

const common = { suite: 'protocol', era: 'modern', lane: 'after' } as const;

export const roundsChecks: readonly Check[] = [
  {
    ...common,
    id: 'rounds/asks-or-carries-state',
    title: 'An input_required result has inputRequests, requestState or both',
    level: 'MUST',
    rules: ['MRTR-004'],
    hint: 'Give every input_required result questions in inputRequests, or a requestState.',
    run: (context) =>
      judgeRounds(context, ({ path, expected }) => path === 'result' && expected.includes('both')),
  },
  {
    ...common,
    id: 'rounds/questions-are-requests-without-envelope',
    title: 'Each input request is a method with params, without jsonrpc and id',
    level: 'MUST',
    rules: ['MRTR-006'],
    hint: 'Make each value of inputRequests an object {method, params} of elicitation/create, sampling/createMessage or roots/list.',
    run: (context) => judgeRounds(context, ({ path }) => isQuestionItself(path)),
  },
  {
    ...common,
    id: 'rounds/keys-are-unique',
    title: 'The keys of inputRequests are unique',
    level: 'MUST',
    rules: ['MRTR-005'],
    hint: 'Give each question of a round a unique key.',
    run(context) {
      const rounds = heardRounds(context);
      for (const { method, frame } of rounds) {
        const key = duplicateKeyIn(frame.text, 'inputRequests');
        if (key !== undefined)
          context.fail(
            `the answer to ${method} has the key ${JSON.stringify(key)} twice in inputRequests`,
            'each key once',
            evidence(frame),
          );
      }
      return `the keys of all ${rounds.length} rounds are unique`;
    },
  },
  {
    ...common,
    id: 'rounds/state-is-text',
    title: 'requestState is a string',
    level: 'SHOULD',
    rules: ['MRTR-008'],
    reason: 'Clients return the state unchanged, and expect a string.',
    hint: 'Encode the state as one string.',
    run: (context) => judgeRounds(context, ({ path }) => path === 'result.requestState'),
  },
  {
    ...common,
    id: 'rounds/not-cacheable',
    title: 'An input_required result has no cache hints',
    level: 'MUST',
    rules: ['CACHE-002'],
    hint: 'Leave ttlMs and cacheScope out of results of type input_required.',
    run: (context) =>
      judgeRounds(context, ({ path }) => path === 'result.ttlMs' || path === 'result.cacheScope'),
  },
  {
    ...common,
    id: 'rounds/only-where-they-may-be',
    title: 'Only tools/call, prompts/get and resources/read are answered with input_required',
    level: 'MUST',
    rules: ['MRTR-003'],
    hint: 'Use input_required only in answers to tools/call, prompts/get and resources/read.',
    run(context) {
      const all = answeredRequests(context);
      const wrong = all.find(({ method, result }) => asksBack(result) && !MAY_ASK.includes(method));
      if (wrong)
        context.fail(
          `${wrong.method} was answered with input_required`,
          'a complete result or an error',
          evidence(wrong.request, wrong.frame),
        );
      return `none of ${all.filter(({ method }) => !MAY_ASK.includes(method)).length} other requests was answered with input_required`;
    },
  },
  {
    ...common,
    id: 'rounds/type-tells-what-it-is',
    title: 'A result has the type input_required if and only if it asks for input',
    level: 'MUST',
    rules: ['RTYPE-002'],
    hint: 'Set resultType to input_required if the result has inputRequests or requestState, and to complete otherwise.',
    run(context) {
      const all = resultsIn(context.transcripts);
      for (const { method, result, frame } of all) {
        const asks = result['inputRequests'] !== undefined || result['requestState'] !== undefined;
        if (asks && result['resultType'] === 'complete')
          context.fail(
            `${method} was answered with resultType "complete" and with questions or state`,
            'resultType "input_required"',
            evidence(frame),
          );
        const body = FINAL_MEMBERS.find((member) => result[member] !== undefined);
        if (asksBack(result) && body !== undefined)
          context.fail(
            `${method} was answered with input_required and with ${body}, which belongs to the final answer`,
            'questions or state, and nothing else',
            evidence(frame),
          );
      }
      return `all of ${all.length} results match their type`;
    },
  },
  {
    ...common,
    id: 'rounds/no-requests-from-the-server',
    title: 'Asks for input in results, and sends no requests',
    level: 'MUST',
    rules: ['MRTR-001', 'JRPC-013'],
    hint: 'Answer with resultType input_required instead of sending elicitation/create, sampling/createMessage, roots/list or ping.',
    run(context) {
      const request = saidByServer(context, ({ kind }) => kind === 'request')[0];
      if (request)
        context.fail(`the server sent a request: ${request.method}`, 'no request', evidence(request));
      return 'the server sent no request';
    },
  },
];

const MAY_ASK: readonly string[] = ['tools/call', 'prompts/get', 'resources/read'];
const FINAL_MEMBERS = ['content', 'structuredContent', 'messages', 'contents'];

function asksBack(result: JsonObject): boolean {
  return result['resultType'] === 'input_required';
}

function answeredRequests(context: CheckContext): HeardAnswer[] {
  return answersIn(context.transcripts).filter(({ request }) => request !== undefined);
}

function heardRounds(context: CheckContext): HeardAnswer[] {
  const rounds = resultsIn(context.transcripts).filter(
    ({ method, result }) => asksBack(result) && MAY_ASK.includes(method),
  );
  if (rounds.length === 0) context.skip('no request was answered with input_required');
  return rounds;
}

/** Fails on the first round with a matching complaint. */
function judgeRounds(context: CheckContext, isOurs: (complaint: Complaint) => boolean): string {
  const rounds = heardRounds(context);
  for (const { method, result, frame } of rounds) {
    const complaint = judgeResult(method, result, '2026-07-28').find(isOurs);
    if (complaint)
      context.fail(
        `in the answer to ${method}, ${complaint.path} is ${complaint.got}`,
        complaintText(complaint),
        evidence(frame),
      );
  }
  return `all of ${rounds.length} rounds are well-formed`;
}

/** `result.inputRequests`, one of its members, or the envelope of one. Other checks judge the content of questions. */
function isQuestionItself(path: string): boolean {
  if (!path.startsWith('result.inputRequests')) return false;
  return !/\.params[.[]/.test(path.slice('result.inputRequests'.length));
}

/** The first duplicate key of the object at `member`, anywhere in a JSON text. A parser would keep only the last one. */
function duplicateKeyIn(text: string, member: string): string | undefined {
  const open: { readonly isWanted: boolean; readonly keys: Set<string> | undefined }[] = [];
  let lastKey: string | undefined;
  for (const { 0: token } of text.matchAll(/"(?:[^"\\]|\\.)*"(?:\s*:)?|[{}[\]]/g)) {
    const top = open.at(-1);
    if (token === '{' || token === '[') {
      open.push({ isWanted: lastKey === member, keys: token === '{' ? new Set() : undefined });
      lastKey = undefined;
    } else if (token === '}' || token === ']') {
      open.pop();
      lastKey = undefined;
    } else if (token.endsWith(':')) {
      lastKey = JSON.parse(token.slice(0, -1).trimEnd()) as string;
      if (top?.isWanted && top.keys?.has(lastKey)) return lastKey;
      top?.keys?.add(lastKey);
    } else {
      lastKey = undefined;
    }
  }
  return undefined;
}
