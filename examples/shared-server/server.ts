import { setTimeout as sleep } from 'node:timers/promises';
import { createServer, serve, stdio } from 'isthmus';
import { z } from 'zod';

const server = createServer({ name: 'kitchen', version: '1.0.0' });

server.tool('order', { description: 'Takes an order' }, async (_args, ctx) => {
  const answer = await ctx.elicit({ message: 'What will it be?', schema: z.object({ dish: z.string() }) });
  return answer.action === 'accept' ? `One ${answer.content.dish}` : 'Nothing';
});

server.tool(
  'menu',
  { description: 'Reads the menu, slowly', annotations: { readOnlyHint: true } },
  async () => {
    await sleep(600);
    return `Soup, cooked by process ${process.pid}`;
  },
);

await serve(server, stdio());
