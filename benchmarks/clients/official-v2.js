/** The official TypeScript client, v2, used as its documentation shows. */

import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { drive } from './driver.js';

await drive(async (mode, command, args) => {
  const client = new Client(
    { name: 'official-v2', version: '0.0.0' },
    { versionNegotiation: { mode: mode === 'modern' ? { pin: '2026-07-28' } : mode } },
  );
  await client.connect(new StdioClientTransport({ command, args }));
  return {
    revision: client.getNegotiatedProtocolVersion(),
    call: async (text) => {
      const { content } = await client.callTool({ name: 'echo', arguments: { text } });
      return /** @type {any} */ (content)[0].text;
    },
    close: () => client.close(),
  };
});
