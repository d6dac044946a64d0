/** The official TypeScript SDK, v1, used as its documentation shows; it knows the legacy era only. */

import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { z } from 'zod';

const inputSchema = { text: z.string() };

const server = new McpServer({ name: 'official-v1', version: '0.0.0' });
server.registerTool('echo', { description: 'Returns the text it is given.', inputSchema }, ({ text }) => ({
  content: [{ type: 'text', text }],
}));
// v1 does not notice the end of its input by itself; without this it would outlive the benchmark.
process.stdin.on('end', () => process.exit(0));
await server.connect(new StdioServerTransport());
