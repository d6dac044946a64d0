// The same tool with zod, arktype, valibot and plain JSON Schema: same description, same checks, same answers.
import assert from 'node:assert/strict';
import { memory, serve } from 'isthmus';
import { server } from './server.js';

type Json = Record<string, unknown>;
type Tool = {
  name: string;
  inputSchema: { properties: { days: Json }; required: string[] };
  outputSchema: Json;
};

const link = memory();
await using _served = await serve(server, link);
const connection = link.connect();
const waiting = new Map<unknown, (answer: Json) => void>();
connection.open({
  receive: (message) => {
    if (message.kind === 'result') waiting.get(message.id)?.(message.result);
  },
  inputEnded() {},
  drained() {},
});

let lastId = 0;
function request(method: string, params: Json = {}): Promise<Json> {
  lastId += 1;
  const id = lastId;
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientCapabilities': {},
  };
  connection.send({ jsonrpc: '2.0', id, method, params: { ...params, _meta } });
  return new Promise((resolve) => waiting.set(id, resolve));
}

const { tools } = (await request('tools/list')) as { tools: Tool[] };
assert.equal(tools.length, 4);

for (const { name, inputSchema, outputSchema } of tools) {
  // Clients see JSON Schema, with every library.
  assert.deepEqual(inputSchema.required, ['city']);
  assert.equal(inputSchema.properties.days['minimum'], 1);
  assert.equal(outputSchema['type'], 'object');

  const good = await request('tools/call', { name, arguments: { city: 'Colón' } });
  assert.deepEqual(good['structuredContent'], { summary: 'Colón, 3 days' });

  const bad = await request('tools/call', { name, arguments: { city: 'Colón', days: 0 } });
  assert.equal(bad['isError'], true);
  const complaint = (bad['content'] as [{ text: string }])[0].text;
  assert.match(complaint, /days/);

  console.log(name.padEnd(18), '→', (good['structuredContent'] as { summary: string }).summary);
  console.log(' '.repeat(18), '✗', complaint.replace(/^.*?: /, ''));
}

connection.close();
