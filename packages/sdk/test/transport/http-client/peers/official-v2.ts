import { toNodeHandler } from '@modelcontextprotocol/node';
import {
  completable,
  createMcpHandler,
  inputRequired,
  inputResponse,
  McpServer,
  ResourceTemplate,
} from '@modelcontextprotocol/server';
import { z } from 'zod';
import { listenOn, type Peer } from './peer.js';

export interface V2Peer extends Peer {
  /** Says that something has changed. */
  readonly notify: ReturnType<typeof createMcpHandler>['notify'];
}

/** The official SDK v2: modern only, or legacy (without sessions), too. */
export async function officialV2(legacy: 'stateless' | 'reject'): Promise<V2Peer> {
  const handler = createMcpHandler(createV2, { legacy });
  const peer = await listenOn(toNodeHandler(handler) as never);
  return {
    url: `${peer.url}/mcp`,
    notify: handler.notify,
    async close() {
      await handler.close();
      await peer.close();
    },
  };
}

let cancelled = 0;

function createV2(): McpServer {
  const server = new McpServer(
    { name: 'official-v2', version: '2.0.0' },
    {
      instructions: 'Ask for anything.',
      capabilities: {
        logging: {},
        tools: { listChanged: true },
        resources: { subscribe: true, listChanged: true },
      },
    },
  );
  const text = (value: string) => ({ content: [{ type: 'text' as const, text: value }] });
  const none = { inputSchema: z.object({}) };
  server.registerTool(
    'add',
    {
      inputSchema: z.object({ a: z.number(), b: z.number() }),
      outputSchema: z.object({ sum: z.number() }),
    },
    ({ a, b }) => ({ ...text(String(a + b)), structuredContent: { sum: a + b } }),
  );
  server.registerTool(
    'route',
    { inputSchema: z.object({ region: z.string().meta({ 'x-mcp-header': 'Region' }) }) },
    ({ region }) => text(`routed to ${region}`),
  );
  server.registerTool('fail', none, () => {
    throw new Error('on purpose');
  });
  server.registerTool('report', none, async (_args, ctx) => {
    const progressToken = ctx.mcpReq._meta?.progressToken;
    for (const progress of [1, 2]) {
      if (progressToken !== undefined) {
        const params = { progressToken, progress, total: 2, message: `step ${progress}` };
        await ctx.mcpReq.notify({ method: 'notifications/progress', params });
      }
      await ctx.mcpReq.log('warning', { progress }, 'reporter');
    }
    return text('reported');
  });
  server.registerTool('wait', none, (_args, ctx) => {
    return new Promise((resolve) => {
      ctx.mcpReq.signal.addEventListener('abort', () => {
        cancelled += 1;
        resolve(text('too late'));
      });
    });
  });
  server.registerTool('cancelled', none, () => text(String(cancelled)));
  server.registerTool('ask_all', none, (_args, ctx) => {
    const views = ['who', 'what', 'where'].map((key) => inputResponse(ctx.mcpReq.inputResponses, key));
    if (views.every(({ kind }) => kind !== 'missing')) return text(views.map(({ kind }) => kind).join(' '));
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
  });
  server.registerResource('memo', 'memo://1', { mimeType: 'text/plain' }, (uri) => ({
    contents: [{ uri: uri.href, mimeType: 'text/plain', text: 'one' }],
  }));
  server.registerResource('note', new ResourceTemplate('note://{name}', { list: undefined }), {}, (uri) => ({
    contents: [{ uri: uri.href, text: 'a note' }],
  }));
  server.registerPrompt(
    'greet',
    {
      argsSchema: z.object({
        name: completable(z.string(), (value) => ['Ada', 'Alan'].filter((name) => name.startsWith(value))),
      }),
    },
    ({ name }) => ({ messages: [{ role: 'user', content: { type: 'text', text: `Hello ${name}` } }] }),
  );
  return server;
}
