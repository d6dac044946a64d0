/** The content of questions to the user and to the model, in rounds and in requests of legacy servers. */

import { isJsonObject, type JsonObject } from '@isthmus/sdk/internal/wire/json-rpc.js';
import type { Check } from '../../../model.js';
import type { CheckContext } from '../../../run/check-context.js';
import {
  type Complaint,
  complaintText,
  judgeResult,
  judgeServerRequest,
  type Revision,
} from '../../../shapes/index.js';
import { saidByServer } from '../answers.js';
import { askingStops, isForm, nameOf, type Question, questionsAt } from './asking.js';

export const questionsChecks: readonly Check[] = [
  shape({
    id: 'questions/elicitation-has-a-message',
    title: 'Every elicitation has a message',
    rules: ['ELIC-005'],
    hint: 'State in message what you ask for, and why.',
    about: ({ method }) => method === 'elicitation/create',
    ours: (path) => path === 'params.message',
    what: 'asks the user a question',
  }),
  shape({
    id: 'questions/form-is-flat',
    title: 'A form is an object of primitive fields: strings, numbers, booleans and enums',
    rules: ['ELIC-006'],
    hint: 'Make requestedSchema {type: "object", properties} with fields of type string, number, integer, boolean or an enum, without nesting.',
    about: isForm,
    ours: (path) => path.startsWith('params.requestedSchema') || path === 'params.mode',
    what: 'asks for a form',
  }),
  shape({
    id: 'questions/url-is-one',
    title: 'An elicitation in mode url has a valid url (and an elicitationId in 2025-11-25)',
    rules: ['ELIC-007'],
    hint: 'Give mode "url", message and an absolute url; for clients of 2025-11-25 also elicitationId.',
    about: isVisit,
    ours: (path) => path === 'params.url' || path === 'params.elicitationId',
    what: 'sends the user to a page',
  }),
  shape({
    id: 'questions/sampling-has-messages',
    title: 'A sampling request has messages with roles and contents, and maxTokens',
    rules: ['SAMP-006'],
    hint: 'Give messages [{role: "user" or "assistant", content}] and an integer maxTokens.',
    about: isSampling,
    ours: (path, { expected }) =>
      /^params\.(messages|maxTokens)/.test(path) && !/tool_result|results of tools/.test(expected),
    what: 'asks the model a question',
  }),
  shape({
    id: 'questions/sampling-answers-tool-uses',
    title: 'In a sampling request, the message after tool uses has their tool results and nothing else',
    rules: ['SAMP-007', 'SAMP-008'],
    hint: 'After an assistant message with tool_use, send one user message with the tool_result of each id and nothing else.',
    about: (question) => isSampling(question) && JSON.stringify(question.params).includes('"tool_'),
    ours: (_path, { expected }) => /tool_result|results of tools/.test(expected),
    what: 'asks the model with tool uses in the history',
  }),
  {
    id: 'questions/no-foreign-context',
    suite: 'protocol',
    title: 'Does not ask for the context of servers if the client does not declare it',
    level: 'SHOULD',
    rules: ['SAMP-005'],
    hint: 'Leave includeContext out, or set it to "none", unless the client declared sampling.context.',
    run(context) {
      const asked = collect(context, isSampling, 'asks the model a question');
      const wrong = asked.find(({ question }) => {
        const context = question.params['includeContext'];
        return context === 'thisServer' || context === 'allServers';
      });
      if (wrong && context.revision >= '2025-11-25')
        context.fail(
          `${wrong.where} asks with includeContext "${wrong.question.params['includeContext']}", but the client did not declare sampling.context`,
          'no includeContext, or "none"',
        );
      return `none of ${asked.length} sampling requests asks for the context of servers`;
    },
  },
  {
    id: 'questions/no-secrets-in-forms',
    suite: 'protocol',
    title: 'Does not ask for secrets in a form',
    level: 'MUST',
    rules: ['ELIC-010', 'ELIC-011'],
    hint: 'Ask for passwords, keys, tokens and card numbers on your own web page (mode "url").',
    run(context) {
      const asked = collect(context, isForm, 'asks for a form');
      for (const { question, where } of asked) {
        const secret = fieldsIn(question).find(
          ([name, field]) =>
            field['type'] === 'string' &&
            field['enum'] === undefined &&
            field['oneOf'] === undefined &&
            SECRET.test(name.replace(/[^a-z0-9]/gi, '').toLowerCase()),
        );
        if (secret)
          context.fail(
            `${where} asks for ${JSON.stringify(secret[0])} in a form`,
            'a form without fields for secrets',
          );
      }
      return `none of ${asked.length} forms has a field that is named like a secret`;
    },
  },
  {
    id: 'questions/no-secrets-in-urls',
    suite: 'protocol',
    title: 'Puts no credentials into the URL of an elicitation',
    level: 'MUST',
    rules: ['ELIC-017'],
    hint: 'Put only an identifier of the elicitation into the URL. The page authenticates the user.',
    run(context) {
      const asked = collect(context, isVisit, 'sends the user to a page');
      for (const { question, where } of asked) {
        const url = parseUrl(question.params['url']);
        if (!url) continue;
        const name = [...url.searchParams.keys()].find((key) =>
          CREDENTIAL.test(key.replace(/[^a-z]/gi, '').toLowerCase()),
        );
        if (url.password !== '' || name !== undefined)
          context.fail(
            `${where} sends the user to a URL with ${name === undefined ? 'a password' : `the parameter ${name}`}`,
            'a URL without credentials',
          );
      }
      return `none of ${asked.length} URLs contains credentials`;
    },
  },
  {
    id: 'questions/url-is-https',
    suite: 'protocol',
    title: 'Uses HTTPS in the URL of an elicitation',
    level: 'SHOULD',
    rules: ['ELIC-018'],
    hint: 'Use an https: URL outside of development.',
    run(context) {
      const asked = collect(context, isVisit, 'sends the user to a page');
      for (const { question, where } of asked) {
        const url = parseUrl(question.params['url']);
        if (url && url.protocol !== 'https:' && !LOOPBACK.test(url.hostname))
          context.fail(`${where} sends the user to ${url.protocol}//${url.host}`, 'an https: URL');
      }
      return `all of ${asked.length} URLs use https, or are on this machine`;
    },
  },
  {
    id: 'questions/no-links-in-forms',
    suite: 'protocol',
    title: 'Puts no links into the fields of a form',
    level: 'SHOULD',
    rules: ['ELIC-018'],
    hint: 'Use mode "url" to send the user to a web page.',
    run(context) {
      const asked = collect(context, isForm, 'asks for a form');
      for (const { question, where } of asked) {
        const field = fieldsIn(question).find(([, { title, description }]) =>
          /https?:\/\//i.test(`${title ?? ''} ${description ?? ''}`),
        );
        if (field)
          context.fail(
            `${where} has a link in the field ${JSON.stringify(field[0])}`,
            'fields without links',
          );
      }
      return `none of ${asked.length} forms has links in its fields`;
    },
  },
  {
    id: 'questions/nothing-of-2025',
    suite: 'protocol',
    title: 'Uses neither elicitationId nor notifications/elicitation/complete, nor error -32042',
    level: 'MUST',
    rules: ['ELIC-025', 'ERR-008'],
    era: 'modern',
    lane: 'after',
    hint: 'Put the state into requestState. The client retries when the user is done.',
    run(context) {
      const wrong = saidByServer(
        context,
        ({ text, method, kind }) =>
          method === 'notifications/elicitation/complete' ||
          (kind === 'result' && /"elicitationId"\s*:/.test(text) && text.includes('"input_required"')) ||
          (kind === 'error' && /"code"\s*:\s*-32042\b/.test(text)),
      )[0];
      if (wrong)
        context.fail(
          `the server sent ${wrong.method ?? (wrong.kind === 'error' ? 'error -32042' : 'an elicitationId')}`,
          'a round without elicitationId',
        );
      return 'the server used none of them';
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
  /** For skips: nothing that may be called … */
  readonly what: string;
}

function shape({ about, ours, what, ...check }: ShapeCheck): Check {
  return {
    ...check,
    suite: 'protocol',
    level: 'MUST',
    run(context) {
      const asked = collect(context, about, what);
      for (const { question, where } of asked) {
        const complaint = judgeQuestion(question, context).find((each) => ours(each.path, each));
        if (complaint)
          context.fail(
            `${where} asks ${question.method} with ${complaint.path} being ${complaint.got}`,
            complaintText(complaint),
          );
      }
      return `all of ${asked.length} questions are well-formed`;
    },
  };
}

export function isVisit({ method, params }: Question): boolean {
  return method === 'elicitation/create' && params['mode'] === 'url';
}

function isSampling({ method }: Question): boolean {
  return method === 'sampling/createMessage';
}

/** All questions of this kind, with their requests. Skips if there are none. */
export function collect(
  context: CheckContext,
  about: (question: Question) => boolean,
  what: string,
): { readonly question: Question; readonly where: string }[] {
  const asked = askingStops(context).flatMap((stop) =>
    questionsAt(stop)
      .filter(about)
      .map((question) => ({ question, where: nameOf(stop) })),
  );
  if (asked.length === 0) context.skip(`nothing that may be called ${what}`);
  return asked;
}

/** Paths begin with `params` in both eras. */
function judgeQuestion(question: Question, context: CheckContext): Complaint[] {
  const { method, params } = question;
  if (context.era === 'legacy') return judgeServerRequest(method, params, context.revision as Revision);
  const round: JsonObject = { resultType: 'input_required', inputRequests: { asked: { method, params } } };
  return judgeResult('tools/call', round, '2026-07-28').map((complaint) => ({
    ...complaint,
    path: complaint.path.replace(/^result\.inputRequests(\.asked|\["asked"\])\./, ''),
  }));
}

/** The fields of a form. */
function fieldsIn({ params }: Question): [string, JsonObject][] {
  const schema = params['requestedSchema'];
  const properties = isJsonObject(schema) && isJsonObject(schema['properties']) ? schema['properties'] : {};
  return Object.entries(properties).flatMap(([name, field]) => (isJsonObject(field) ? [[name, field]] : []));
}

const SECRET =
  /^(?:(?:current|new|old|confirm|user|your)?(?:password|passwd|passphrase)|(?:api|secret|private)key|(?:api|access|auth|bearer|refresh|secret)token|clientsecret|secret|creditcard(?:number)?|cardnumber|cvv|cvc|cvv2|ssn)$/;
const CREDENTIAL =
  /^(?:password|passwd|accesstoken|refreshtoken|idtoken|authtoken|bearer|apikey|sessionid|jwt)$/;
const LOOPBACK = /^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])$/;

function parseUrl(value: unknown): URL | undefined {
  try {
    return new URL(String(value));
  } catch {
    return undefined;
  }
}
