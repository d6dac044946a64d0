// Four servers as one meets them, each a program of its own: node servers.js <kind>
import { McpServer as OldServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { McpServer as NewServer } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { createServer, serve, stdio } from 'isthmus';

const hello = { content: [{ type: 'text' as const, text: 'Hello!' }] };

switch (process.argv[2]) {
  case 'isthmus': {
    const server = createServer({ name: 'both-eras', version: '1.0.0' });
    server.tool('hello', { description: 'Says hello' }, () => 'Hello!');
    await serve(server, stdio());
    break;
  }
  case 'new': {
    serveStdio(
      () => {
        const server = new NewServer({ name: 'new-server', version: '1.0.0' });
        server.registerTool('hello', { description: 'Says hello' }, () => hello);
        return server;
      },
      { legacy: 'reject' },
    );
    break;
  }
  case 'old': {
    const server = new OldServer({ name: 'old-server', version: '1.0.0' });
    server.registerTool('hello', { description: 'Says hello' }, () => hello);
    await server.connect(new StdioServerTransport());
    break;
  }
  default:
    console.error('missing API key');
    process.exit(1);
}
