// Its vice: it says much to a client that may not listen, and its grace is short.
import { createServer, serve, stdio } from '@isthmus/sdk';

const server = createServer({ name: 'big', version: '1' });
server.tool('big', {}, () => 'x'.repeat(65_536));
await serve(server, stdio(), { graceMs: 100 });
