// The demo server over HTTP, the transport of 2024-11-05 included; tells its address on stdout. `--era` as in the CLI.
import { createDemoServer } from '../../../dist/cli/demo/demo-server.js';
import { serve } from '../../../dist/index.js';
import { http } from '../../../dist/transport/http.js';

const [, , flag, era] = process.argv;
const served = await serve(createDemoServer(), http({ port: 0, sse: true }), {
  ownsProcess: true,
  ...(flag === '--era' && { eras: [era] }),
});
process.stdout.write(`${served.addresses[0]}\n`);
