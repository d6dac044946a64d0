import { isJsonObject, type JsonObject } from '@isthmus/sdk/internal/wire/json-rpc.js';
import type { Reply } from '../../../conversation/conversation.js';
import type { Check } from '../../../model.js';
import type { CheckContext } from '../../../run/check-context.js';
import { isUri, isUriTemplate } from '../../../shapes/formats.js';
import { inWords, needRefusal, several } from '../answers.js';

/** Resources, existing and missing ones. */
export const resourceChecks: readonly Check[] = [
  {
    id: 'resources/missing',
    suite: 'protocol',
    title: 'Refuses to read a missing resource with -32602',
    level: 'MUST',
    rules: ['RES-004', 'RES-005', 'ERR-006'],
    era: 'modern',
    hint: 'Answer -32602 with the URI in data. Do not answer with empty contents or with -32002.',
    run: async (context) => needRefusal(context, await readNothing(context), [-32602], `reading ${NOTHING}`),
  },
  {
    id: 'resources/legacy-missing',
    suite: 'protocol',
    title: 'Refuses to read a missing resource with -32002',
    level: 'SHOULD',
    rules: ['ERR-022'],
    era: 'legacy',
    hint: 'Answer -32002 with the URI in data.',
    run: async (context) => needRefusal(context, await readNothing(context), [-32002], `reading ${NOTHING}`),
  },
  {
    id: 'resources/missing-named',
    suite: 'protocol',
    title: 'Names the missing resource in the data of the error',
    level: 'SHOULD',
    rules: [],
    reason:
      'The example in the specification has data.uri, and a client with many reads must know which one failed.',
    hint: 'Put { uri } into error.data.',
    async run(context) {
      const reply = await readNothing(context);
      if (reply.kind !== 'error') return context.skip(`reading ${NOTHING} returned no error`);
      const { data } = reply.error;
      if (!isJsonObject(data) || data['uri'] !== NOTHING)
        context.fail(`error.data is ${JSON.stringify(data) ?? 'absent'}`, `{"uri":"${NOTHING}"}`);
      return `the error names ${NOTHING}`;
    },
  },
  {
    id: 'resources/malformed-uri',
    suite: 'protocol',
    title: 'Refuses to read an invalid URI',
    level: 'MUST',
    rules: ['RES-016'],
    hint: 'Parse the URI before you look for the resource, and answer -32602 if that fails.',
    async run(context) {
      context.needCapability('resources');
      const conversation = await context.conversation();
      const reply = await conversation.request('resources/read', { uri: 'no uri at all' });
      return needRefusal(context, reply, [], 'reading "no uri at all"');
    },
  },
  {
    id: 'resources/uri-needed',
    suite: 'protocol',
    title: 'Refuses to read without a URI with -32602',
    level: 'SHOULD',
    rules: [],
    reason: 'The schema requires it, and -32602 is the code for invalid params.',
    hint: 'Answer -32602 when uri is missing.',
    async run(context) {
      context.needCapability('resources');
      const conversation = await context.conversation();
      const reply = await conversation.request('resources/read', { notUri: true });
      // Over HTTP the header that names the resource is missing, too.
      const isByHeader = context.target.transport === 'http' && context.era === 'modern';
      const codes = isByHeader ? [-32602, -32020] : [-32602];
      return needRefusal(context, reply, codes, 'resources/read without uri');
    },
  },
  {
    id: 'resources/listed-are-readable',
    suite: 'protocol',
    title: 'Can read every resource that it lists',
    level: 'SHOULD',
    rules: [],
    reason: 'Users pick from the list.',
    hint: 'List only resources that exist and that the client may read.',
    run(context) {
      const reads = needReads(context);
      const failed = reads.filter(({ reply }) => reply.kind !== 'result');
      if (failed.length > 0)
        context.fail(
          `${failed.length} of ${reads.length} listed resources: ${several(failed.map(({ uri, reply }) => `${uri} gave ${inWords(reply)}`))}`,
          'a result for each',
        );
      return `${reads.length} listed resources could be read`;
    },
  },
  {
    id: 'resources/contents-named',
    suite: 'protocol',
    title: 'States in the contents which resource they belong to',
    level: 'SHOULD',
    rules: [],
    reason: 'A client stores contents under their URI: the requested one, or a part of it.',
    hint: 'Set uri of an item to the requested URI, or to the URI of a part of it.',
    run(context) {
      const reads = needReads(context).flatMap(({ uri, reply }) => {
        const contents = reply.kind === 'result' ? reply.result['contents'] : undefined;
        return Array.isArray(contents) && contents.length > 0 ? [{ uri, contents }] : [];
      });
      if (reads.length === 0) context.skip('no listed resource has contents');
      for (const { uri, contents } of reads) {
        const uris = contents.filter(isJsonObject).map((item) => String(item['uri']));
        if (!uris.some((each) => each.startsWith(uri.replace(/\/$/, ''))))
          context.fail(`reading ${uri} returned contents of ${uris.join(', ')}`, `contents of ${uri}`);
      }
      return `the contents of ${reads.length} resources have their URI`;
    },
  },
  {
    id: 'resources/uris',
    suite: 'protocol',
    title: 'Lists resources with valid URIs',
    level: 'MUST',
    rules: ['RES-015', 'RES-016'],
    hint: 'Begin with a scheme, and percent-encode characters that RFC 3986 does not allow.',
    run(context) {
      if (context.revision < '2025-06-18')
        context.skip(`revision ${context.revision} is older than the rule`);
      return judgeNames(context, context.facts.resources, 'uri', isUri, 'a URI (RFC 3986)');
    },
  },
  {
    id: 'resources/templates',
    suite: 'protocol',
    title: 'Lists valid URI templates (RFC 6570)',
    level: 'MUST',
    rules: ['RES-010'],
    hint: 'Write {name}, {+path} or {?query}; balance the braces.',
    run: (context) =>
      judgeNames(context, context.facts.templates, 'uriTemplate', isUriTemplate, 'a URI template (RFC 6570)'),
  },
  {
    id: 'resources/traversal',
    suite: 'protocol',
    title: 'Serves no files outside of its folder for a file URI',
    level: 'MUST',
    rules: ['RES-017'],
    era: 'modern',
    hint: 'Decode and resolve the path, and check that it is inside of the folder before you read it.',
    async run(context) {
      const file = context.facts.resources
        .map(({ uri }) => String(uri))
        .find((uri) => uri.startsWith('file:///'));
      if (file === undefined) return context.skip('the server lists no file: resources');
      const conversation = await context.conversation();
      const folder = file.slice(0, file.lastIndexOf('/'));
      for (const dots of ['../'.repeat(12), '..%2f'.repeat(12), '%2e%2e/'.repeat(12)]) {
        const uri = `${folder}/${dots}etc/passwd`;
        const reply = await conversation.request('resources/read', { uri });
        if (reply.kind === 'result' && JSON.stringify(reply.result).includes('root:'))
          context.fail(`reading ${uri} returned /etc/passwd`, 'an error');
      }
      return `/etc/passwd could not be read from ${folder}`;
    },
  },
];

