import type { CheckConversation } from '../../conversation/conversation.js';
import type { Check } from '../../model.js';
import type { CheckContext } from '../../run/check-context.js';
import { judgeEach, nameOf, needTools, summary } from './each-tool.js';

/** The list of tools: its presence, its stability, and the names in it. */
export const toolListChecks: readonly Check[] = [
  {
    id: 'tools/declared',
    suite: 'tools',
    title: 'Announces the capability tools if it has tools',
    level: 'MUST',
    rules: ['TOOL-001'],
    hint: 'Add `tools: {}` to the capabilities of server/discover and initialize.',
    async run(context) {
      if (context.facts.capabilities['tools'] !== undefined) return 'tools is announced';
      const reply = await (await context.conversation()).request('tools/list');
      if (reply.kind !== 'result') return context.skip('the server has no tools');
      return context.fail(
        'tools/list is answered with a list, but tools is not announced',
        'the capability tools',
      );
    },
  },
  {
    id: 'tools/list-answered',
    suite: 'tools',
    title: 'Answers tools/list when it announces tools, even if the list is empty',
    level: 'MUST',
    rules: ['TOOL-002', 'TOOL-001'],
    hint: 'Register a handler for tools/list that returns `{ tools: [] }` when there are none.',
    async run(context) {
      context.needCapability('tools');
      const result = context.needResult(
        await (await context.conversation()).request('tools/list'),
        'tools/list',
      );
      if (!Array.isArray(result['tools'])) context.fail('the result has no array tools', 'an array tools');
      return `${(result['tools'] as unknown[]).length} tools on the first page`;
    },
  },
  {
    id: 'tools/same-everywhere',
    suite: 'tools',
    title: 'Offers the same tools on every connection',
    level: 'MUST',
    rules: ['TOOL-003'],
    era: 'modern',
    lane: 'own',
    hint: 'Do not make the list depend on a connection. Use a handle in the arguments for state.',
    async run(context) {
      needTools(context);
      const [one, other] = [await context.openConversation(), await context.openConversation()];
      const look = async () => [await namesOn(context, one), await namesOn(context, other)] as const;
      let [here, there] = await look();
      // A list may change at any time, but then it changes for all connections.
      if (difference(here, there) !== undefined) [here, there] = await look();
      const odd = difference(here, there);
      if (odd !== undefined) context.fail(`on a second connection ${odd}`, 'the same tools');
      return `${here.length} tools on two connections`;
    },
  },
  {
    id: 'tools/same-after-calls',
    suite: 'tools',
    title: 'Offers the same tools after other calls on the connection',
    level: 'MUST',
    rules: ['TOOL-003'],
    era: 'modern',
    hint: 'A call must not add, hide or rename tools for its own connection only.',
    async run(context) {
      needTools(context);
      if (!context.facts.walkthrough.some(({ method }) => method === 'tools/call'))
        context.skip('no tool was called');
      // Another connection to a command is another process, which does not see intended changes.
      const meant = context.facts.walkthrough.find(
        ({ method, params }) =>
          method === 'tools/call' &&
          !context.facts.tools.some((tool) => nameOf(tool) === params['name'] && isReadOnly(tool)),
      );
      if (context.target.transport === 'command' && meant) {
        context.skip(`${String(meant.params['name'])} was called, and may have changed the list on purpose`);
      }
      // A change for all connections is allowed, a change for this connection only is not.
      const fresh = await namesOn(context, await context.openConversation());
      const used = await namesOn(context, await context.conversation());
      const odd = difference(fresh, used);
      if (odd !== undefined)
        context.fail(`on the connection of the calls ${odd}`, 'the same tools as on a new connection');
      return `${used.length} tools, there as on a new connection`;
    },
  },
  {
    id: 'tools/order-stable',
    suite: 'tools',
    title: 'Lists its tools in the same order each time',
    level: 'SHOULD',
    rules: ['TOOL-005'],
    era: 'modern',
    hint: 'Sort by name or keep the order of registration: prompt caches of models depend on it.',
    async run(context) {
      needTools(context);
      const conversation = await context.conversation();
      const [first, second] = [await namesOn(context, conversation), await namesOn(context, conversation)];
      const at = first.findIndex((name, index) => name !== second[index]);
      if (at >= 0) context.fail(`place ${at + 1} is ${first[at]} and then ${second[at]}`, 'one order');
      return 'two lists in the same order';
    },
  },
  {
    id: 'tools/names-unique',
    suite: 'tools',
    title: 'Gives every tool a unique name',
    level: 'SHOULD',
    rules: ['TOOL-009'],
    hint: 'Rename one of them: a client can call only one tool with a name.',
    async run(context) {
      const names = needTools(context).map(nameOf);
      const twice = names.filter((name, index) => names.indexOf(name) !== index);
      if (twice.length > 0) context.fail(`there is more than one ${twice.join(', ')}`, 'each name once');
      return `${names.length} unique names`;
    },
  },
  {
    id: 'tools/names-usable',
    suite: 'tools',
    title: 'Names its tools with 1 to 128 letters, digits, _, - and .',
    level: 'SHOULD',
    rules: ['TOOL-009'],
    hint: 'Many models and hosts refuse other characters. Put a readable name into title.',
    run: (context) =>
      judgeEach(
        context,
        (tool) => {
          const name = nameOf(tool);
          if (/^[A-Za-z0-9_.-]{1,128}$/.test(name)) return undefined;
          return name.length < 1 || name.length > 128
            ? `a name of ${name.length} characters`
            : 'characters that are not allowed';
        },
        'names of 1 to 128 characters of A-Z a-z 0-9 _ - .',
      ),
  },
  {
    id: 'tools/read-only-is-honest',
    suite: 'tools',
    title: 'Changes no lists and resources in a tool with readOnlyHint',
    level: 'SHOULD',
    rules: [],
    reason:
      'Hosts call tools with readOnlyHint without asking the user. A tool that changes lists or resources misleads them.',
    hint: 'Remove readOnlyHint from the tool, or remove the side effect.',
    async run(context) {
      const readers = needTools(context).filter((tool) => isReadOnly(tool));
      const called = context.facts.walkthrough.filter(
        ({ method, params }) =>
          method === 'tools/call' && readers.some((tool) => nameOf(tool) === params['name']),
      );
      if (called.length === 0) context.skip('no tool with readOnlyHint was called');
      // A call on another connection to the same server may change the lists.
      const other = context.facts.callable.find(({ tool }) => !isReadOnly(tool));
      if (other) context.skip(`${other.name} may be called, too, and has no readOnlyHint`);
      const wrong = called.flatMap(({ params, reply }) =>
        reply.notifications
          .filter(
            ({ method }) => method?.endsWith('/list_changed') || method === 'notifications/resources/updated',
          )
          .map(({ method }) => `${String(params['name'])} was followed by ${method}`),
      );
      if (wrong.length > 0) context.fail(summary(wrong), 'no change');
      const odd = difference(
        needTools(context).map(nameOf),
        await namesOn(context, await context.conversation()),
      );
      if (odd !== undefined) context.fail(`after tools that only read ${odd}`, 'the same tools');
      return `${called.length} calls of tools that only read`;
    },
  },
];

function isReadOnly(tool: Readonly<Record<string, unknown>>): boolean {
  return (tool['annotations'] as { readOnlyHint?: unknown } | undefined)?.readOnlyHint === true;
}

/** All pages. */
async function namesOn(context: CheckContext, conversation: CheckConversation): Promise<string[]> {
  const names: string[] = [];
  let cursor: unknown;
  for (let page = 0; page < 50; page++) {
    const reply = await conversation.request('tools/list', cursor === undefined ? {} : { cursor });
    const result = context.needResult(reply, 'tools/list');
    if (!Array.isArray(result['tools'])) break;
    names.push(...result['tools'].map((tool) => nameOf(tool as Record<string, unknown>)));
    cursor = result['nextCursor'];
    if (cursor === undefined) break;
  }
  return names;
}

function difference(before: readonly string[], after: readonly string[]): string | undefined {
  const gone = before.filter((name) => !after.includes(name));
  const added = after.filter((name) => !before.includes(name));
  if (gone.length === 0 && added.length === 0) return undefined;
  return [
    ...(gone.length > 0 ? [`${gone.join(', ')} is not there`] : []),
    ...(added.length > 0 ? [`${added.join(', ')} is there in addition`] : []),
  ].join(' and ');
}
