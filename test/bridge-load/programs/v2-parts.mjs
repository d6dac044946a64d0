// A server on the official v2 SDK (modern era); v1-parts.mjs offers the same in the legacy era.
import { inputRequired, inputResponse, McpServer } from '@modelcontextprotocol/server';
import { z } from 'zod';
import { form, hold, meet, note, release, text } from './common.mjs';

/** `changes` says what has changed to those who listen; without it the server itself does. */
export function createV2(changes) {
  const server = new McpServer(
    { name: 'load-v2', version: '1' },
    { capabilities: { logging: {}, resources: { subscribe: true, listChanged: true } } },
  );
  const said = z.object({ text: z.string(), of: z.number().optional() });
  const none = z.object({});

  server.registerTool('echo', { inputSchema: said }, async (args) => {
    await meet('echo', args.of);
    return text(args.text);
  });
  server.registerTool('elicit', { inputSchema: said }, async (args, { mcpReq }) => {
    const answer = inputResponse(mcpReq.inputResponses, 'it');
    if (answer.kind === 'missing') {
      note(`asking ${args.text}`);
      await meet('elicit', args.of);
      const inputRequests = { it: inputRequired.elicit(form(args.text)) };
      return inputRequired({ inputRequests, requestState: args.text });
    }
    note(`answered ${args.text}`);
    return text(`${mcpReq.requestState()}: ${answer.content?.answer ?? answer.action}`);
  });
  server.registerTool('hold', { inputSchema: said }, async (args, { mcpReq }) => {
    const progressToken = mcpReq._meta?.progressToken;
    if (progressToken !== undefined) {
      await mcpReq.notify({ method: 'notifications/progress', params: { progressToken, progress: 1 } });
    }
    return hold(mcpReq.signal, args.text);
  });
  server.registerTool('release', { inputSchema: none }, release);
  server.registerTool('run', { inputSchema: z.object({ token: z.string() }) }, ({ token }) => {
    note(`ran ${token}`);
    return text(token);
  });
  server.registerTool('pid', { inputSchema: none }, () => text(String(process.pid)));
  server.registerTool('touch', { inputSchema: z.object({ uri: z.string() }) }, async ({ uri }) => {
    if (changes) changes.resourceUpdated(uri);
    else await server.server.sendResourceUpdated({ uri });
    return text('touched');
  });
  server.registerResource('memo', 'memo://1', {}, (uri) => ({ contents: [{ uri: uri.href, text: 'one' }] }));
  return server;
}
