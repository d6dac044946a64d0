// node hangs-while.mjs FILE: says nothing while the file is there when it is started, and is a server otherwise.
import { existsSync } from 'node:fs';
import { createServer, serve, stdio } from '@isthmus/sdk';

if (existsSync(process.argv[2])) {
  setInterval(() => {}, 1000);
} else {
  const server = createServer({ name: 'late', version: '1' });
  server.tool('hello', {}, () => 'hello');
  await serve(server, stdio());
}