const NOTHING = 'isthmus-check://nowhere/nothing';

async function readNothing(context: CheckContext): Promise<Reply> {
  context.needCapability('resources');
  if (context.facts.templates.some(({ uriTemplate }) => String(uriTemplate).startsWith('{')))
    context.skip('a template of the server fits every URI');
  const conversation = await context.conversation();
  return conversation.request('resources/read', { uri: NOTHING });
}

/** The replies to reading the listed resources. An `input_required` result counts as a result. */
function needReads(context: CheckContext): { readonly uri: string; readonly reply: Reply }[] {
  const reads = context.facts.walkthrough
    .filter(({ method }) => method === 'resources/read')
    .map(({ params, reply }) => ({ uri: String(params['uri']), reply }));
  return reads.length > 0 ? reads : context.skip('the server lists no resources');
}

function judgeNames(
  context: CheckContext,
  items: readonly JsonObject[],
  member: string,
  isSound: (name: string) => boolean,
  expected: string,
): string {
  if (items.length === 0) context.skip('the server lists no such items');
  const bad = items.map((item) => item[member]).filter((name) => typeof name !== 'string' || !isSound(name));
  if (bad.length > 0)
    context.fail(
      `${bad.length} of ${items.length}: ${several(bad.map((name) => JSON.stringify(name)))}`,
      expected,
    );
  return `each of ${items.length} is ${expected}`;
}
