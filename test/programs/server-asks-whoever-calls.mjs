// Its vice: it asks back about everything, and its questions do not say whose they are. The official SDK v1.
// Calls with `of` wait until so many have come, so that they are in flight together.
// node server-asks-whoever-calls.mjs
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { SubscribeRequestSchema, UnsubscribeRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { z } from 'zod';

const server = new McpServer(
  { name: 'asks-whoever-calls', version: '1' },
  { capabilities: { logging: {}, resources: { subscribe: true, listChanged: true } } },
);
const text = (value) => ({ content: [{ type: 'text', text: value }] });
const input = { text: z.string().optional(), of: z.number().optional() };

/** Calls that wait for each other, by tool: they go on together, the last one first. */
const meetings = new Map();
function meet(tool, of = 1) {
  const waiting = meetings.get(tool) ?? [];
  meetings.set(tool, waiting);
  return new Promise((go) => {
    waiting.unshift(go);
    if (waiting.length < of) return;
    meetings.delete(tool);
    for (const next of waiting) next();
  });
}

server.registerTool('echo', { inputSchema: input }, async ({ text: said, of }) => {
  await meet('echo', of);
  return text(said);
});
server.registerTool('steps', { inputSchema: input }, async ({ text: said, of }, extra) => {
  await meet('steps', of);
  for (const progress of [1, 2, 3]) {
    const params = { progressToken: extra._meta?.progressToken, progress, message: `${said} ${progress}` };
    await extra.sendNotification({ method: 'notifications/progress', params });
  }
  return text(said);
});
server.registerTool('elicit', { inputSchema: input }, async ({ text: said, of }) => {
  await meet('elicit', of);
  const { content } = await server.server.elicitInput({
    message: said,
    requestedSchema: { type: 'object', properties: { answer: { type: 'string' } } },
  });
  return text(`${said}: ${content?.answer}`);
});
server.registerTool('sample', { inputSchema: input }, async ({ text: said, of }) => {
  await meet('sample', of);
  const { content } = await server.server.createMessage({
    messages: [{ role: 'user', content: { type: 'text', text: said } }],
    maxTokens: 10,
  });
  return text(`${said}: ${content.text}`);
});
server.registerTool('roots', { inputSchema: input }, async ({ text: said, of }) => {
  await meet('roots', of);
  const { roots } = await server.server.listRoots();
  return text(`${said}: ${roots.map(({ uri }) => uri).join(' ')}`);
});
server.registerTool('log', { inputSchema: { ...input, level: z.string() } }, async (args) => {
  await meet('log', args.of);
  await server.sendLoggingMessage({ level: args.level, data: args.text });
  return text('logged');
});
const cancelled = [];
server.registerTool('wait', { inputSchema: input }, ({ text: said }, extra) => {
  process.stderr.write(`waiting ${said}\n`);
  return new Promise((resolve) => {
    extra.signal.addEventListener('abort', () => {
      cancelled.push(said);
      process.stderr.write(`cancelled ${said}\n`);
      resolve(text('too late'));
    });
  });
});
server.registerTool('cancelled', {}, () => text(cancelled.join(' ')));

const history = [];
const watched = new Set();
server.server.setRequestHandler(SubscribeRequestSchema, ({ params }) => {
  history.push(`subscribe ${params.uri}`);
  watched.add(params.uri);
  return {};
});
server.server.setRequestHandler(UnsubscribeRequestSchema, ({ params }) => {
  history.push(`unsubscribe ${params.uri}`);
  watched.delete(params.uri);
  return {};
});
server.registerTool('history', {}, () => text(history.join(', ')));
server.registerTool('touch', { inputSchema: { uri: z.string() } }, async ({ uri }) => {
  if (watched.has(uri)) await server.server.sendResourceUpdated({ uri });
  return text('touched');
});
server.registerTool('declared', {}, () => text(JSON.stringify(server.server.getClientCapabilities())));
server.registerTool('pid', {}, () => text(String(process.pid)));
server.registerResource('memo', 'memo://1', {}, (uri) => ({ contents: [{ uri: uri.href, text: 'one' }] }));

await server.connect(new StdioServerTransport());
