/** What a careful server does not ask, and does not put into a link. */
import type { Check } from '../../model.js';
import { isForm } from './asking.js';
import { saidByServer } from './exchanges.js';
import { collect, fieldsIn, isVisit } from './questions.js';

export const questionsCareChecks: readonly Check[] = [
  {
    id: 'questions/no-secrets-in-forms',
    suite: 'protocol',
    title: 'Asks for no secrets in a form',
    level: 'MUST',
    rules: ['ELIC-010', 'ELIC-011'],
    hint: 'Send the user to a page of yours (mode "url") to type passwords, keys, tokens and card numbers.',
    run(table) {
      const asked = collect(table, isForm, 'asks for a form');
      for (const { question, where } of asked) {
        const secret = fieldsIn(question).find(
          ([name, field]) =>
            field['type'] === 'string' &&
            field['enum'] === undefined &&
            field['oneOf'] === undefined &&
            SECRET.test(name.replace(/[^a-z0-9]/gi, '').toLowerCase()),
        );
        if (secret)
          table.fail(`${where} asks for ${JSON.stringify(secret[0])} in a form`, 'no field for a secret');
      }
      return `no form (of ${asked.length}) has a field that is named like a secret`;
    },
  },
  {
    id: 'questions/no-secrets-in-urls',
    suite: 'protocol',
    title: 'Puts no credentials into the URL that the user is sent to',
    level: 'MUST',
    rules: ['ELIC-017'],
    hint: 'Name the elicitation in the URL, and let the page identify the user by itself.',
    run(table) {
      const asked = collect(table, isVisit, 'sends the user to a page');
      for (const { question, where } of asked) {
        const url = parseUrl(question.params['url']);
        if (!url) continue;
        const name = [...url.searchParams.keys()].find((key) =>
          CREDENTIAL.test(key.replace(/[^a-z]/gi, '').toLowerCase()),
        );
        if (url.password !== '' || name !== undefined)
          table.fail(
            `${where} sends the user to a URL with ${name === undefined ? 'a password' : `the parameter ${name}`}`,
            'a URL without credentials',
          );
      }
      return `no URL (of ${asked.length}) holds credentials`;
    },
  },
  {
    id: 'questions/url-is-https',
    suite: 'protocol',
    title: 'Sends users to pages over HTTPS',
    level: 'SHOULD',
    rules: ['ELIC-018'],
    hint: 'Use an https: URL outside of development.',
    run(table) {
      const asked = collect(table, isVisit, 'sends the user to a page');
      for (const { question, where } of asked) {
        const url = parseUrl(question.params['url']);
        if (url && url.protocol !== 'https:' && !LOOPBACK.test(url.hostname))
          table.fail(`${where} sends the user to ${url.protocol}//${url.host}`, 'an https: URL');
      }
      return `each URL (${asked.length}) is https, or of this machine`;
    },
  },
  {
    id: 'questions/no-links-in-forms',
    suite: 'protocol',
    title: 'Has no links in the fields of a form',
    level: 'SHOULD',
    rules: ['ELIC-018'],
    hint: 'Send the user to a page with mode "url" instead of writing its address into a form.',
    run(table) {
      const asked = collect(table, isForm, 'asks for a form');
      for (const { question, where } of asked) {
        const field = fieldsIn(question).find(([, { title, description }]) =>
          /https?:\/\//i.test(`${title ?? ''} ${description ?? ''}`),
        );
        if (field)
          table.fail(`${where} has a link in the field ${JSON.stringify(field[0])}`, 'fields without links');
      }
      return `no form (of ${asked.length}) has links in its fields`;
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
    hint: 'Put what has to come back into requestState; the client retries when the user is done.',
    run(table) {
      const wrong = saidByServer(
        table,
        ({ text, method, kind }) =>
          method === 'notifications/elicitation/complete' ||
          (kind === 'result' && /"elicitationId"\s*:/.test(text) && text.includes('"input_required"')) ||
          (kind === 'error' && /"code"\s*:\s*-32042\b/.test(text)),
      )[0];
      if (wrong)
        table.fail(
          `the server sent ${wrong.method ?? (wrong.kind === 'error' ? 'error -32042' : 'an elicitationId')}`,
          'a round without elicitationId',
        );
      return 'the server used none of them';
    },
  },
];

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
