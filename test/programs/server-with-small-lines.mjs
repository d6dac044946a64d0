// Not a vice but a limit: lines over 1 KiB are refused.
import { createServer, serve, stdio } from '@isthmus/sdk';

const server = createServer({ name: 'small', version: '1' });
server.tool('hello', {}, () => 'hello');
await serve(server, stdio({ maxLineBytes: 1024 }));
