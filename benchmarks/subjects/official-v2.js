/** The official TypeScript SDK, v2, used as its documentation shows: one factory, both eras. */

import { McpServer } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { z } from 'zod';

const inputSchema = z.object({ text: z.string() });

serveStdio(() => {
  const server = new McpServer({ name: 'official-v2', version: '0.0.0' }, { capabilities: { tools: {} } });
  server.registerTool('echo', { description: 'Returns the text it is given.', inputSchema }, ({ text }) => ({
    content: [{ type: 'text', text }],
  }));
  return server;
});
