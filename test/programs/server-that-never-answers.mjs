// Its vice: a handler that never settles and does not look at its signal.
import { createServer, serve, stdio } from '@isthmus/sdk';

const graceMs = Number(process.argv[2] ?? 200);
const maxQueued = Number(process.argv[3] ?? 10_000);
const server = createServer({ name: 'never', version: '1' });
server.tool('never', {}, (_args, ctx) => {
  process.stderr.write('begun\n');
  ctx.signal.addEventListener('abort', () => process.stderr.write('aborted\n'));
  setInterval(() => {}, 1000);
  return new Promise(() => {});
});
// Better mannered: it stops when it is told to.
server.tool('until_cancelled', {}, (_args, ctx) => {
  process.stderr.write('begun\n');
  return new Promise((_, reject) => ctx.signal.addEventListener('abort', () => reject(ctx.signal.reason)));
});
server.tool('hello', {}, () => 'hello');
await serve(server, stdio(), { graceMs, maxConcurrent: 2, maxQueued });
