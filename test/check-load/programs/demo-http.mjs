// The demo at a URL; prints its address.
import { createDemoServer } from '../../../dist/cli/demo/demo-server.js';
import { serve } from '../../../dist/index.js';
import { http } from '../../../dist/transport/http.js';

const served = await serve(createDemoServer(), http({ port: 0 }));
console.log(served.addresses[0]);
