// One `connect` for every server: it finds out which era the server speaks and says how it knows.
import assert from 'node:assert/strict';
import { fileURLToPath } from 'node:url';
import { connect, IsthmusError, memoryEraCache, stdio } from 'isthmus';

const servers = fileURLToPath(new URL('servers.js', import.meta.url));
const start = (kind: string) => stdio({ command: process.execPath, args: [servers, kind] });
// By default verdicts are kept in a file of the user; here they last as long as this program.
const cache = memoryEraCache();

const expected = { isthmus: 'modern', new: 'modern', old: 'legacy' };
for (const [kind, era] of Object.entries(expected)) {
  await using client = await connect(start(kind), { cache });
  const { name } = client.server.info!;
  const tools = await client.listTools();
  const result = await client.callTool('hello');
  console.log(`${name}: ${client.era} (${client.revision}), because ${client.verdict.why}`);

  assert.equal(client.era, era);
  assert.deepEqual(
    tools.map((tool) => tool.name),
    ['hello'],
  );
  assert.deepEqual(result.content, [{ type: 'text', text: 'Hello!' }]);
}

// The second time nothing has to be found out.
{
  await using client = await connect(start('old'), { cache });
  console.log(`old-server again: ${client.era}, from the ${client.verdict.source}`);
  assert.equal(client.verdict.source, 'cache');
}

// A client that insists gets what it asked for, or an error that says why not.
{
  await using client = await connect(start('isthmus'), { mode: '2025-06-18', cache: false });
  assert.equal(client.revision, '2025-06-18');
}
await assert.rejects(connect(start('old'), { mode: 'modern', cache: false }), (error) => {
  console.log(`insisting on modern: ${(error as Error).message}`);
  return error instanceof IsthmusError && error.code === 'NO_COMMON_REVISION';
});
await assert.rejects(connect(start('broken'), { cache: false }), (error) => {
  console.log(`a server that does not start: ${(error as Error).message}`);
  return error instanceof IsthmusError && /missing API key/.test(error.message);
});
