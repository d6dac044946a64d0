// Its vice: it writes to stdout by every door that Node has, in handlers, between them and on the way out.
import { Console } from 'node:console';
import { createServer, serve, stdio } from '@isthmus/sdk';

const server = createServer({ name: 'prints', version: '1' });
server.tool('print', {}, async () => {
  console.log('stray log');
  console.info('stray info');
  console.table([{ stray: 'table' }]);
  process.stdout.write('stray write\n');
  process.stdout.write(new TextEncoder().encode('stray bytes\n'));
  new Console(process.stdout).log('stray console');
  await new Promise((resolve) => process.stdout.write('stray callback\n', resolve));
  await new Promise((resolve) => setImmediate(resolve));
  console.log('stray later');
  return 'printed';
});
server.tool('hello', {}, () => 'hello');
// `close`: the tool ends the server itself, as after a fatal failure.
server.tool('close', {}, () => {
  setImmediate(() => served.close());
  return 'closing';
});
const served = await serve(server, stdio(), {
  onClose() {
    console.log('stray goodbye');
  },
});
console.log('stray greeting');
