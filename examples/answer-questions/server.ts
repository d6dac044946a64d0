import { createServer } from 'isthmus';
import { z } from 'zod';

export const server = createServer({ name: 'travel', version: '1.0.0' });

server.tool('plan_trip', { description: 'Plans a trip' }, async (_args, ctx) => {
  // Three questions at once: to the user, to the client's model, about the client's folders.
  const [answer, poem, roots] = await Promise.all([
    ctx.elicit({ message: 'Where to?', schema: z.object({ city: z.string() }) }),
    ctx.sample({
      messages: [{ role: 'user', content: { type: 'text', text: 'One line about travelling' } }],
      maxTokens: 50,
    }),
    ctx.roots(),
  ]);
  if (answer.action !== 'accept') return 'Staying at home.';
  const line = Array.isArray(poem.content) ? poem.content[0] : poem.content;
  const text = line?.type === 'text' ? line.text : '';
  return `To ${answer.content.city}, notes in ${roots[0]?.name}. ${text}`;
});
