/** isthmus over HTTP, as built. The argument is the number of tools. */

import { createServer, jsonSchema, serve } from '@isthmus/sdk';
import { http } from '@isthmus/sdk/http';
import { endWithStdin, furtherTools } from './support.js';

const input = jsonSchema({ type: 'object', properties: { text: { type: 'string' } }, required: ['text'] });

const server = createServer({ name: 'isthmus', version: '0.0.0' });
for (const name of ['echo', ...furtherTools()]) {
  server.tool(
    name,
    { description: 'Returns the text it is given.', input },
    (/** @type {any} */ { text }) => text,
  );
}
const { addresses } = await serve(server, http({ port: 0 }));
process.stdout.write(`${new URL(addresses[0]).port}\n`);
endWithStdin();
