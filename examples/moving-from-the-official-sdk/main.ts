// One tool, written for the official SDK (official.ts) and for Isthmus (isthmus.ts). The official client, in
// each of its eras, cannot tell them apart.
import assert from 'node:assert/strict';
import { fileURLToPath } from 'node:url';
import { Client, type VersionNegotiationMode } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';

async function tryOut(program: string, mode: VersionNegotiationMode) {
  const client = new Client({ name: 'mover', version: '1.0.0' }, { versionNegotiation: { mode } });
  const path = fileURLToPath(new URL(program, import.meta.url));
  await client.connect(new StdioClientTransport({ command: process.execPath, args: [path] }));
  try {
    const { tools } = await client.listTools();
    const call = (celsius: number) => client.callTool({ name: 'to_fahrenheit', arguments: { celsius } });
    const boiling = await call(100);
    const impossible = await call(-300);
    return {
      revision: client.getNegotiatedProtocolVersion(),
      tools: tools.map(({ name, description, inputSchema }) => ({
        name,
        description,
        properties: inputSchema.properties,
        required: inputSchema.required,
      })),
      boiling: { content: boiling.content, structured: boiling.structuredContent },
      impossible: { content: impossible.content, isError: impossible.isError },
    };
  } finally {
    await client.close();
  }
}

for (const mode of ['legacy', { pin: '2026-07-28' }] as const) {
  const before = await tryOut('./official.js', mode);
  const after = await tryOut('./isthmus.js', mode);
  assert.deepEqual(after, before);
  assert.deepEqual(after.boiling.structured, { fahrenheit: 212 });
  assert.equal(after.impossible.isError, true);
  console.log(`${after.revision}: same tool, same answers`);
}
