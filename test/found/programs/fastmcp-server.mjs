// A server written with the real fastmcp package, on stdio. It answers calls of unknown tools with -32601.
import { FastMCP } from 'fastmcp';
import { z } from 'zod';

const server = new FastMCP({ name: 'fast', version: '1.0.0' });
server.addTool({
  name: 'add',
  description: 'Adds two numbers',
  parameters: z.object({ a: z.number(), b: z.number() }),
  execute: async ({ a, b }) => String(a + b),
});
await server.start({ transportType: 'stdio' });
