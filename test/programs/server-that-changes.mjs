// Its vice: what it answers depends on its arguments, as if somebody had changed it between two runs.
// node server-that-changes.mjs legacy|modern [snow|no-question|crash]
import { createServer, jsonSchema, serve, stdio } from '@isthmus/sdk';

const [era, change] = process.argv.slice(2);
const server = createServer({ name: 'changing', version: '1.0.0' });
server.tool('forecast', { input: jsonSchema({ type: 'object' }) }, ({ city }) => {
  if (change === 'crash') process.exit(3);
  return {
    content: [
      { type: 'text', text: `It will ${change === 'snow' ? 'snow' : 'rain'} in ${city}.` },
      { type: 'text', text: `Asked at ${new Date().toISOString()}` },
    ],
  };
});
server.tool('ask', {}, async (_args, ctx) => {
  if (change === 'no-question') return 'no question';
  const { content } = await ctx.elicit({
    message: 'Which day?',
    requestedSchema: { type: 'object', properties: { day: { type: 'string' } } },
  });
  return `on ${content?.day}`;
});
await serve(server, stdio(), { eras: [era] });
