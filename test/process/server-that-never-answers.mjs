// Its vice: a handler that never settles and does not look at its signal.
import { createServer, serve, stdio } from '../../dist/index.js';

const graceMs = Number(process.argv[2] ?? 200);
const server = createServer({ name: 'never', version: '1' });
server.tool('never', {}, (_args, ctx) => {
  process.stderr.write('begun\n');
  ctx.signal.addEventListener('abort', () => process.stderr.write('aborted\n'));
  setInterval(() => {}, 1000);
  return new Promise(() => {});
});
server.tool('hello', {}, () => 'hello');
await serve(server, stdio(), { graceMs, maxConcurrent: 2 });
