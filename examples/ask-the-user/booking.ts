import { createServer } from 'isthmus';
import { z } from 'zod';

export const server = createServer({ name: 'booking', version: '1.0.0' });

server.tool(
  'book_table',
  { description: 'Books a table', input: z.object({ restaurant: z.string() }) },
  async ({ restaurant }, ctx) => {
    const answer = await ctx.elicit({
      message: `For how many people, at ${restaurant}?`,
      schema: z.object({ people: z.number().min(1).max(12), window: z.boolean().default(false) }),
    });
    if (answer.action !== 'accept') return 'No table was booked.';
    const { people, window } = answer.content; // typed and checked
    return `A table for ${people} at ${restaurant}${window ? ', by the window' : ''}.`;
  },
);
