// What docs/check-client.md asks of a client, on whatever library `tools` stands for. Each driver brings:
//   list()                     all tools, all pages
//   call(name, args, signal)   the result, or throws
//   listen()                   where there is something to listen to
//   close()

/** Does the steps of the scenario, and exits: with 0 when all of them worked. */
export async function play(connect) {
  const steps = JSON.parse(process.env.MCP_STEPS ?? '[{"do":"list"},{"do":"call"}]');
  let client;
  let code = 0;
  try {
    client = await connect();
    await doSteps(client, steps);
    process.stderr.write('mcp-steps: done\n');
  } catch (error) {
    process.stderr.write(`${error?.stack ?? error}\n`);
    code = 1;
  }
  await client?.close().catch((error) => {
    process.stderr.write(`close: ${error?.message ?? error}\n`);
  });
  process.exitCode = code;
}

export async function doSteps(client, steps) {
  let tools = [];
  for (const step of steps) {
    switch (step.do) {
      case 'list':
        tools = await client.list();
        break;
      case 'call': {
        const tool = step.name === undefined ? tools[0] : tools.find(({ name }) => name === step.name);
        if (!tool && (step.name === undefined || tools.length > 0)) {
          throw new Error(`There is no tool ${step.name ?? ''}`);
        }
        // Without a list, the name is all there is to go by.
        await client.call(tool?.name ?? step.name, step.arguments ?? argumentsFor(tool));
        break;
      }
      case 'together':
        await Promise.all(
          step.calls.map(({ name, arguments: args }) =>
            client.call(name, args ?? argumentsFor(tools.find((tool) => tool.name === name))),
          ),
        );
        break;
      case 'cancel':
        await client.call(step.name, {}, AbortSignal.timeout(step.afterMs)).then(
          () => {
            throw new Error(`${step.name} answered`);
          },
          () => {},
        );
        break;
      case 'listen':
        await client.listen?.();
        break;
      case 'wait':
        await new Promise((resolve) => setTimeout(resolve, step.ms));
        break;
    }
  }
}

/** The default of each property, or something of its type. */
function argumentsFor(tool) {
  const { properties = {} } = tool?.inputSchema ?? {};
  return Object.fromEntries(
    Object.entries(properties).map(([name, schema]) => [name, schema.default ?? exampleOf(schema.type)]),
  );
}

export function exampleOf(type) {
  return { boolean: true, integer: 1, number: 1, array: [], object: {} }[type] ?? 'some text';
}

/** Accepts a form as it is offered. */
export function acceptForm({ requestedSchema }) {
  const fields = Object.entries(requestedSchema?.properties ?? {});
  const content = fields.map(([name, field]) => [name, field.default ?? exampleOf(field.type)]);
  return { action: 'accept', content: Object.fromEntries(content) };
}

export const SAMPLED = { role: 'assistant', content: { type: 'text', text: 'hi' }, model: 'none' };
export const ROOTS = [{ uri: 'file:///tmp', name: 'tmp' }];

/** The server: `{ url }` over HTTP, `{ command, args }` over stdio. */
export function address() {
  const { MCP_SERVER_URL: url, MCP_SERVER_ARGV: argv } = process.env;
  if (url) return { url };
  const [command, ...args] = JSON.parse(argv ?? '[]');
  return { command, args };
}
