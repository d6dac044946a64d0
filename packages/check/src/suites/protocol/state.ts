import type { Check } from '../../model.js';
import { harmless, inWords } from './answers.js';
import { needLists } from './lists.js';

/** Requests that do not know of each other. */
export const stateChecks: readonly Check[] = [
  {
    id: 'state/side-by-side',
    suite: 'protocol',
    title: 'Serves several requests at once, and each with its own answer',
    level: 'SHOULD',
    rules: ['STATE-002'],
    era: 'modern',
    hint: 'Keep everything about a request with the request; answer in any order.',
    async run(table) {
      const talk = await table.talk();
      const lists = needLists(table);
      const asked = [...lists, ...lists, ...lists].map(({ method, member }) => ({
        member,
        method,
        reply: talk.request(method),
      }));
      for (const { method, member, reply } of asked) {
        const result = table.needResult(await reply, `${method}, beside ${asked.length - 1} others,`);
        if (!Array.isArray(result[member]))
          table.fail(
            `${method}, beside others, was answered with ${inWords(await reply)}`,
            `a list of ${member}`,
          );
      }
      return `${asked.length} requests in flight had their answers`;
    },
  },
  {
    id: 'state/after-errors',
    suite: 'protocol',
    title: 'Goes on after errors as if nothing had been',
    level: 'SHOULD',
    rules: [],
    reason: 'A client that got something wrong tries again on the same connection.',
    hint: 'Let an error end its request and nothing else.',
    async run(table) {
      const talk = await table.talk();
      await Promise.all(
        ['isthmus_check/one', 'isthmus_check/two', 'isthmus_check/three'].map((method) =>
          talk.request(method),
        ),
      );
      const method = harmless(table);
      table.needResult(await talk.request(method), `${method} after three errors`);
      return `${method} was served after three errors`;
    },
  },
];
