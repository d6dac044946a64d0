// What the clients of this folder have in common: docs/check-client.md says what is asked of a client.

/** Runs `work`, and exits with 0 when it worked, else with 1 and the error on stderr. */
export async function run(work) {
  try {
    await work();
    process.exit(0);
  } catch (error) {
    process.stderr.write(`${error?.stack ?? error}\n`, () => process.exit(1));
  }
}

/** The server: `{ url }` over HTTP, `{ command, args }` over stdio. */
export function address() {
  const { MCP_SERVER_URL: url, MCP_SERVER_ARGV: argv } = process.env;
  if (url) return { url };
  const [command, ...args] = JSON.parse(argv ?? '[]');
  return { command, args };
}

/** The default of each property of a JSON Schema, or something of its type. */
export function argumentsFor({ properties = {} } = {}) {
  const examples = { boolean: true, integer: 1, number: 1, array: [], object: {} };
  return Object.fromEntries(
    Object.entries(properties).map(([name, schema]) => [
      name,
      schema.default ?? examples[schema.type] ?? 'text',
    ]),
  );
}
