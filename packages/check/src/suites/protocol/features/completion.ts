import { isJsonObject, type JsonObject } from '@isthmus/sdk/internal/wire/json-rpc.js';
import type { Check } from '../../../model.js';
import type { CheckContext } from '../../../run/check-context.js';
import { complaintText, judgeResult } from '../../../shapes/index.js';
import { inWords, knownRevision, needRefusal, several } from '../answers.js';

/** Suggestions for the arguments of prompts and templates. */
export const completionChecks: readonly Check[] = [
  {
    id: 'completion/at-most-100',
    suite: 'protocol',
    title: 'Suggests at most 100 values',
    level: 'MUST',
    rules: ['COMP-004'],
    hint: 'Send the first 100 values, and set hasMore if there are more.',
    async run(context) {
      const conversation = await context.conversation();
      const arguments_ = needArguments(context);
      let most = 0;
      for (const params of arguments_.slice(0, MOST_ARGUMENTS)) {
        const reply = await conversation.request('completion/complete', params);
        if (reply.kind !== 'result') continue;
        const completion = isJsonObject(reply.result['completion']) ? reply.result['completion'] : {};
        const { values } = completion;
        if (!Array.isArray(values))
          return context.fail('completion.values is not an array', 'an array of strings');
        if (values.length > 100) context.fail(`${nameOf(params)} has ${values.length} values`, '100 at most');
        most = Math.max(most, values.length);
      }
      return `the longest of the suggestions has ${most} values`;
    },
  },
  {
    id: 'completion/well-formed',
    suite: 'protocol',
    title: 'Answers completion/complete with a well-formed result',
    level: 'MUST',
    rules: ['COMP-004'],
    hint: 'The result has completion with values (strings), and optional total and hasMore.',
    async run(context) {
      const revision = knownRevision(context);
      const [first] = needArguments(context);
      const reply = await complete(context, first!);
      if (reply.kind !== 'result') return context.skip(`${nameOf(first!)} returned ${inWords(reply)}`);
      const complaints = judgeResult('completion/complete', reply.result, revision).filter(({ path }) =>
        path.startsWith('result.completion'),
      );
      if (complaints.length > 0)
        context.fail(
          `for ${nameOf(first!)}: ${several(complaints.map(complaintText))}`,
          `a result that matches the schema of ${revision}`,
        );
      return `the suggestions for ${nameOf(first!)} are well-formed`;
    },
  },
  {
    id: 'completion/unknown-prompt',
    suite: 'protocol',
    title: 'Refuses to complete an argument of an unknown prompt with -32602',
    level: 'SHOULD',
    rules: ['COMP-005'],
    hint: 'Look up the prompt first, and answer -32602 if there is none.',
    async run(context) {
      context.needCapability('completions');
      const ref = { type: 'ref/prompt', name: 'isthmus_check_no_such_prompt' };
      return needRefusal(context, await complete(context, { ref, ...ANY }), [-32602], 'an unknown prompt');
    },
  },
  {
    id: 'completion/unknown-template',
    suite: 'protocol',
    title: 'Refuses to complete an argument of an unknown resource template with -32602',
    level: 'SHOULD',
    rules: [],
    reason: 'An empty answer would mean that nothing matches, not that the template does not exist.',
    hint: 'Look up the template first, and answer -32602 if there is none.',
    async run(context) {
      context.needCapability('completions');
      if (context.facts.templates.length === 0) context.skip('the server has no templates');
      const ref = { type: 'ref/resource', uri: 'isthmus-check://no/such/{template}' };
      return needRefusal(context, await complete(context, { ref, ...ANY }), [-32602], 'an unknown template');
    },
  },
  {
    id: 'completion/missing-argument',
    suite: 'protocol',
    title: 'Refuses completion/complete without an argument with -32602',
    level: 'SHOULD',
    rules: ['COMP-005'],
    hint: 'Answer -32602 when `argument` is missing.',
    async run(context) {
      const [first] = needArguments(context);
      const reply = await complete(context, { ref: first!['ref'] });
      return needRefusal(context, reply, [-32602], 'completion/complete without argument');
    },
  },
];

const MOST_ARGUMENTS = 12;
const ANY = { argument: { name: 'isthmus', value: '' } };

async function complete(context: CheckContext, params: JsonObject) {
  const conversation = await context.conversation();
  return conversation.request('completion/complete', params);
}

/** The params for every argument that can be completed. Skips if there is none. */
function needArguments(context: CheckContext): JsonObject[] {
  context.needCapability('completions');
  const ofPrompts = context.facts.prompts.flatMap(({ name, arguments: list }) =>
    Array.isArray(list)
      ? list.filter(isJsonObject).map((each) => ({
          ref: { type: 'ref/prompt', name },
          argument: { name: each['name'], value: '' },
        }))
      : [],
  );
  const ofTemplates = context.facts.templates.flatMap(({ uriTemplate }) =>
    variablesOf(String(uriTemplate)).map((name) => ({
      ref: { type: 'ref/resource', uri: uriTemplate },
      argument: { name, value: '' },
    })),
  );
  const all = [...ofPrompts, ...ofTemplates];
  return all.length > 0 ? all : context.skip('no prompt and no template of the server has arguments');
}

/** `{+path,id*}`: the names in the braces. */
function variablesOf(template: string): string[] {
  return [...template.matchAll(/\{[+#./;?&]?([^{}]+)\}/g)].flatMap(([, inside]) =>
    inside!.split(',').map((variable) => variable.replace(/[*]$|:\d+$/, '')),
  );
}

function nameOf({ ref, argument }: JsonObject): string {
  const { name, uri } = ref as JsonObject;
  return `${String((argument as JsonObject)['name'])} of ${String(name ?? uri)}`;
}
