// The official client of both eras: `@modelcontextprotocol/client` 2.x, in the mode of its argument (auto by default).
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { getDefaultEnvironment, StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { stageProvider, withLogin } from './official-login.mjs';
import { acceptForm, address, play, ROOTS, SAMPLED } from './steps.mjs';

const [mode = 'auto'] = process.argv.slice(2).filter((word) => !word.includes('/'));

await play(async () => {
  const { url, command, args } = address();
  const client = new Client(
    { name: 'official-v2', version: '2.0.0' },
    {
      capabilities: { elicitation: {}, sampling: {}, roots: {} },
      versionNegotiation: { mode, probe: { timeoutMs: 2000 } },
    },
  );
  client.setRequestHandler('elicitation/create', ({ params }) => acceptForm(params));
  client.setRequestHandler('sampling/createMessage', () => SAMPLED);
  client.setRequestHandler('roots/list', () => ({ roots: ROOTS }));
  const authProvider = stageProvider();
  let transport;
  const logged = (action) => withLogin(authProvider, action, (params) => transport.finishAuth(params));
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
    list: () => logged(async () => (await client.listTools()).tools),
    call: (name, args, signal) =>
      logged(() =>
        client.callTool({ name, arguments: args }, { timeout: 10_000, ...(signal && { signal }) }),
      ),
    listen: async () => {
      if (client.getProtocolEra() === 'modern') await client.listen({ toolsListChanged: true });
    },
    async close() {
      await transport.terminateSession?.();
      await client.close();
    },
  };
});
