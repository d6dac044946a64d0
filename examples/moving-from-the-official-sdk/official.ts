import { McpServer } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { z } from 'zod';

serveStdio(() => {
  const server = new McpServer({ name: 'converter', version: '1.0.0' });
  server.registerTool(
    'to_fahrenheit',
    {
      description: 'Converts a temperature',
      inputSchema: z.object({ celsius: z.number() }),
      outputSchema: z.object({ fahrenheit: z.number() }),
    },
    async ({ celsius }) => {
      if (celsius < -273.15) {
        return {
          content: [{ type: 'text', text: 'There is nothing colder than -273.15 °C' }],
          isError: true,
        };
      }
      const structuredContent = { fahrenheit: (celsius * 9) / 5 + 32 };
      return { content: [{ type: 'text', text: JSON.stringify(structuredContent) }], structuredContent };
    },
  );
  return server;
});
