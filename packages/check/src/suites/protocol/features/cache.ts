import type { JsonObject } from '@isthmus/sdk/internal/wire/json-rpc.js';
import type { Check } from '../../../model.js';
import type { CheckContext } from '../../../run/check-context.js';
import { evidence, type HeardAnswer, nameOf, resultsIn } from '../answers.js';
import { pagesOf } from './lists.js';

/** Cache hints of results. */
export const cacheChecks: readonly Check[] = [
  {
    id: 'cache/lifetime',
    suite: 'protocol',
    title: 'States how long each cacheable result stays fresh',
    level: 'MUST',
    rules: ['CACHE-001', 'CACHE-003'],
    era: 'modern',
    lane: 'after',
    hint: 'Add ttlMs, an integer of 0 or more, to server/discover, all lists and resources/read.',
    run: (context) =>
      eachCacheable(context, ({ ttlMs }) =>
        Number.isInteger(ttlMs) && Number(ttlMs) >= 0
          ? undefined
          : [`ttlMs is ${JSON.stringify(ttlMs) ?? 'absent'}`, 'an integer of 0 or more'],
      ),
  },
  {
    id: 'cache/scope',
    suite: 'protocol',
    title: 'States who may share each cacheable result',
    level: 'MUST',
    rules: ['CACHE-001', 'CACHE-004'],
    era: 'modern',
    lane: 'after',
    hint: 'Add cacheScope "private", or "public" if the answer is the same for all users.',
    run: (context) =>
      eachCacheable(context, ({ cacheScope }) =>
        cacheScope === 'public' || cacheScope === 'private'
          ? undefined
          : [`cacheScope is ${JSON.stringify(cacheScope) ?? 'absent'}`, '"public" or "private"'],
      ),
  },
  {
    id: 'cache/not-interim',
    suite: 'protocol',
    title: 'Puts no cache hints into a result that asks for input',
    level: 'MUST',
    rules: ['CACHE-002'],
    era: 'modern',
    lane: 'after',
    hint: 'Leave out ttlMs and cacheScope when resultType is "input_required".',
    run(context) {
      const heard = resultsIn(context.transcripts).filter(
        ({ result }) => result['resultType'] === 'input_required',
      );
      if (heard.length === 0) context.skip('no result asked for input');
      for (const answer of heard) {
        const hint = ['ttlMs', 'cacheScope'].find((member) => answer.result[member] !== undefined);
        if (hint) fail(context, answer, `it asks for input, but has ${hint}`, 'no cache hints');
      }
      return `${heard.length} results asked for input, without cache hints`;
    },
  },
  {
    id: 'cache/one-scope',
    suite: 'protocol',
    title: 'Gives all pages of a list the same cacheScope',
    level: 'MUST',
    rules: ['CACHE-020'],
    era: 'modern',
    hint: 'Decide cacheScope for the list, not for the page.',
    async run(context) {
      const lists = await pagesOf(context);
      for (const { list, pages } of lists) {
        const scopes = [...new Set(pages.map((page) => String(page['cacheScope'])))];
        if (scopes.length > 1)
          context.fail(
            `pages of ${list.method} have cacheScope ${scopes.join(' and ')}`,
            'the same for all pages',
          );
      }
      return `${lists.map(({ list, pages }) => `${pages.length} pages of ${list.method}`).join(', ')} have the same scope`;
    },
  },
];

const CACHEABLE = [
  'server/discover',
  'tools/list',
  'prompts/list',
  'resources/list',
  'resources/templates/list',
  'resources/read',
];

function eachCacheable(
  context: CheckContext,
  judge: (result: JsonObject) => readonly [seen: string, expected: string] | undefined,
): string {
  const heard = resultsIn(context.transcripts).filter(
    ({ method, result }) => CACHEABLE.includes(method) && result['resultType'] !== 'input_required',
  );
  if (heard.length === 0) context.skip('there was no cacheable result');
  for (const answer of heard) {
    const wrong = judge(answer.result);
    if (wrong) fail(context, answer, ...wrong);
  }
  return `${heard.length} results of ${new Set(heard.map(({ method }) => method)).size} methods have it`;
}

function fail(context: CheckContext, answer: HeardAnswer, seen: string, expected: string): never {
  return context.fail(`${nameOf(answer)}: ${seen}`, expected, evidence(answer.request, answer.frame));
}
