// node fails-once.mjs FILE: ends at once where it is the first to make the file, and is a server otherwise.
import { openSync } from 'node:fs';
import { createServer, serve, stdio } from '@isthmus/sdk';

let isFirst = true;
try {
  openSync(process.argv[2], 'wx');
} catch {
  isFirst = false;
}
if (isFirst) {
  process.exit(1);
}
const server = createServer({ name: 'own', version: '1' });
server.tool('hello', {}, () => 'hello');
await serve(server, stdio());
