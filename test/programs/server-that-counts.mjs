// It remembers: each call of `count` says how often this process was called, and which process it is.
import { createServer, serve, stdio } from '@isthmus/sdk';

const server = createServer({ name: 'counter', version: '1' });
let calls = 0;
server.tool('count', {}, () => {
  calls += 1;
  return `${calls} ${process.pid}`;
});
await serve(server, stdio());
