// Its vice: it asks back about everything. The official SDK v2, in the modern era only.
// Calls with `of` wait until so many have come, so that they are in flight together.
// node server-asks-in-rounds.mjs
import { inputRequired, inputResponse, McpServer } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { z } from 'zod';

const text = (value) => ({ content: [{ type: 'text', text: value }] });
const inputSchema = z.object({
  text: z.string().optional(),
  of: z.number().optional(),
  level: z.string().optional(),
});

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

let reads = 0;
const cancelled = [];

serveStdio(create, { legacy: 'reject' });

function create() {
  const server = new McpServer(
    { name: 'asks-in-rounds', version: '1' },
    { capabilities: { logging: {}, resources: { subscribe: true, listChanged: true } } },
  );
  const tool = (name, handler) =>
    server.registerTool(name, { inputSchema }, async (args, ctx) => {
      await meet(name, args.of);
      return handler(args, ctx.mcpReq);
    });
  const asking = (name, question, tell) =>
    tool(name, ({ text: said }, request) => {
      const answer = inputResponse(request.inputResponses, 'it');
      if (answer.kind === 'missing') {
        return inputRequired({ inputRequests: { it: question(said) }, requestState: said });
      }
      return text(`${request.requestState()}: ${tell(answer)}`);
    });

  tool('echo', ({ text: said }) => text(said));
  tool('steps', async ({ text: said }, request) => {
    for (const progress of [1, 2, 3]) {
      const params = {
        progressToken: request._meta?.progressToken,
        progress,
        message: `${said} ${progress}`,
      };
      await request.notify({ method: 'notifications/progress', params });
    }
    return text(said);
  });
  asking(
    'elicit',
    (message) =>
      inputRequired.elicit({
        message,
        requestedSchema: { type: 'object', properties: { answer: { type: 'string' } } },
      }),
    (answer) => answer.content?.answer,
  );
  asking(
    'sample',
    (said) =>
      inputRequired.createMessage({
        messages: [{ role: 'user', content: { type: 'text', text: said } }],
        maxTokens: 10,
      }),
    (answer) => JSON.stringify(answer),
  );
  asking(
    'roots',
    () => inputRequired.listRoots(),
    (answer) => JSON.stringify(answer),
  );
  tool('log', async ({ text: said, level }, request) => {
    await request.log(level, said);
    return text('logged');
  });
  server.registerTool('wait', { inputSchema }, ({ text: said }, ctx) => {
    process.stderr.write(`waiting ${said}\n`);
    return new Promise((resolve) => {
      ctx.mcpReq.signal.addEventListener('abort', () => {
        cancelled.push(said);
        process.stderr.write(`cancelled ${said}\n`);
        resolve(text('too late'));
      });
    });
  });
  tool('cancelled', () => text(cancelled.join(' ')));
  tool('reads', () => text(String(reads)));
  tool('touch', async ({ text: uri }) => {
    await server.server.sendResourceUpdated({ uri });
    return text('touched');
  });
  server.registerResource('memo', 'memo://1', {}, (uri) => {
    reads += 1;
    return { contents: [{ uri: uri.href, text: 'one' }] };
  });
  return server;
}
