// Its vice: it relies on close() alone. Whatever close() leaves open keeps this process alive.
import { createServer, serve, tcp } from '@isthmus/sdk';

const server = createServer({ name: 'socket', version: '1' });
server.tool('close', {}, () => {
  setImmediate(() => served.close());
  return 'closing';
});
const served = await serve(server, tcp({ port: 0 }));
process.stdout.write(`${JSON.stringify(served.addresses)}\n`);
process.stdin.unref();
