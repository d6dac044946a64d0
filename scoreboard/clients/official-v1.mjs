// `@modelcontextprotocol/sdk` 1.x with its defaults: no option is set, and nothing is declared.
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { address, argumentsFor, run } from './run.mjs';

await run(async () => {
  const { url, command, args } = address();
  const client = new Client({ name: 'official-v1', version: '1.0.0' });
  const transport = url
    ? new StreamableHTTPClientTransport(new URL(url))
    : new StdioClientTransport({ command, args });
  await client.connect(transport);
  const { tools } = await client.listTools();
  await client.callTool({ name: tools[0].name, arguments: argumentsFor(tools[0].inputSchema) });
  await client.close();
});
