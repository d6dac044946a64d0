// The official client of the legacy era: `@modelcontextprotocol/sdk` 1.x.
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { getDefaultEnvironment, StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import {
  CreateMessageRequestSchema,
  ElicitRequestSchema,
  ListRootsRequestSchema,
} from '@modelcontextprotocol/sdk/types.js';
import { stageProvider, withLogin } from './official-login.mjs';
import { acceptForm, address, play, ROOTS, SAMPLED } from './steps.mjs';

await play(async () => {
  const { url, command, args } = address();
  const client = new Client(
    { name: 'official-v1', version: '1.0.0' },
    { capabilities: { elicitation: {}, sampling: {}, roots: {} } },
  );
  client.setRequestHandler(ElicitRequestSchema, ({ params }) => acceptForm(params));
  client.setRequestHandler(CreateMessageRequestSchema, () => SAMPLED);
  client.setRequestHandler(ListRootsRequestSchema, () => ({ roots: ROOTS }));
  const authProvider = stageProvider();
  let transport;
  const logged = (action) =>
    withLogin(authProvider, action, (params) => transport.finishAuth(params.get('code')));
  await logged(() => {
    transport = url
      ? new StreamableHTTPClientTransport(new URL(url), { authProvider })
      : new StdioClientTransport({ command, args, env: getDefaultEnvironment(), stderr: 'ignore' });
    return client.connect(transport);
  }).catch(async (error) => {
    await client.close();
    throw error;
  });
  return {
    async list() {
      const tools = [];
      let cursor;
      do {
        const page = await logged(() => client.listTools(cursor === undefined ? undefined : { cursor }));
        tools.push(...page.tools);
        cursor = page.nextCursor;
      } while (cursor !== undefined);
      return tools;
    },
    call: (name, args, signal) =>
      logged(() =>
        client.callTool({ name, arguments: args }, undefined, { timeout: 10_000, ...(signal && { signal }) }),
      ),
    async close() {
      // Its own close() leaves the session to expire; a careful program ends it.
      await transport.terminateSession?.();
      await client.close();
    },
  };
});
