// A server that uses everything the newest revision has, for clients of revisions that have less:
//   node test/interop/rich-server.mjs
import { createServer, serve, stdio } from 'isthmus';

const icons = [
  { src: 'https://example.com/icon.png', mimeType: 'image/png', sizes: ['48x48'], theme: 'dark' },
];
const _meta = { 'com.example/note': 'kept' };
const annotations = { audience: ['user'], priority: 0.5, lastModified: '2026-01-01T00:00:00Z' };

const server = createServer({
  name: 'rich',
  version: '1.0.0',
  title: 'Rich',
  description: 'Uses everything',
  websiteUrl: 'https://example.com',
  icons,
  instructions: 'Ask for anything.',
});

const blocks = [
  { type: 'text', text: 'text', annotations, _meta },
  { type: 'image', data: 'AAAA', mimeType: 'image/png', annotations, _meta },
  { type: 'audio', data: 'AAAA', mimeType: 'audio/wav', annotations, _meta },
  {
    type: 'resource_link',
    uri: 'rich://linked',
    name: 'linked',
    title: 'Linked',
    description: 'A link',
    mimeType: 'text/plain',
    size: 4,
    icons,
    annotations,
    _meta,
  },
  {
    type: 'resource',
    resource: { uri: 'rich://embedded', mimeType: 'text/plain', text: 'embedded', _meta },
    annotations,
    _meta,
  },
];

server.tool(
  'rich',
  {
    title: 'Rich',
    description: 'Every kind of block and structured content',
    input: {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      type: 'object',
      properties: { word: { type: 'string' } },
    },
    output: { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] },
    annotations: { title: 'Old title', readOnlyHint: true },
    icons,
    _meta,
  },
  () => ({ content: blocks, structuredContent: { n: 1 }, _meta }),
);
server.tool(
  'scalar',
  {
    description: 'Structured content that is no object',
    output: { type: 'array', items: { type: 'number' } },
  },
  () => [1, 2, 3],
);
server.tool('report', { description: 'Progress with a message, and a log' }, (_args, ctx) => {
  ctx.progress(1, 2, 'half way');
  ctx.log('warning', { deep: ['data'] }, 'reporter');
  return 'reported';
});
server.tool('form', { description: 'Asks with a form' }, async (_args, ctx) => {
  const answer = await ctx.elicit({
    message: 'Fill in',
    requestedSchema: {
      type: 'object',
      properties: {
        name: { type: 'string', title: 'Name', minLength: 1, maxLength: 9, default: 'Ada' },
        mail: { type: 'string', format: 'email' },
        age: { type: 'integer', minimum: 0, maximum: 150, default: 36 },
        sure: { type: 'boolean', default: true },
        plain: { type: 'string', enum: ['a', 'b'], default: 'a' },
        titled: {
          type: 'string',
          oneOf: [
            { const: 'x', title: 'Ex' },
            { const: 'y', title: 'Why' },
          ],
          default: 'x',
        },
      },
      required: ['name'],
    },
  });
  return answer.action;
});
server.tool('choices', { description: 'Asks with a multiple choice' }, async (_args, ctx) => {
  const answer = await ctx.elicit({
    message: 'Choose',
    requestedSchema: {
      type: 'object',
      properties: { many: { type: 'array', items: { type: 'string', enum: ['a', 'b'] }, minItems: 1 } },
    },
  });
  return answer.action;
});
server.tool('page', { description: 'Asks with a page' }, async (_args, ctx) => {
  const answer = await ctx.elicit({ mode: 'url', message: 'Go', url: 'https://example.com/go' });
  return answer.action;
});
server.tool('sample', { description: 'Samples with several blocks in one message' }, async (_args, ctx) => {
  const answer = await ctx.sample({
    messages: [
      {
        role: 'user',
        content: [
          { type: 'text', text: 'one', annotations, _meta },
          { type: 'image', data: 'AAAA', mimeType: 'image/png' },
        ],
        _meta,
      },
    ],
    maxTokens: 10,
    systemPrompt: 'Be brief',
    temperature: 0.5,
    stopSequences: ['.'],
    modelPreferences: { hints: [{ name: 'small' }], costPriority: 1 },
    metadata: { any: 'thing' },
  });
  return answer.model;
});
server.tool('hear', { description: 'Samples with audio' }, async (_args, ctx) => {
  const answer = await ctx.sample({
    messages: [{ role: 'user', content: { type: 'audio', data: 'AAAA', mimeType: 'audio/wav' } }],
    maxTokens: 10,
  });
  return answer.model;
});
server.tool('roots', { description: 'Asks for roots' }, async (_args, ctx) => (await ctx.roots()).length);
server.tool('change', { description: 'Changes everything' }, () => {
  server.tool('passing', {}, () => 'never').remove();
  server.prompt('passing', {}, () => 'never').remove();
  server.resource('rich://passing', { name: 'passing' }, () => 'never').remove();
  server.resourceUpdated('rich://one');
  return 'changed';
});

const facts = { title: 'One', description: 'One', mimeType: 'text/plain', icons, annotations, _meta };
server.resource('rich://one', { name: 'one', size: 3, ...facts }, () => [
  { uri: 'rich://one', mimeType: 'text/plain', text: 'one', _meta },
  { uri: 'rich://one/raw', blob: 'AAAA', _meta },
]);
server.resourceTemplate(
  'rich://{id}/part',
  { name: 'part', ...facts, complete: { id: (value) => [`${value}1`, `${value}2`] } },
  ({ id }) => String(id),
);
server.prompt(
  'rich',
  {
    title: 'Rich',
    description: 'Every kind of block',
    arguments: { topic: { title: 'Topic', description: 'What about', complete: () => ['a'] } },
    icons,
    _meta,
  },
  () => ({ messages: blocks.map((content) => ({ role: 'user', content })), _meta }),
);

await serve(server, stdio());
