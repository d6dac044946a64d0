// `mcp-remote`: a host that speaks stdio (the official v1 client) starts it, and it speaks HTTP to the server.
import { fileURLToPath } from 'node:url';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { address, argumentsFor, run } from './run.mjs';

const PROXY = fileURLToPath(new URL('../node_modules/mcp-remote/dist/proxy.js', import.meta.url));

await run(async () => {
  const { url } = address();
  const client = new Client({ name: 'host-of-mcp-remote', version: '1.0.0' });
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [PROXY, url],
    // It keeps tokens and locks in a folder, and would open a browser.
    env: {
      ...process.env,
      MCP_REMOTE_CONFIG_DIR: process.env.XDG_CACHE_HOME,
      BROWSER: 'true',
      PATH: '/nowhere',
    },
  });
  await client.connect(transport);
  const { tools } = await client.listTools();
  await client.callTool({ name: tools[0].name, arguments: argumentsFor(tools[0].inputSchema) });
  await client.close();
});
