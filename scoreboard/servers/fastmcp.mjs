// A server as the README of `fastmcp` begins: one tool, on stdio.
import { FastMCP } from 'fastmcp';
import { z } from 'zod';

const server = new FastMCP({ name: 'example', version: '1.0.0' });
server.addTool({
  name: 'add',
  description: 'Adds two numbers.',
  annotations: { readOnlyHint: true },
  parameters: z.object({ a: z.number(), b: z.number() }),
  execute: async ({ a, b }) => String(a + b),
});
await server.start({ transportType: 'stdio' });
