// The demo server over HTTP, the transport of 2024-11-05 included; tells its address on stdout. `--era` as in the CLI.

import { serve } from '@isthmus/sdk';
import { http } from '@isthmus/sdk/http';
import { createDemoServer } from 'isthmus/internal/demo/demo-server.js';

const [, , flag, era] = process.argv;
const served = await serve(createDemoServer(), http({ port: 0, sse: true }), {
  ownsProcess: true,
  ...(flag === '--era' && { eras: [era] }),
});
process.stdout.write(`${served.addresses[0]}\n`);
