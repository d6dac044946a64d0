// The least that a server on the official v2 SDK can be: one tool.
// node matrix-official-v2.mjs <dual|modern>    modern: it refuses the handshake
import { McpServer } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { z } from 'zod';

const legacy = process.argv[2] === 'modern' ? 'reject' : 'serve';

serveStdio(
  () => {
    const server = new McpServer({ name: 'official-v2', version: '2.0.0' });
    server.registerTool('echo', { inputSchema: z.object({ text: z.string() }) }, ({ text }) => ({
      content: [{ type: 'text', text }],
    }));
    return server;
  },
  { legacy },
);
