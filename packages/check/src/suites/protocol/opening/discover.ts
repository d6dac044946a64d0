import { META } from '@isthmus/sdk/internal/era/meta-keys.js';
import { isJsonObject, type JsonObject } from '@isthmus/sdk/internal/wire/json-rpc.js';
import type { Check } from '../../../model.js';
import { hasCapability } from '../../../survey/facts.js';
import { inWords, needRefusal, short } from '../answers.js';
import { askFirst } from '../bare-request.js';
import { listsOf } from '../features/lists.js';

/** `server/discover`. */
export const discoverChecks: readonly Check[] = [
  {
    id: 'discover/again',
    suite: 'protocol',
    title: 'Answers server/discover at any time, and the same each time',
    level: 'MUST',
    rules: ['DISC-001', 'STATE-001'],
    era: 'modern',
    hint: 'Treat server/discover as an ordinary request: it opens nothing, and may come at any time.',
    async run(context) {
      const conversation = await context.conversation();
      const ask = async () =>
        context.needResult(await conversation.request('server/discover'), 'a repeated server/discover');
      const told = [
        context.facts.hello,
        conversation.hello,
        await ask(),
        await ask(),
        (await context.openConversation()).hello,
      ];
      for (const member of ['supportedVersions', 'capabilities', 'instructions']) {
        const [first, ...later] = told.map((result) => JSON.stringify(result[member]) ?? 'nothing');
        const at = later.findIndex((text) => text !== first);
        if (at < 0) continue;
        context.fail(
          `${member} differs between two answers to server/discover: first ${short(first!)}, later ${short(later[at]!)}`,
          'the same each time',
        );
      }
      return 'server/discover was answered four times, and the same';
    },
  },
  {
    id: 'discover/not-needed',
    suite: 'protocol',
    title: 'Serves a client that never sends server/discover',
    level: 'MUST',
    rules: ['STATE-001', 'VER-003', 'DISC-006'],
    era: 'modern',
    lane: 'own',
    hint: 'A request carries everything that it needs: do not wait for server/discover.',
    async run(context) {
      const method = listsOf(context)[0]?.method;
      if (method === undefined) return context.skip('the server has no lists to request');
      context.needResult(await askFirst(context, method), `${method} as the first request`);
      return `${method} was served as the first request of a connection`;
    },
  },
  {
    id: 'discover/identity-in-meta',
    suite: 'protocol',
    title: 'Identifies itself in _meta of server/discover, and nowhere else',
    level: 'SHOULD',
    rules: ['DISC-004', 'META-010'],
    era: 'modern',
    hint: `Put name and version at _meta["${META.serverInfo}"] of the result.`,
    run(context) {
      const { _meta, serverInfo } = context.facts.hello;
      const info = isJsonObject(_meta) ? _meta[META.serverInfo] : undefined;
      if (serverInfo !== undefined)
        context.fail('the result has a member serverInfo', `the identity at _meta["${META.serverInfo}"]`);
      if (!isJsonObject(info) || typeof info['name'] !== 'string' || typeof info['version'] !== 'string')
        context.fail(
          `_meta["${META.serverInfo}"] is ${JSON.stringify(info) ?? 'absent'}`,
          'a name and a version',
        );
      return `its name is ${String((info as { name: unknown }).name)}`;
    },
  },
  {
    id: 'discover/extension-names',
    suite: 'protocol',
    title: 'Names its extensions with a prefix, and gives each a settings object',
    level: 'MUST',
    rules: ['VER-020', 'VER-023'],
    era: 'modern',
    hint: 'Write "com.example/name": {} for an extension without settings.',
    run(context) {
      const { extensions } = context.facts.capabilities;
      if (extensions === undefined) return context.skip('the server announces no extensions');
      if (!isJsonObject(extensions))
        return context.fail('capabilities.extensions is not an object', 'an object');
      for (const [name, settings] of Object.entries(extensions)) {
        if (!EXTENSION.test(name))
          context.fail(`an extension has the name ${JSON.stringify(name)}`, 'prefix/name');
        if (!isJsonObject(settings))
          context.fail(`the settings of ${name} are ${JSON.stringify(settings)}`, 'an object');
      }
      return `it announces ${Object.keys(extensions).join(', ') || 'no extension by name'}`;
    },
  },
];

