// Its vice: an interval that never ends. Left to itself such a process outlives its client for ever.
import { createServer, serve, stdio } from '@isthmus/sdk';

setInterval(() => {}, 1000);
const server = createServer({ name: 'open-handle', version: '1' });
server.tool('hello', {}, () => 'hello');
await serve(server, stdio());
