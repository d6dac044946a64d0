/** Messages that use much of what a revision knows: what the mutations of the differential test begin with. */
const annotations = { audience: ['user'], priority: 0.5, lastModified: '2025-01-12T15:00:58Z' };
const icons = [{ src: 'https://example.com/a.png', mimeType: 'image/png', sizes: ['48x48'], theme: 'dark' }];
const _meta = { 'com.example/a': 1 };
const CONTENT = [
  { type: 'text', text: 'a', annotations, _meta },
  { type: 'image', data: 'iVBORw0KGgo=', mimeType: 'image/png' },
  { type: 'audio', data: 'UklGRg==', mimeType: 'audio/wav' },
  { type: 'resource_link', uri: 'file:///a', name: 'a', title: 'A', size: 3, annotations },
  { type: 'resource', resource: { uri: 'test://a', mimeType: 'text/plain', text: 'a' } },
  { type: 'resource', resource: { uri: 'test://a', mimeType: 'text/plain', blob: 'YQ==' } },
];

/** By method. Paths in the differential test begin inside of these. */
export const RESULTS: Readonly<Record<string, object>> = {
  'tools/list': {
    tools: [
      {
        name: 'a',
        title: 'A',
        description: 'does a',
        inputSchema: { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] },
        outputSchema: { type: 'object', properties: { b: { type: 'number' } } },
        annotations: { title: 'A', readOnlyHint: true, destructiveHint: false },
        icons,
        _meta,
      },
    ],
    nextCursor: 'b',
  },
  'tools/call': { content: CONTENT, structuredContent: { a: 1 }, isError: false, _meta },
  'resources/list': {
    resources: [
      {
        uri: 'test://a',
        name: 'a',
        title: 'A',
        description: 'a',
        mimeType: 'text/plain',
        size: 3,
        annotations,
        icons,
      },
    ],
  },
  'resources/templates/list': {
    resourceTemplates: [{ uriTemplate: 'test://{a}', name: 'a', mimeType: 'text/plain', annotations, _meta }],
  },
  'resources/read': {
    contents: [
      { uri: 'test://a', mimeType: 'text/plain', text: 'a', _meta },
      { uri: 'test://a', blob: 'YQ==' },
    ],
  },
  'prompts/list': {
    prompts: [{ name: 'a', title: 'A', arguments: [{ name: 'b', description: 'b', required: true }], icons }],
  },
  'prompts/get': {
    description: 'a',
    messages: CONTENT.map((content) => ({ role: 'user', content })),
  },
  'completion/complete': { completion: { values: ['a', 'b'], total: 2, hasMore: false } },
};

export const NOTIFICATIONS: Readonly<Record<string, object>> = {
  'notifications/progress': { progressToken: 'a', progress: 1, total: 2, message: 'half' },
  'notifications/message': { level: 'info', data: { a: 1 }, logger: 'a' },
  'notifications/cancelled': { requestId: 1, reason: 'enough' },
  'notifications/tools/list_changed': { _meta },
  'notifications/resources/updated': { uri: 'test://a' },
};

/** Of 2025-11-25. */
export const REQUESTS: Readonly<Record<string, object>> = {
  'sampling/createMessage': {
    messages: [
      { role: 'user', content: { type: 'text', text: 'a' } },
      { role: 'assistant', content: [{ type: 'tool_use', id: 'u', name: 'a', input: {} }] },
      {
        role: 'user',
        content: [{ type: 'tool_result', toolUseId: 'u', content: [{ type: 'text', text: 'a' }] }],
      },
    ],
    maxTokens: 10,
    modelPreferences: { hints: [{ name: 'a' }], costPriority: 0.5 },
    systemPrompt: 'a',
    includeContext: 'none',
    temperature: 0.5,
    stopSequences: ['.'],
    metadata: {},
    tools: [{ name: 'a', inputSchema: { type: 'object' } }],
    toolChoice: { mode: 'auto' },
  },
  'elicitation/create': {
    mode: 'form',
    message: 'a',
    requestedSchema: {
      type: 'object',
      properties: {
        a: {
          type: 'string',
          title: 'A',
          minLength: 1,
          maxLength: 9,
          format: 'email',
          default: 'a@b.example',
        },
        b: { type: 'integer', minimum: 0, maximum: 9, default: 1 },
        c: { type: 'boolean', default: true },
        d: { type: 'string', enum: ['x'], enumNames: ['X'] },
        e: { type: 'string', oneOf: [{ const: 'x', title: 'X' }] },
        f: { type: 'array', items: { type: 'string', enum: ['x'] }, minItems: 1, default: ['x'] },
        g: { type: 'array', items: { anyOf: [{ const: 'x', title: 'X' }] } },
      },
      required: ['a'],
    },
  },
  'roots/list': {},
  ping: {},
};
