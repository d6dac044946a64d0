// A server of the official SDK v1 that uses all it has:
//   node test/interop/peers/official-v1-server.mjs
import { completable } from '@modelcontextprotocol/sdk/server/completable.js';
import { McpServer, ResourceTemplate } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { SubscribeRequestSchema, UnsubscribeRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { z } from 'zod';

const server = new McpServer(
  { name: 'official-v1', version: '1.32.2' },
  {
    instructions: 'Ask for anything.',
    capabilities: { logging: {}, resources: { subscribe: true, listChanged: true } },
  },
);
const text = (value) => ({ content: [{ type: 'text', text: value }] });

server.registerTool(
  'add',
  {
    description: 'Adds',
    inputSchema: { a: z.number(), b: z.number() },
    outputSchema: { sum: z.number() },
  },
  ({ a, b }) => ({ ...text(String(a + b)), structuredContent: { sum: a + b } }),
);
server.registerTool('fail', {}, () => {
  throw new Error('on purpose');
});
server.registerTool('report', {}, async (extra) => {
  const progressToken = extra._meta?.progressToken;
  for (const progress of [1, 2]) {
    if (progressToken !== undefined) {
      await extra.sendNotification({
        method: 'notifications/progress',
        params: { progressToken, progress, total: 2, message: `step ${progress}` },
      });
    }
    const level = progress === 1 ? 'debug' : 'warning';
    await server.sendLoggingMessage({ level, data: { progress }, logger: 'reporter' });
  }
  return text('reported');
});
let cancelled = 0;
server.registerTool('wait', {}, (extra) => {
  return new Promise((resolve) => {
    extra.signal.addEventListener('abort', () => {
      cancelled += 1;
      resolve(text('too late'));
    });
  });
});
server.registerTool('cancelled', {}, () => text(String(cancelled)));
server.registerTool('ask', {}, async () => {
  const answer = await server.server.elicitInput({
    message: 'Your name?',
    requestedSchema: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] },
  });
  return text(JSON.stringify(answer));
});
server.registerTool('ask_all', {}, async () => {
  const [answer, said, { roots }] = await Promise.all([
    server.server.elicitInput({
      message: 'Who?',
      requestedSchema: { type: 'object', properties: { ok: { type: 'boolean' } } },
    }),
    server.server.createMessage({
      messages: [{ role: 'user', content: { type: 'text', text: 'What?' } }],
      maxTokens: 10,
    }),
    server.server.listRoots(),
  ]);
  return text(`${answer.action} ${said.model} ${roots.length}`);
});
server.registerTool('ping', {}, async () => text(JSON.stringify(await server.server.ping())));
let grown = 0;
server.registerTool('grow', {}, () => {
  grown += 1;
  server.registerTool(`grown_${grown}`, {}, () => text('grown'));
  server.registerPrompt(`grown_${grown}`, {}, () => ({ messages: [] }));
  server.registerResource(`grown_${grown}`, `memo://grown/${grown}`, {}, () => ({ contents: [] }));
  return text('more');
});

const watched = new Set();
server.server.setRequestHandler(SubscribeRequestSchema, ({ params }) => {
  watched.add(params.uri);
  return {};
});
server.server.setRequestHandler(UnsubscribeRequestSchema, ({ params }) => {
  watched.delete(params.uri);
  return {};
});
server.registerTool('watched', {}, () => text([...watched].join(' ')));
server.registerTool('touch', { inputSchema: { uri: z.string() } }, async ({ uri }) => {
  if (watched.has(uri)) await server.server.sendResourceUpdated({ uri });
  return text('touched');
});

server.registerResource('memo', 'memo://1', { title: 'Memo', mimeType: 'text/plain' }, (uri) => ({
  contents: [{ uri: uri.href, mimeType: 'text/plain', text: 'one' }],
}));
server.registerResource(
  'note',
  new ResourceTemplate('note://{name}', {
    list: undefined,
    complete: { name: (value) => ['ada', 'alan', 'bob'].filter((name) => name.startsWith(value)) },
  }),
  { title: 'Notes' },
  (uri, { name }) => ({ contents: [{ uri: uri.href, text: `note of ${name}` }] }),
);
server.registerPrompt(
  'greet',
  {
    description: 'Greets',
    argsSchema: {
      name: completable(z.string(), (value) => ['Ada', 'Alan'].filter((name) => name.startsWith(value))),
    },
  },
  ({ name }) => ({ messages: [{ role: 'user', content: { type: 'text', text: `Hello ${name}` } }] }),
);

await server.connect(new StdioServerTransport());