const LABEL = '[A-Za-z](?:[A-Za-z0-9-]*[A-Za-z0-9])?';
const EXTENSION = new RegExp(`^${LABEL}(?:\\.${LABEL})*/(?:[A-Za-z0-9](?:[\\w.-]*[A-Za-z0-9])?)?$`);

/** A server implements the capabilities that it announces, and no others. */
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
    title: 'Answers the list methods of the capabilities that it announces',
    level: 'SHOULD',
    rules: [],
    reason: 'A client requests every list that a server announces, and shows an error instead of the list.',
    era: 'legacy',
    hint: 'Answer with an empty list if there is nothing to list, or do not announce the capability.',
    async run(context) {
      const conversation = await context.conversation();
      const lists = listsOf(context).filter(({ method }) => method !== 'resources/templates/list');
      if (lists.length === 0) context.skip('the server announces no tools, prompts or resources');
      for (const { method } of lists)
        context.needResult(await conversation.request(method), `${method}, which is announced,`);
      return `${lists.map(({ method }) => method).join(', ')} had results`;
    },
  },
  {
    id: 'capabilities/templates-answered',
    suite: 'protocol',
    title: 'Answers resources/templates/list when it announces resources',
    level: 'SHOULD',
    rules: [],
    reason: 'The capability resources includes it, and clients request the templates.',
    hint: 'Answer with an empty list if there are no templates.',
    async run(context) {
      context.needCapability('resources');
      const conversation = await context.conversation();
      const result = context.needResult(
        await conversation.request('resources/templates/list'),
        'resources/templates/list',
      );
      const { resourceTemplates } = result;
      return `it has ${Array.isArray(resourceTemplates) ? resourceTemplates.length : 'no list of'} templates`;
    },
  },
  {
    id: 'capabilities/completions-answered',
    suite: 'protocol',
    title: 'Implements completion/complete when it announces completions',
    level: 'SHOULD',
    rules: ['COMP-001'],
    reason: 'A client requests suggestions with every key stroke, and would get an error each time.',
    hint: 'Implement completion/complete, or do not announce completions.',
    async run(context) {
      context.needCapability('completions');
      const conversation = await context.conversation();
      const reply = await conversation.request('completion/complete', {
        ref: {
          type: 'ref/prompt',
          name: String(context.facts.prompts[0]?.['name'] ?? 'isthmus_check_nobody'),
        },
        argument: { name: 'isthmus_check_nothing', value: '' },
      });
      const seen = `completion/complete was answered with ${inWords(reply)}`;
      if (reply.kind === 'silence' || (reply.kind === 'error' && reply.error.code === -32601))
        context.fail(seen, 'a result, or an error other than -32601');
      return seen;
    },
  },
];

/** A feature that is not announced counts as not implemented (ERR-015). In legacy revisions any error is accepted. */
function gated(capability: string, method: string, params: JsonObject, rules: readonly string[]): Check {
  return {
    id: `capabilities/${capability}-gated`,
    suite: 'protocol',
    title: `Refuses ${method} unless it announces ${capability}`,
    level: 'MUST',
    rules: [...rules, 'ERR-015', 'DISC-009'],
    hint: `Announce ${capability}, or answer ${method} with -32601.`,
    async run(context) {
      if (hasCapability(context.facts.capabilities, capability))
        context.skip(`the server announces ${capability}`);
      if (capability === 'completions' && context.revision < '2025-03-26')
        context.skip(`revision ${context.revision} has no capability completions`);
      const conversation = await context.conversation();
      const reply = await conversation.request(method, params);
      const codes = context.era === 'modern' ? [-32601] : [];
      return needRefusal(context, reply, codes, `${method}, without ${capability} announced,`);
    },
  };
}

function answered(capability: string, method: string, rules: readonly string[]): Check {
  return {
    id: `capabilities/${capability}-answered`,
    suite: 'protocol',
    title: `Answers ${method} when it announces ${capability}, even if the list is empty`,
    level: 'MUST',
    rules,
    era: 'modern',
    hint: `Answer ${method} with an empty list if there is nothing to list.`,
    async run(context) {
      context.needCapability(capability);
      const conversation = await context.conversation();
      context.needResult(await conversation.request(method), method);
      return `${method} had a result`;
    },
  };
}
