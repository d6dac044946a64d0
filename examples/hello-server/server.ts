import { createServer, serve, stdio } from 'isthmus';
import { z } from 'zod';

const server = createServer({ name: 'hello', version: '1.0.0' });

server.tool(
  'hello',
  { description: 'Greets somebody', input: z.object({ name: z.string() }) },
  ({ name }) => `Hello, ${name}!`,
);

await serve(server, stdio());
