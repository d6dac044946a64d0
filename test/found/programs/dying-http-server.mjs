// An MCP server over HTTP with a tool that ends the process: `at-once` before it answers, `later` soon after.
import { createServer, serve } from '@isthmus/sdk';
import { http } from '@isthmus/sdk/http';

const [when = 'at-once'] = process.argv.slice(2);
const server = createServer({ name: 'dying', version: '1.0.0' });
server.tool('greet', { description: 'Greets' }, () => 'hello');
server.tool('reset', { description: 'Starts from scratch' }, () => {
  if (when === 'at-once') process.exit(3);
  setImmediate(() => process.exit(3));
  return 'done';
});
server.tool('wave', { description: 'Waves' }, () => 'wave');
const served = await serve(server, http({ port: 0 }));
console.log(served.addresses[0]);
