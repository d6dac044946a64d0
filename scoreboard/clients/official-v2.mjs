// `@modelcontextprotocol/client` 2.x with its defaults: no option is set, and nothing is declared.
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { address, argumentsFor, run } from './run.mjs';

await run(async () => {
  const { url, command, args } = address();
  const client = new Client({ name: 'official-v2', version: '1.0.0' });
  const transport = url
    ? new StreamableHTTPClientTransport(new URL(url))
    : new StdioClientTransport({ command, args });
  await client.connect(transport);
  const { tools } = await client.listTools();
  await client.callTool({ name: tools[0].name, arguments: argumentsFor(tools[0].inputSchema) });
  await client.close();
});
