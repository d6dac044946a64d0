// Our own client as docs/check-client.md asks for it: `isthmus check-client -- node isthmus.mjs {server}`.
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { connect } from '@isthmus/sdk/client';
import { http } from '@isthmus/sdk/http';
import { fileLoginStore, oauth } from '@isthmus/sdk/oauth';
import { stdio } from '@isthmus/sdk/stdio';
import { acceptForm, address, play, ROOTS, SAMPLED } from './steps.mjs';

await play(async () => {
  const { url, command, args } = address();
  const client = await connect(url ? http(url, loginFor()) : stdio({ command, args }), {
    answers: { elicit: acceptForm, sample: () => SAMPLED, roots: ROOTS },
  });
  return {
    list: () => client.listTools(),
    call: (name, args, signal) => client.callTool(name, args, signal && { signal }),
    listen: () => client.listen({ tools: true }),
    close: () => client.close(),
  };
});

/** With --auth: the browser is the one of the user, and the store is a folder of this run. */
function loginFor() {
  const { MCP_LOGIN, BROWSER, XDG_DATA_HOME } = process.env;
  if (MCP_LOGIN === undefined) return {};
  process.stderr.write('mcp-login: read\n');
  const auth = oauth({
    open: (url) => spawn(BROWSER, [url.href], { stdio: 'ignore', detached: true }).unref(),
    store: fileLoginStore(join(XDG_DATA_HOME, 'logins')),
    clientMetadataUrl: 'https://client.example/oauth/client.json',
    ...JSON.parse(MCP_LOGIN),
  });
  return { auth };
}
