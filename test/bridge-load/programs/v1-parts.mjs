// A server on the official v1 SDK (legacy era); v2-parts.mjs offers the same in the modern era.
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import {
  ElicitResultSchema,
  SubscribeRequestSchema,
  UnsubscribeRequestSchema,
} from '@modelcontextprotocol/sdk/types.js';
import { z } from 'zod';
import { form, hold, meet, note, release, text } from './common.mjs';

/** One for each session; a change is told to all of them. */
const everyServer = new Set();

export function createV1() {
  const server = new McpServer(
    { name: 'load-v1', version: '1' },
    { capabilities: { logging: {}, resources: { subscribe: true, listChanged: true } } },
  );
  everyServer.add(server);
  server.server.onclose = () => everyServer.delete(server);
  const said = { text: z.string(), of: z.number().optional() };

  server.registerTool('echo', { inputSchema: said }, async (args) => {
    await meet('echo', args.of);
    return text(args.text);
  });
  server.registerTool('elicit', { inputSchema: said }, async (args, extra) => {
    note(`asking ${args.text}`);
    await meet('elicit', args.of);
    const request = { method: 'elicitation/create', params: form(args.text) };
    try {
      const { action, content } = await extra.sendRequest(request, ElicitResultSchema);
      note(`answered ${args.text}`);
      return text(`${args.text}: ${content?.answer ?? action}`);
    } catch (error) {
      note(`refused ${args.text}`);
      return { ...text(`${args.text} was refused: ${error.message}`), isError: true };
    } finally {
      if (extra.signal.aborted) note(`cancelled ${args.text}`);
    }
  });
  server.registerTool('hold', { inputSchema: said }, async (args, extra) => {
    const progressToken = extra._meta?.progressToken;
    if (progressToken !== undefined) {
      await extra.sendNotification({
        method: 'notifications/progress',
        params: { progressToken, progress: 1 },
      });
    }
    return hold(extra.signal, args.text);
  });
  server.registerTool('release', {}, release);
  server.registerTool('run', { inputSchema: { token: z.string() } }, ({ token }) => {
    note(`ran ${token}`);
    return text(token);
  });
  server.registerTool('pid', {}, () => text(String(process.pid)));
  server.registerTool('session', {}, (extra) => text(String(extra.sessionId)));

  const watched = new Set();
  server.server.setRequestHandler(SubscribeRequestSchema, ({ params }) => {
    watched.add(params.uri);
    return {};
  });
  server.server.setRequestHandler(UnsubscribeRequestSchema, ({ params }) => {
    watched.delete(params.uri);
    return {};
  });
  server.touch = async (uri) => {
    if (watched.has(uri)) await server.server.sendResourceUpdated({ uri });
  };
  server.registerTool('touch', { inputSchema: { uri: z.string() } }, async ({ uri }) => {
    for (const one of everyServer) await one.touch(uri);
    return text('touched');
  });
  server.registerResource('memo', 'memo://1', {}, (uri) => ({ contents: [{ uri: uri.href, text: 'one' }] }));
  return server;
}
