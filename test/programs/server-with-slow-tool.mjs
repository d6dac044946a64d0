// Its vice: it takes its time. It says on stderr when it has begun, so that nobody has to guess.
import { setTimeout as sleep } from 'node:timers/promises';
import { createServer, serve, stdio } from '@isthmus/sdk';

const graceMs = Number(process.argv[2] ?? 10_000);
const server = createServer({ name: 'slow', version: '1' });
server.tool(
  'slow',
  { input: { type: 'object', properties: { ms: { type: 'integer' } } } },
  async ({ ms }) => {
    process.stderr.write('begun\n');
    await sleep(ms);
    return `took ${ms} ms`;
  },
);
server.tool('quick', {}, () => 'quick');
await serve(server, stdio(), { graceMs });
