import { isJsonObject, type JsonObject } from '@isthmus/sdk/internal/wire/json-rpc.js';
import type { CheckConversation } from '../../../conversation/conversation.js';
import type { Check } from '../../../model.js';
import type { CheckContext } from '../../../run/check-context.js';
import { inWords, needRefusal } from '../answers.js';
import { keysIn, type List, listsOf } from './lists.js';

/** Prompts and their arguments. */
export const promptChecks: readonly Check[] = [
  {
    id: 'prompts/unknown',
    suite: 'protocol',
    title: 'Refuses an unknown prompt with -32602',
    level: 'SHOULD',
    rules: ['PROMPT-006', 'ERR-017'],
    hint: 'Look up the prompt first, and answer -32602 if there is none.',
    async run(context) {
      context.needCapability('prompts');
      const conversation = await context.conversation();
      const reply = await conversation.request('prompts/get', { name: 'isthmus_check_no_such_prompt' });
      return needRefusal(context, reply, [-32602], 'prompts/get isthmus_check_no_such_prompt');
    },
  },
  {
    id: 'prompts/missing-argument',
    suite: 'protocol',
    title: 'Refuses a prompt without a required argument with -32602',
    level: 'SHOULD',
    rules: ['PROMPT-006', 'PROMPT-009', 'ERR-017'],
    hint: 'Check the required arguments before you build the prompt, and answer -32602.',
    async run(context) {
      context.needCapability('prompts');
      const needy = context.facts.prompts.find((prompt) => required(prompt).length > 0);
      if (!needy) return context.skip('no prompt of the server requires an argument');
      const conversation = await context.conversation();
      const reply = await conversation.request('prompts/get', { name: needy['name'], arguments: {} });
      const what = `prompts/get ${String(needy['name'])} without ${required(needy).join(', ')}`;
      return needRefusal(context, reply, [-32602], what);
    },
  },
  {
    id: 'prompts/name-needed',
    suite: 'protocol',
    title: 'Refuses prompts/get without a name with -32602',
    level: 'SHOULD',
    rules: [],
    reason: 'The schema requires it, and -32602 is the code for invalid params.',
    hint: 'Answer -32602 when name is missing.',
    async run(context) {
      context.needCapability('prompts');
      const conversation = await context.conversation();
      const reply = await conversation.request('prompts/get', { notName: true });
      // Over HTTP the header that names the prompt is missing, too.
      const isByHeader = context.target.transport === 'http' && context.era === 'modern';
      const codes = isByHeader ? [-32602, -32020] : [-32602];
      return needRefusal(context, reply, codes, 'prompts/get without name');
    },
  },
  {
    id: 'prompts/listed-are-there',
    suite: 'protocol',
    title: 'Can get every prompt that it lists',
    level: 'SHOULD',
    rules: [],
    reason: 'Users pick from the list.',
    hint: 'List only prompts that exist, and declare all required arguments.',
    run(context) {
      const stops = needGets(context);
      const failed = stops.find(({ reply }) => reply.kind !== 'result');
      if (failed)
        context.fail(
          `prompts/get ${failed.name}, which has no required arguments, returned ${inWords(failed.reply)}`,
          'a result',
        );
      return `${stops.length} prompts without required arguments were returned`;
    },
  },
  {
    id: 'prompts/same-everywhere',
    suite: 'protocol',
    title: 'Lists the same prompts and resources on every connection',
    level: 'MUST',
    rules: ['PROMPT-003', 'RES-003'],
    era: 'modern',
    lane: 'own',
    hint: 'A list may depend on the server and on the user, but not on the connection.',
    async run(context) {
      const lists = listsOf(context).filter(({ capability }) => capability !== 'tools');
      if (lists.length === 0) context.skip('the server announces no prompts and no resources');
      const [used, fresh] = [await context.openConversation(), await context.openConversation()];
      const { resources, prompts } = context.facts;
      if (resources[0]) await used.request('resources/read', { uri: resources[0]['uri'] });
      if (prompts[0]) await used.request('prompts/get', { name: prompts[0]['name'], arguments: {} });
      for (const list of lists) {
        // The list may change for all clients between two requests, but hardly twice in a row.
        const first = await oddIn(context, list, used, fresh);
        const odd = first === undefined ? undefined : await oddIn(context, list, used, fresh);
        if (odd !== undefined)
          context.fail(`${odd} is in ${list.method} of one connection and not of another`, 'the same list');
      }
      return `${lists.map(({ method }) => method).join(', ')} are the same on two connections`;
    },
  },
];

/** An item that only one of two connections lists. */
async function oddIn(
  context: CheckContext,
  list: List,
  one: CheckConversation,
  other: CheckConversation,
): Promise<string | undefined> {
  const names = async (conversation: CheckConversation) =>
    keysIn(context.needResult(await conversation.request(list.method), list.method), list);
  const [here, there] = [await names(one), await names(other)];
  return here.find((name) => !there.includes(name)) ?? there.find((name) => !here.includes(name));
}

function required(prompt: JsonObject): string[] {
  const list = prompt['arguments'];
  return Array.isArray(list)
    ? list
        .filter((each) => isJsonObject(each) && each['required'] === true)
        .map((each) => String(each['name']))
    : [];
}

/** The replies for prompts without required arguments. */
function needGets(context: CheckContext) {
  const free = new Set(
    context.facts.prompts.filter((prompt) => required(prompt).length === 0).map(({ name }) => name),
  );
  const stops = context.facts.walkthrough
    .filter(({ method, params }) => method === 'prompts/get' && free.has(params['name']))
    .map(({ params, reply }) => ({ name: String(params['name']), reply }));
  return stops.length > 0 ? stops : context.skip('the server has no prompt without required arguments');
}
