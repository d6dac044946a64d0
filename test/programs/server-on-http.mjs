// Serves over HTTP and tells its address on stdout; options as JSON in the first argument. Ends on SIGTERM.
import { createServer, jsonSchema, serve } from '@isthmus/sdk';
import { http } from '@isthmus/sdk/http';

const server = createServer({ name: 'on-http', version: '1' });
server.tool(
  'echo',
  {
    input: jsonSchema({ type: 'object', properties: { text: { type: 'string' } }, required: ['text'] }),
  },
  ({ text }) => text,
);
server.tool('sleep', {}, async (_args, ctx) => {
  await new Promise((resolve) => {
    const timer = setTimeout(resolve, 600_000);
    ctx.signal.addEventListener('abort', () => {
      clearTimeout(timer);
      resolve();
    });
  });
  return 'woken';
});
// Says far more than anybody wants to hear, until it is told to stop.
server.tool('flood', {}, async (_args, ctx) => {
  const { times = 2000 } = ctx.params.arguments ?? {};
  const words = 'x'.repeat(64 * 1024);
  for (let step = 1; step <= times && !ctx.signal.aborted; step += 1) {
    ctx.progress(step, times, words);
    ctx.log('info', words);
    if (step % 10 === 0) await new Promise((resolve) => setImmediate(resolve));
  }
  return 'flooded';
});
server.resource('test://a', { name: 'a' }, () => 'a');
// Tells of a resource again and again.
server.tool('touch', {}, async (_args, ctx) => {
  const { times = 1, uri = 'test://a' } = ctx.params.arguments ?? {};
  for (let step = 0; step < times; step += 1) {
    server.resourceUpdated(uri);
    // Changes of one turn are told once; each has a turn of its own here.
    if (step % 100 === 0) await new Promise((resolve) => setImmediate(resolve));
    else await null;
  }
  return 'touched';
});
server.tool('memory', {}, () => {
  globalThis.gc?.();
  return JSON.stringify(process.memoryUsage());
});

const served = await serve(server, http({ port: 0, ...JSON.parse(process.argv[2] ?? '{}') }), {
  ownsProcess: true,
});
process.stdout.write(`${served.addresses[0]}\n`);
