// `@ai-sdk/mcp`, as the documentation of the AI SDK shows it.
import { createMCPClient } from '@ai-sdk/mcp';
import { Experimental_StdioMCPTransport as StdioTransport } from '@ai-sdk/mcp/mcp-stdio';
import { address, argumentsFor, run } from './run.mjs';

await run(async () => {
  const { url, command, args } = address();
  const transport = url ? { type: 'http', url } : new StdioTransport({ command, args });
  const client = await createMCPClient({ transport });
  try {
    const { tools: listed } = await client.listTools();
    const tools = await client.tools();
    const [name] = Object.keys(tools);
    const { inputSchema } = listed.find((tool) => tool.name === name);
    await tools[name].execute(argumentsFor(inputSchema), { messages: [], toolCallId: 'one' });
  } finally {
    await client.close();
  }
});
