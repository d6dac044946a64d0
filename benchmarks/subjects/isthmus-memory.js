/** isthmus over HTTP for the measurement of memory: limits above the counts, and a tool that asks a person. */

import { createServer, jsonSchema, serve } from '@isthmus/sdk';
import { http } from '@isthmus/sdk/http';
import { endWithStdin } from './support.js';

const MANY = 40_000;
const requestedSchema = { type: /** @type {const} */ ('object'), properties: { room: { type: 'string' } } };

const server = createServer({ name: 'isthmus', version: '0.0.0' });
server.tool(
  'ask',
  { description: 'Asks a person.', input: jsonSchema({ type: 'object' }) },
  async (_args, ctx) => {
    const { action } = await ctx.elicit({ message: 'Which room?', requestedSchema });
    return action;
  },
);
const listener = http({
  port: 0,
  maxSessions: MANY,
  maxStreams: MANY,
  maxRequests: MANY,
  maxConnections: MANY,
});
const { addresses } = await serve(server, listener, { maxParked: MANY });
process.stdout.write(`${new URL(addresses[0]).port}\n`);
endWithStdin();
