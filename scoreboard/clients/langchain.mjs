// `@langchain/mcp-adapters`, as its README shows it: Streamable HTTP falls back to HTTP+SSE by itself.
import { MultiServerMCPClient } from '@langchain/mcp-adapters';
import { address, argumentsFor, run } from './run.mjs';

await run(async () => {
  const { url, command, args } = address();
  const client = new MultiServerMCPClient({
    mcpServers: { judge: url ? { url } : { transport: 'stdio', command, args } },
  });
  try {
    const [tool] = await client.getTools();
    await tool.invoke(argumentsFor(tool.schema));
  } finally {
    await client.close();
  }
});
