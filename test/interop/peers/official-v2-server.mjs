// A server of the official SDK v2 that uses all it has, in both eras:
//   node test/interop/peers/official-v2-server.mjs [serve|reject]   how openings of the legacy era are handled
import {
  completable,
  inputRequired,
  inputResponse,
  McpServer,
  ResourceTemplate,
} from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { z } from 'zod';

serveStdio(create, { legacy: process.argv[2] ?? 'serve' });

function create() {
  const server = new McpServer(
    { name: 'official-v2', version: '2.4.0' },
    {
      instructions: 'Ask for anything.',
      capabilities: { logging: {}, resources: { subscribe: true, listChanged: true } },
      cacheHints: { 'tools/list': { ttlMs: 60_000, cacheScope: 'public' } },
    },
  );
  const text = (value) => ({ content: [{ type: 'text', text: value }] });

  server.registerTool(
    'add',
    {
      description: 'Adds',
      inputSchema: z.object({ a: z.number(), b: z.number() }),
      outputSchema: z.object({ sum: z.number() }),
    },
    ({ a, b }) => ({ ...text(String(a + b)), structuredContent: { sum: a + b } }),
  );
  server.registerTool('fail', { inputSchema: z.object({}) }, () => {
    throw new Error('on purpose');
  });
  server.registerTool('report', { inputSchema: z.object({}) }, async (_args, ctx) => {
    const progressToken = ctx.mcpReq._meta?.progressToken;
    for (const progress of [1, 2]) {
      if (progressToken !== undefined) {
        await ctx.mcpReq.notify({
          method: 'notifications/progress',
          params: { progressToken, progress, total: 2, message: `step ${progress}` },
        });
      }
      await ctx.mcpReq.log(progress === 1 ? 'debug' : 'warning', { progress }, 'reporter');
    }
    return text('reported');
  });
  let cancelled = 0;
  server.registerTool('wait', { inputSchema: z.object({}) }, (_args, ctx) => {
    return new Promise((resolve) => {
      ctx.mcpReq.signal.addEventListener('abort', () => {
        cancelled += 1;
        resolve(text('too late'));
      });
    });
  });
  server.registerTool('cancelled', { inputSchema: z.object({}) }, () => text(String(cancelled)));
  server.registerTool('ask', { inputSchema: z.object({}) }, (_args, ctx) => {
    const name = inputResponse(ctx.mcpReq.inputResponses, 'name');
    if (name.kind === 'missing') {
      return inputRequired({
        inputRequests: {
          name: inputRequired.elicit({
            message: 'Your name?',
            requestedSchema: {
              type: 'object',
              properties: { name: { type: 'string' } },
              required: ['name'],
            },
          }),
        },
        requestState: 'round 1',
      });
    }
    return text(JSON.stringify({ name, state: ctx.mcpReq.requestState() }));
  });
  server.registerTool('ask_all', { inputSchema: z.object({}) }, (_args, ctx) => {
    const views = ['who', 'what', 'where'].map((key) => inputResponse(ctx.mcpReq.inputResponses, key));
    if (views.some(({ kind }) => kind === 'missing')) {
      return inputRequired({
        inputRequests: {
          who: inputRequired.elicit({
            message: 'Who?',
            requestedSchema: { type: 'object', properties: { ok: { type: 'boolean' } } },
          }),
          what: inputRequired.createMessage({
            messages: [{ role: 'user', content: { type: 'text', text: 'What?' } }],
            maxTokens: 10,
          }),
          where: inputRequired.listRoots(),
        },
      });
    }
    return text(views.map(({ kind }) => kind).join(' '));
  });
  let grown = 0;
  server.registerTool('grow', { inputSchema: z.object({}) }, () => {
    grown += 1;
    server.registerTool(`grown_${grown}`, { inputSchema: z.object({}) }, () => text('grown'));
    server.registerPrompt(`grown_${grown}`, {}, () => ({ messages: [] }));
    server.registerResource(`grown_${grown}`, `memo://grown/${grown}`, {}, () => ({ contents: [] }));
    return text('more');
  });
  server.registerTool('touch', { inputSchema: z.object({ uri: z.string() }) }, async ({ uri }) => {
    await server.server.sendResourceUpdated({ uri });
    return text('touched');
  });

  // The legacy era leaves subscriptions to the author; the modern one does not.
  server.server.setRequestHandler('resources/subscribe', () => ({}));
  server.server.setRequestHandler('resources/unsubscribe', () => ({}));
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
      argsSchema: z.object({
        name: completable(z.string(), (value) => ['Ada', 'Alan'].filter((name) => name.startsWith(value))),
      }),
    },
    ({ name }) => ({ messages: [{ role: 'user', content: { type: 'text', text: `Hello ${name}` } }] }),
  );
  return server;
}
