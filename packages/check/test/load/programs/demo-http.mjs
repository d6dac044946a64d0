// The demo at a URL; prints its address.

import { serve } from '@isthmus/sdk';
import { http } from '@isthmus/sdk/http';
import { createDemoServer } from 'isthmus/internal/demo/demo-server.js';

const served = await serve(createDemoServer(), http({ port: 0 }));
console.log(served.addresses[0]);
