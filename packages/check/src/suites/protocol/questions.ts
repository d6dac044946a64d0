/** Whether questions to the user and to the model are well put, in rounds and in requests of legacy servers. */
import { isJsonObject, type JsonObject } from '@isthmus/sdk/internal/wire/json-rpc.js';
import type { Check } from '../../model.js';
import type { CheckContext } from '../../run/check-context.js';
import {
  type Complaint,
  complaintText,
  judgeResult,
  judgeServerRequest,
  type Revision,
} from '../../shapes/index.js';
import { askingStops, isForm, nameOf, type Question, questionsAt } from './asking.js';

export const questionsChecks: readonly Check[] = [
  shape({
    id: 'questions/elicitation-has-a-message',
    title: 'Every question to the user has a message',
    rules: ['ELIC-005'],
    hint: 'Say in message what is asked for and why.',
    about: ({ method }) => method === 'elicitation/create',
    ours: (path) => path === 'params.message',
    what: 'asks the user anything',
  }),
  shape({
    id: 'questions/form-is-flat',
    title: 'A form is an object of plain fields: text, numbers, yes or no, and choices',
    rules: ['ELIC-006'],
    hint: 'Make requestedSchema {type: "object", properties} with fields of type string, number, integer, boolean or an enum; nothing nested.',
    about: isForm,
    ours: (path) => path.startsWith('params.requestedSchema') || path === 'params.mode',
    what: 'asks for a form',
  }),
  shape({
    id: 'questions/url-is-one',
    title: 'A visit to a page has a valid url (and an elicitationId in 2025-11-25)',
    rules: ['ELIC-007'],
    hint: 'Give mode "url", message and an absolute url; for clients of 2025-11-25 also elicitationId.',
    about: isVisit,
    ours: (path) => path === 'params.url' || path === 'params.elicitationId',
    what: 'sends the user to a page',
  }),
  shape({
    id: 'questions/sampling-has-messages',
    title: 'A question to the model has messages with roles and contents, and maxTokens',
    rules: ['SAMP-006'],
    hint: 'Give messages [{role: "user" or "assistant", content}] and a whole number in maxTokens.',
    about: isSampling,
    ours: (path, { expected }) =>
      /^params\.(messages|maxTokens)/.test(path) && !/tool_result|results of tools/.test(expected),
    what: 'asks the model anything',
  }),
  shape({
    id: 'questions/sampling-answers-tool-uses',
    title: 'Tool uses in a question to the model are answered in the next message, and by nothing else there',
    rules: ['SAMP-007', 'SAMP-008'],
    hint: 'After an assistant message with tool_use, send one user message that holds only the tool_result of each id.',
    about: (question) => isSampling(question) && JSON.stringify(question.params).includes('"tool_'),
    ours: (_path, { expected }) => /tool_result|results of tools/.test(expected),
    what: 'asks the model with tool uses in the history',
  }),
  {
    id: 'questions/no-foreign-context',
    suite: 'protocol',
    title: 'Does not ask for the context of servers when the client does not offer it',
    level: 'SHOULD',
    rules: ['SAMP-005'],
    hint: 'Leave includeContext out, or set it to "none", unless the client declared sampling.context.',
    run(table) {
      const asked = collect(table, isSampling, 'asks the model anything');
      const wrong = asked.find(({ question }) => {
        const context = question.params['includeContext'];
        return context === 'thisServer' || context === 'allServers';
      });
      if (wrong && table.revision >= '2025-11-25')
        table.fail(
          `${wrong.where} asks with includeContext "${wrong.question.params['includeContext']}", and the client did not declare sampling.context`,
          'no includeContext, or "none"',
        );
      return `no question to the model (of ${asked.length}) asks for the context of servers`;
    },
  },
];

interface ShapeCheck {
  readonly id: string;
  readonly title: string;
  readonly rules: readonly string[];
  readonly hint: string;
  readonly about: (question: Question) => boolean;
  readonly ours: (path: string, complaint: Complaint) => boolean;
  /** For skipping: nothing that may be called … */
  readonly what: string;
}

function shape({ about, ours, what, ...check }: ShapeCheck): Check {
  return {
    ...check,
    suite: 'protocol',
    level: 'MUST',
    run(table) {
      const asked = collect(table, about, what);
      for (const { question, where } of asked) {
        const complaint = judgeQuestion(question, table).find((each) => ours(each.path, each));
        if (complaint)
          table.fail(
            `${where} asks ${question.method} with ${complaint.path} being ${complaint.got}`,
            complaintText(complaint),
          );
      }
      return `each question (${asked.length}) is well put`;
    },
  };
}

export function isVisit({ method, params }: Question): boolean {
  return method === 'elicitation/create' && params['mode'] === 'url';
}

function isSampling({ method }: Question): boolean {
  return method === 'sampling/createMessage';
}

/** What was asked of this kind, and by what; skips where nothing was. */
export function collect(
  table: CheckContext,
  about: (question: Question) => boolean,
  what: string,
): { readonly question: Question; readonly where: string }[] {
  const asked = askingStops(table).flatMap((stop) =>
    questionsAt(stop)
      .filter(about)
      .map((question) => ({ question, where: nameOf(stop) })),
  );
  if (asked.length === 0) table.skip(`nothing that may be called ${what}`);
  return asked;
}

/** Paths begin with `params`, wherever the question was found. */
function judgeQuestion(question: Question, table: CheckContext): Complaint[] {
  const { method, params } = question;
  if (table.era === 'legacy') return judgeServerRequest(method, params, table.revision as Revision);
  const round: JsonObject = { resultType: 'input_required', inputRequests: { asked: { method, params } } };
  return judgeResult('tools/call', round, '2026-07-28').map((complaint) => ({
    ...complaint,
    path: complaint.path.replace(/^result\.inputRequests(\.asked|\["asked"\])\./, ''),
  }));
}

/** The fields of a form. */
export function fieldsIn({ params }: Question): [string, JsonObject][] {
  const schema = params['requestedSchema'];
  const properties = isJsonObject(schema) && isJsonObject(schema['properties']) ? schema['properties'] : {};
  return Object.entries(properties).flatMap(([name, field]) => (isJsonObject(field) ? [[name, field]] : []));
}
