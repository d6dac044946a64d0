// A library server whose handlers differ in how they take the end: `quick` finishes, `heeds` gives what it has when it
// is aborted, `throws` throws then, `ignores` goes on. Each says on stderr that it has begun, and that it was aborted.
import { setTimeout as sleep } from 'node:timers/promises';
import { createServer, serve, stdio } from '@isthmus/sdk';

const server = createServer({ name: 'busy', version: '1' });
const told = (name, ctx) => {
  process.stderr.write(`${name} began\n`);
  ctx.signal.addEventListener('abort', () => process.stderr.write(`${name} aborted\n`));
};
server.tool('quick', {}, async (_args, ctx) => {
  told('quick', ctx);
  await sleep(100);
  return 'done';
});
server.tool('heeds', {}, (_args, ctx) => {
  told('heeds', ctx);
  return new Promise((resolve) => ctx.signal.addEventListener('abort', () => resolve('half of it')));
});
server.tool('throws', {}, (_args, ctx) => {
  told('throws', ctx);
  return sleep(60_000, undefined, { signal: ctx.signal });
});
server.tool('ignores', {}, async (_args, ctx) => {
  told('ignores', ctx);
  await sleep(60_000);
  return 'too late';
});
await serve(server, stdio());
