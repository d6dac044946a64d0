import type { JsonObject } from '@isthmus/sdk/internal/wire/json-rpc.js';
import type { Check } from '../../model.js';
import { hasCapability } from '../../survey/facts.js';
import { inWords, needRefusal } from './answers.js';
import { listsOf } from './lists.js';

/** What is announced is there, and what is not announced is not. */
export const capabilityChecks: readonly Check[] = [
  gated('prompts', 'prompts/list', {}, ['PROMPT-001']),
  gated('resources', 'resources/list', {}, ['RES-001']),
  gated(
    'completions',
    'completion/complete',
    { ref: { type: 'ref/prompt', name: 'isthmus_check_nobody' }, argument: { name: 'a', value: '' } },
    ['COMP-001', 'COMP-005'],
  ),
  answered('prompts', 'prompts/list', ['PROMPT-002']),
  answered('resources', 'resources/list', ['RES-002']),
  {
    id: 'capabilities/legacy-lists-answered',
    suite: 'protocol',
    title: 'Answers the lists of what it announces',
    level: 'SHOULD',
    rules: [],
    reason: 'A client asks for what a server says it has, and shows an error where there should be a list.',
    era: 'legacy',
    hint: 'Answer with an empty list where there is nothing, or do not announce the capability.',
    async run(table) {
      const talk = await table.talk();
      const lists = listsOf(table).filter(({ method }) => method !== 'resources/templates/list');
      if (lists.length === 0) table.skip('the server announces no tools, prompts or resources');
      for (const { method } of lists)
        table.needResult(await talk.request(method), `${method}, which is announced,`);
      return `${lists.map(({ method }) => method).join(', ')} had results`;
    },
  },
  {
    id: 'capabilities/templates-answered',
    suite: 'protocol',
    title: 'Answers resources/templates/list when it announces resources',
    level: 'SHOULD',
    rules: [],
    reason: 'The capability resources covers it, and clients ask for templates as a matter of course.',
    hint: 'Answer with an empty list where there are no templates.',
    async run(table) {
      table.needCapability('resources');
      const talk = await table.talk();
      const result = table.needResult(
        await talk.request('resources/templates/list'),
        'resources/templates/list',
      );
      const { resourceTemplates } = result;
      return `it has ${Array.isArray(resourceTemplates) ? resourceTemplates.length : 'no list of'} templates`;
    },
  },
  {
    id: 'capabilities/completions-answered',
    suite: 'protocol',
    title: 'Knows completion/complete when it announces completions',
    level: 'SHOULD',
    rules: ['COMP-001'],
    reason: 'A client asks for suggestions with every key, and would get an error each time.',
    hint: 'Implement completion/complete, or do not announce completions.',
    async run(table) {
      table.needCapability('completions');
      const talk = await table.talk();
      const reply = await talk.request('completion/complete', {
        ref: { type: 'ref/prompt', name: String(table.facts.prompts[0]?.['name'] ?? 'isthmus_check_nobody') },
        argument: { name: 'isthmus_check_nothing', value: '' },
      });
      const seen = `completion/complete was answered with ${inWords(reply)}`;
      if (reply.kind === 'silence' || (reply.kind === 'error' && reply.error.code === -32601))
        table.fail(seen, 'a result, or an error other than -32601');
      return seen;
    },
  },
];

/** Not announced: then it counts as not implemented (ERR-015). In legacy revisions any refusal will do. */
function gated(capability: string, method: string, params: JsonObject, rules: readonly string[]): Check {
  return {
    id: `capabilities/${capability}-gated`,
    suite: 'protocol',
    title: `Has no ${method} unless it announces ${capability}`,
    level: 'MUST',
    rules: [...rules, 'ERR-015', 'DISC-009'],
    hint: `Announce ${capability}, or answer ${method} with -32601.`,
    async run(table) {
      if (hasCapability(table.facts.capabilities, capability))
        table.skip(`the server announces ${capability}`);
      if (capability === 'completions' && table.revision < '2025-03-26')
        table.skip(`revision ${table.revision} has no capability completions`);
      const talk = await table.talk();
      const reply = await talk.request(method, params);
      const codes = table.era === 'modern' ? [-32601] : [];
      return needRefusal(table, reply, codes, `${method}, without ${capability} announced,`);
    },
  };
}

function answered(capability: string, method: string, rules: readonly string[]): Check {
  return {
    id: `capabilities/${capability}-answered`,
    suite: 'protocol',
    title: `Answers ${method} when it announces ${capability}, be it with nothing`,
    level: 'MUST',
    rules,
    era: 'modern',
    hint: `Answer ${method} with an empty list where there is nothing to list.`,
    async run(table) {
      table.needCapability(capability);
      const talk = await table.talk();
      table.needResult(await talk.request(method), method);
      return `${method} had a result`;
    },
  };
}
