// A server of ours.
// node matrix-isthmus.mjs <dual|modern|legacy>
import { createServer, serve, stdio } from '@isthmus/sdk';

const which = process.argv[2] ?? 'dual';
const eras = which === 'dual' ? ['legacy', 'modern'] : [which];
const server = createServer({ name: `isthmus-${which}`, version: '1.0.0' });
server.tool(
  'echo',
  { input: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] } },
  ({ text }) => text,
);
await serve(server, stdio(), { eras });
