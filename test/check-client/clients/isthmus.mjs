// Our own client as docs/check-client.md asks for it: `isthmus check-client -- node isthmus.mjs {server}`.
import { connect } from '../../../dist/client/index.js';
import { http } from '../../../dist/transport/http.js';
import { stdio } from '../../../dist/transport/stdio.js';
import { acceptForm, address, play, ROOTS, SAMPLED } from './steps.mjs';

await play(async () => {
  const { url, command, args } = address();
  const client = await connect(url ? http(url) : stdio({ command, args }), {
    answers: { elicit: acceptForm, sample: () => SAMPLED, roots: ROOTS },
  });
  return {
    list: () => client.listTools(),
    call: (name, args, signal) => client.callTool(name, args, signal && { signal }),
    listen: () => client.listen({ tools: true }),
    close: () => client.close(),
  };
});
