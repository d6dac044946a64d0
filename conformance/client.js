// The client under test: what the referee's scenarios ask for, on the public API. The referee starts it with the
// address of its mock server as the last argument, and names scenario and revision in the environment.
import { connect } from '@isthmus/sdk/client';
import { http } from '@isthmus/sdk/http';
import { oauth } from '@isthmus/sdk/oauth';

const {
  MCP_CONFORMANCE_SCENARIO: scenario = '',
  MCP_CONFORMANCE_PROTOCOL_VERSION: revision = '',
  MCP_CONFORMANCE_CONTEXT: context = '{}',
} = process.env;
const limitMs = 15_000;

/** What is done in a scenario once the client is connected. */
const scenarios = {
  initialize: async () => {},
  tools_call: async (client) => {
    await client.listTools();
    await client.callTool('add_numbers', { a: 5, b: 3 });
  },
  'elicitation-sep1034-client-defaults': async (client) => {
    await client.listTools();
    await client.callTool('test_client_elicitation_defaults');
  },
  'sse-retry': async (client) => {
    await client.listTools();
    await client.callTool('test_reconnection');
  },
  'request-metadata': async (client) => {
    await client.listTools();
  },
  'sep-2322-client-request-state': async (client) => {
    await client.listTools();
    // Together, so that the rounds of one could get into another.
    await Promise.all([
      client.callTool('test_mrtr_echo_state'),
      client.callTool('test_mrtr_unrelated'),
      client.callTool('test_mrtr_no_state'),
    ]);
    await client.callTool('test_mrtr_no_result_type');
  },
  'http-standard-headers': async (client) => {
    const [tool] = await client.listTools();
    await client.callTool(tool.name);
    const [resource] = await client.listResources();
    await client.readResource(resource.uri);
    const [prompt] = await client.listPrompts();
    await client.getPrompt(prompt.name);
  },
  'http-custom-headers': async (client) => {
    await client.listTools();
    for (const call of JSON.parse(context).toolCalls) await client.callTool(call.name, call.arguments);
  },
  // Every tool that is left: one that should have been dropped is noticed when it is called.
  'http-invalid-tool-headers': async (client) => {
    for (const { name } of await client.listTools()) await client.callTool(name, { region: 'us-west1' });
  },
  'json-schema-ref-no-deref': async (client) => {
    await client.listTools();
  },
  'json-schema-2020-12-preservation': async (client) => {
    const tools = await client.listTools();
    const { inputSchema } = tools.find(({ name }) => name === 'json_schema_2020_12_tool');
    await client.callTool('json_schema_echo', { schema: inputSchema });
  },
};

/** Accepts a form as it is offered. */
function acceptDefaults({ requestedSchema }) {
  const fields = Object.entries(requestedSchema?.properties ?? {});
  const content = fields.map(([name, field]) => [name, field.default ?? exampleOf(field)]);
  return { action: 'accept', content: Object.fromEntries(content) };
}

function exampleOf({ type, enum: choices }) {
  if (choices) return choices[0];
  return { boolean: true, integer: 1, number: 1, array: [] }[type] ?? 'some text';
}

/** The login of the `auth/` scenarios. `open` follows the redirect into our own listener, as a browser would. */
function loginOf({ client_id, client_secret, issuer, private_key_pem, signing_algorithm }) {
  const isMachine = scenario.startsWith('auth/client-credentials');
  return oauth({
    clientMetadataUrl: 'https://conformance-test.local/client-metadata.json',
    open: (url) => fetch(url),
    ...(client_id && { clientId: client_id }),
    ...(client_secret && { clientSecret: client_secret }),
    ...(issuer && { issuer }),
    ...(private_key_pem && { privateKey: { pem: private_key_pem, algorithm: signing_algorithm } }),
    // The mock names its own address, which changes from run to run.
    ask: { trustIssuer: async () => isMachine },
    ...(isMachine && { grant: 'client-credentials' }),
  });
}

const isAuth = scenario.startsWith('auth/');
const play = isAuth
  ? async (client) => {
      await client.listTools();
      await client.callTool('test-tool');
    }
  : scenarios[scenario];
if (!play) throw new Error(`There is nothing to do for the scenario ${scenario}`);
// A client that hangs is told apart from one that fails.
const late = setTimeout(() => {
  console.error(`${scenario} took longer than ${limitMs} ms`);
  process.exit(3);
}, limitMs);
const client = await connect(
  http(process.argv.at(-1), isAuth ? { auth: loginOf(JSON.parse(context)) } : {}),
  {
    mode: revision,
    answers: {
      elicit: acceptDefaults,
      sample: () => ({ role: 'assistant', content: { type: 'text', text: 'some text' }, model: 'none' }),
      roots: [{ uri: 'file:///' }],
    },
    cache: false,
  },
);
console.log(client.verdict);
await play(client);
await client.close();
clearTimeout(late);
