// Our own client as docs/check-client.md asks for it: `isthmus check-client -- node isthmus.mjs {server}`.
import { connect } from '@isthmus/sdk/client';
import { http } from '@isthmus/sdk/http';
import { stdio } from '@isthmus/sdk/stdio';
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
